package governor

import (
	"context"
	"time"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/governor/watchdog"
	"github.com/headroomd/headroomd/loader/proc"
)

// Rules say what a command is.
type Rules interface {
	Argv(classifier.Command) classifier.Verdict
}

// Placement puts processes where they can be held to a limit.
type Placement interface {
	Look(ctx context.Context, x proc.Exec) (contain.Origin, error)
	Place(ctx context.Context, spec contain.Spec) (contain.Scope, error)
	Join(ctx context.Context, sc contain.Scope, x proc.Exec, tree bool) (moved int, err error)
	SetLimits(ctx context.Context, sc contain.Scope, l contain.Limits) (contain.Scope, error)
}

// Scopes watches scopes and ends them.
type Scopes interface {
	Usage(sc contain.Scope) contain.Usage
	Check(ctx context.Context, sc contain.Scope) (escaped []int, note string)
	Release(ctx context.Context, sc contain.Scope) error
	Adopt(ctx context.Context, keepFrozen bool) ([]contain.Scope, error)
}

// Backend is a containment tier.
type Backend interface {
	Placement
	Scopes
	Holding
}

// Catch is a process that the tracer stopped, or tried to.
type Catch interface {
	Stopped() bool             // it stands still now
	Late() bool                // it was let go at the bound, before anybody said so
	Progress()                 // it is being seen to: the bound counts from now
	Release()                  // let go; from any goroutine, as often as wanted
	Done() <-chan struct{}     // closed once it is no longer held
	StoppedFor() time.Duration // known after Done; 0 if it was never stopped
}

// Sight is the governor's hand on the source of execs.
type Sight interface {
	// Ignore drops what runs in the cgroup, as far up as the source can.
	Ignore(cgroupID uint64, cgroup string) error
	// Attend undoes Ignore.
	Attend(cgroupID uint64) error
	// Scan looks through the whole process table for heavy commands that
	// started at or after the given tick; it returns at once.
	Scan(since uint64)
	// Status says how execs are seen.
	Status() SourceStatus
}

// Ledger keeps records.
type Ledger interface {
	Add(journal.Record)
}

// Memory reads the machine's memory.
type Memory interface {
	Read() (watchdog.Reading, error)
}
