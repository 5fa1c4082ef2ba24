package journal

import (
	"context"
	"log/slog"
	"time"
)

// Options say where records go. The zero value keeps them in memory only.
type Options struct {
	Path string // of the file, "" for none; its directory has to exist
	Log  *slog.Logger
}

// Journal takes records, keeps the recent ones and hands them on.
type Journal struct{}

// New starts nothing and opens nothing; Run does.
func New(o Options) *Journal { return &Journal{} }

// Run writes records to the file until ctx is done and what was added before
// that is written.
func (j *Journal) Run(ctx context.Context) error { return nil }

// Add takes a record; a zero Time is filled in. It never waits and never fails.
func (j *Journal) Add(r Record) {}

// Recent are the records still in memory, oldest first.
func (j *Journal) Recent() []Record { return nil }

// Since are the records at or after t, oldest first.
func (j *Journal) Since(t time.Time) ([]Record, error) { return nil, nil }

// Follow subscribes to what is added from now on, and gives what is in memory
// without a gap between the two.
func (j *Journal) Follow() ([]Record, *Subscription) { return nil, nil }

// Subscription is one follower's view of the journal.
type Subscription struct{ C <-chan Record }

// Close ends the subscription.
func (s *Subscription) Close() {}

// Command is an argv as one line that may be stored and shown.
func Command(argv []string) string { return "" }
