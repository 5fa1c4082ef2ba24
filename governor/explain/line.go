package explain

import "github.com/headroomd/headroomd/governor/journal"

// Line is a record as one line of text.
func Line(r journal.Record) string { return r.Event }

// Job is the story that the records of one job tell, a sentence a line.
func Job(records []journal.Record) []string { return nil }
