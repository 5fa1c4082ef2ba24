package governor

import (
	"fmt"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/loader/proc"
)

// State is where a job is in its life.
type State string

// The states of a job. A job that was refused or failed to be placed ends at
// once; its command runs on where it is.
const (
	Placing   State = "placing"   // ordered from the placer, its process usually stopped
	Running   State = "running"   // in its scope, or followed by its tree where there is no scope
	Lingering State = "lingering" // its last process is gone; what its group starts next still joins it
	Ended     State = "ended"
)

// step is what moves a job from one state to another.
type step string

const (
	stepPlaced   step = "placed"
	stepLeft     step = "left"     // it may not be moved, or it was gone before it could be
	stepFailed   step = "failed"   // the manager would not have it
	stepJoined   step = "joined"   // a process came in
	stepEmpty    step = "empty"    // the last process went
	stepLingered step = "lingered" // nothing came in for linger
	stepGone     step = "gone"     // its cgroup went away under it
)

// life is the whole life of a job: what is not in the table cannot happen, and
// an attempt is reported as a fault of the governor rather than acted on.
var life = map[State]map[step]State{
	Placing: {
		stepPlaced: Running,
		stepLeft:   Ended,
		stepFailed: Ended,
	},
	Running: {
		stepJoined: Running,
		stepEmpty:  Lingering,
		stepGone:   Ended,
	},
	Lingering: {
		stepJoined:   Running,
		stepLingered: Ended,
		stepGone:     Ended,
	},
}

// linger is how long a job's scope waits for the next process of its group:
// 200 compilers in a row from one script are one job, not 200.
const linger = 5 * time.Second

// job is one heavy command with its descendants.
type job struct {
	id      string
	state   State
	since   time.Time // caught
	entered time.Time // of the present state

	root    proc.ID
	uid     uint32
	command string // escaped, bounded, secrets masked
	family  string
	rule    string
	remedy  string
	kin     kin
	origin  string // cgroup that it was caught in

	scope       contain.Scope // zero where the job has no scope
	isolated    bool
	adopted     bool
	promiseMB   int64
	capMB       int64
	swapMB      int64   // -1 unlimited
	caught      float64 // MB of anon and shmem touched before the cap was in force
	oomKills    int64
	peakMB      int64
	memoryMB    int64 // last reading; -1 unknown
	processes   int
	waiting     []caughtFinding // kin caught while the scope was being made
	note        string
	checked     time.Time // when what was set was last read back
	endedReason string
}

// move takes the step, or says why the table does not have it.
func (j *job) move(s step, now time.Time) error {
	next, ok := life[j.state][s]
	if !ok {
		return fmt.Errorf("job %s: a %s job cannot be %s", j.id, j.state, s)
	}
	if next != j.state {
		j.state, j.entered = next, now
	}
	return nil
}

// alive reports whether the job still counts: it may be joined and its promise holds.
func (j *job) alive() bool { return j.state == Running || j.state == Lingering || j.state == Placing }
