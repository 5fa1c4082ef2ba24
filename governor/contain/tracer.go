//go:build linux

package contain

import (
	"context"
	"log/slog"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// Feed is a source of execs as the tracer's thread needs it. FD becomes
// readable when execs wait; Read hands what is ready to yield and does not
// block; its error means that the feed has ended.
type Feed interface {
	FD() int
	Read(yield func(*proc.Exec)) error
}

// Judge is asked about each exec, on the tracer's thread: it must not block.
// The Exec is valid only during the call. Nil means that nothing is to be done.
type Judge func(x *proc.Exec) *Catch

// Options of a tracer.
type Options struct {
	FS       proc.FS
	Bound    time.Duration // how long a process may be held; 0 is 250 ms
	Log      *slog.Logger  // nil discards
	Priority bool          // take SCHED_FIFO 1, or what comes nearest
}

type Tracer struct{ o Options }

func NewTracer(o Options) *Tracer { return &Tracer{o: o} }

// Run traces until ctx ends (nil) or the feed does (its error). On every
// return nothing is held.
func (t *Tracer) Run(ctx context.Context, feed Feed, judge Judge) error { return nil }

// Priority says in words how the thread runs.
func (t *Tracer) Priority() string { return "" }

// Call runs f on the tracer's thread soon.
func (t *Tracer) Call(f func()) {}

// Consider judges x as if the feed had told of it. It may be called only from
// a function given to Call.
func (t *Tracer) Consider(x *proc.Exec) {}

func (t *Tracer) wake() {}

type thread struct{}
