package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/journal"
)

// printWatch says what the watching of the memory came to; nothing while there
// is nothing to say. A governor that does not tell of it is an older one.
func printWatch(w io.Writer, s governor.WatchStatus) {
	if s.Level == "" {
		return
	}
	if !s.On {
		field(w, "watched", "no (watch = false): nothing is stopped when memory runs out")
		return
	}
	var parts []string
	if s.Alarm != "" && s.Alarm != "none" {
		parts = append(parts, "ALARM: "+journal.Escape(s.Why, 200))
	}
	if s.Victim != "" {
		parts = append(parts, journal.Escape(s.Victim, 40)+" is being stopped")
	}
	for _, c := range []struct {
		n   int
		one string
	}{{s.Counts.Stopped, "stopped for want of memory"}, {s.Counts.Captured, "held to what it had"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.one))
		}
	}
	if len(parts) > 0 {
		field(w, "watched", strings.Join(parts, "; "))
	}
}
