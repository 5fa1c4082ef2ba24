//go:build linux

package contain

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

var (
	// ErrHeld says that this tracer holds the process already: a second exec
	// of it was read before the first had stopped it. Whoever got the first
	// Tracee has the process.
	ErrHeld = errors.New("already held by this tracer")
	// ErrEnded says that the tracer's Run returned and let the process go.
	ErrEnded = errors.New("the tracer ended")
)

// State is how far the catch of a process has come.
type State int32

const (
	// NotStopped: the judge did not ask for a stop.
	NotStopped State = iota
	// Stopping: seized, and not in its stop yet.
	Stopping
	// Stopped: it runs no instruction, and it is the process that was meant.
	Stopped

	// What follows is an outcome.

	// Released at the holder's word.
	Released
	// Late: the bound passed, or the tracer ended, before the holder's word.
	Late
	// Reaped: it died in the tracer's hands, which gave its exit status on to
	// its parent.
	Reaped
	// Gone: it had ended before it was seized, its pid is another process's by
	// now, or another thread of it called exec, which ends the one that was
	// held (and is an exec that its source tells of).
	Gone
	// Refused: another traces it, the kernel does not allow it, or this
	// tracer holds it already (ErrHeld).
	Refused
	// Failed for a reason that Err tells.
	Failed
)

func (s State) String() string {
	names := [...]string{"not stopped", "stopping", "stopped", "released", "late", "reaped", "gone", "refused", "failed"}
	if s < 0 || int(s) >= len(names) {
		return "unknown"
	}
	return names[s]
}

// Catch is a judge's order about one process. The judge must not order the
// catch of a child of this very process: the tracer would take the exit
// status that os/exec waits for.
type Catch struct {
	// ID is the process meant. A Start of 0 is unknown; it is then read once
	// the process has stopped, and the catch is of whoever has the pid.
	ID proc.ID
	// Stop asks for the stop. Without it Deliver is called at once.
	Stop bool
	// AllThreads is for a process that has run for some time: every thread is
	// stopped, and none is left to start others.
	AllThreads bool
	// Seen is when the exec was told of; zero means the Exec's own.
	Seen time.Time
	// Deliver is called exactly once, on the tracer's thread, and must not
	// block: with a Tracee in state Stopped, or, when it could not be
	// stopped, in one of the outcomes. An outcome Late, Refused or Failed may
	// precede Done: what has been seized can only be let go once it stops,
	// which a process in an uninterruptible sleep does later.
	Deliver func(*Tracee)
}

// Tracee is one process in the tracer's hands. Its methods may be called from
// any goroutine.
type Tracee struct {
	id       proc.ID
	tracer   *Tracer
	released atomic.Bool
	progress atomic.Int64 // when the holder last got on, in ns after begun; 0 never
	done     chan struct{}

	mu           sync.Mutex
	state        State
	err          error
	late         bool
	stoppedAfter time.Duration
	stoppedFor   time.Duration

	// Of the tracer's thread alone.
	deliver   func(*Tracee)
	delivered bool
	all       bool
	letGo     bool
	threads   []thread
	seen      time.Time
	begun     time.Time // set before anybody else has the Tracee
	deadline  time.Time
	asked     time.Time // when its threads were last interrupted
	stoppedAt time.Time
}

// ID is the process. Its Start is 0 only if it was never read.
func (tr *Tracee) ID() proc.ID { return tr.id }

// State is how far the catch has come.
func (tr *Tracee) State() State {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.state
}

// Outcome is the state that the process was left in, once Done is closed.
func (tr *Tracee) Outcome() State { return tr.State() }

// Err is the reason of an outcome that needs one, or nil.
func (tr *Tracee) Err() error {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.err
}

// Late says that the process was let go before the holder's word, or that it
// could not be stopped within the bound.
func (tr *Tracee) Late() bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.late
}

// StoppedAfter is the time from the exec's being seen to the stop; 0 for a
// process that was never stopped.
func (tr *Tracee) StoppedAfter() time.Duration {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.stoppedAfter
}

// StoppedFor is the time from the stop to the letting go; 0 before Done and
// for a process that was never stopped.
func (tr *Tracee) StoppedFor() time.Duration {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.stoppedFor
}

// Done is closed when the process is no longer in the tracer's hands.
func (tr *Tracee) Done() <-chan struct{} { return tr.done }

// Release is the holder's word: the process may run. It may be called more
// than once.
func (tr *Tracee) Release() {
	if tr.released.Swap(true) {
		return
	}
	select {
	case <-tr.done:
	default:
		tr.tracer.wake()
	}
}

// Progress says that the holder gets on with it: the bound counts from now
// again. A manager that hangs makes no progress; one on a slow or busy machine
// does, and that is where a cap matters most (placing took 930 ms on an
// emulated machine under load).
func (tr *Tracee) Progress() { tr.progress.Store(int64(max(time.Since(tr.begun), 1))) }

func (tr *Tracee) set(s State, err error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.state = s
	if err != nil {
		tr.err = err
	}
	if s == Late {
		tr.late = true
	}
}

func (tr *Tracee) handOver() {
	if tr.delivered {
		return
	}
	tr.delivered = true
	if tr.deliver != nil {
		tr.deliver(tr)
	}
}
