package governor

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/note"
	"github.com/headroomd/headroomd/loader/proc"
)

// State is where a job is in its life.
type State string

// The states of a job. A job that was refused or failed to be placed ends at
// once; its command runs on where it is.
const (
	Placing   State = "placing"   // ordered from the placer, its process usually stopped
	Held      State = "held"      // waits: frozen in its scope, or the child of a `run` on its pipe
	Suspended State = "suspended" // stopped with Ctrl-Z while it waited: let go, out of the queue
	Running   State = "running"   // in its scope, or followed by its tree where there is no scope
	Quiet     State = "quiet"     // runs and does nothing: its slot and promise are given back
	Lingering State = "lingering" // its last process is gone; what its group starts next still joins it
	Ended     State = "ended"
)

// step is what moves a job from one state to another.
type step string

const (
	stepPlaced    step = "placed"
	stepHeld      step = "held"      // frozen in its scope, or asked for and to wait
	stepAdmitted  step = "admitted"  // thawed after its wait
	stepOrdered   step = "ordered"   // the child of a `run` is to be placed after its wait
	stepSuspended step = "suspended" // Ctrl-Z
	stepQuiet     step = "quiet"
	stepBusy      step = "busy"
	stepLeft      step = "left"     // it may not be moved, or it was gone before it could be
	stepFailed    step = "failed"   // the manager would not have it
	stepJoined    step = "joined"   // a process came in
	stepEmpty     step = "empty"    // the last process went
	stepLingered  step = "lingered" // nothing came in for linger
	stepGone      step = "gone"     // its cgroup went away under it, or it died while it waited
)

// life is the whole life of a job: what is not in the table cannot happen, and
// an attempt is reported as a fault of the governor rather than acted on.
var life = map[State]map[step]State{
	Placing: {
		stepPlaced: Running,
		stepHeld:   Held,
		stepLeft:   Ended,
		stepFailed: Ended,
	},
	Held: {
		stepAdmitted:  Running,
		stepOrdered:   Placing,
		stepSuspended: Suspended,
		stepLeft:      Ended,
		stepGone:      Ended,
	},
	Suspended: {
		stepHeld:     Held,
		stepAdmitted: Running,
		stepGone:     Ended,
	},
	Running: {
		stepJoined: Running,
		stepQuiet:  Quiet,
		stepEmpty:  Lingering,
		stepGone:   Ended,
	},
	Quiet: {
		stepJoined: Quiet,
		stepBusy:   Running,
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
	program string // its name alone; as it came
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
	pids        []int
	waiting     []caughtFinding // kin caught while the scope was being made
	note        string
	checked     time.Time // when what was set was last read back
	endedReason string

	waits waits
	run   *request // asked for by `run`; nil for what was caught
	box   *inBox   // it stays in its container; nil for all others
	peak  learned

	busy    verb          // the order under way for it; of these there is one at a time
	want    admission.Cap // the cap that is to be ordered next; zero for none
	joining int           // orders under way to move something in
	toldCap time.Time     // when a change of its cap was last recorded
	stopped bool          // ended by somebody's word before its time
	toStop  bool          // once it is in its scope
	mixed   bool          // commands joined it that have nothing to do with it
	// Who waits for its end by a stop.
	stopWait []chan<- error

	late        bool          // a tree that grew, captured for the machine's sake
	lateUsedMB  int64         // what it had then, which is not charged to its scope
	lateGrownMB int64         // and by how much it had grown
	hurry       bool          // it is to end for the machine's sake
	grace       time.Duration // then: between SIGTERM and SIGKILL

	observed      bool  // nothing is done to it; its root alone is followed
	provisionalMB int64 // its cap while it waits
	waited        time.Duration
	kind          classifier.Kind
	still         stillness
	attended      bool // the source tells of its execs again

	caller    proc.ID // its parent when it was caught
	agent     proc.ID // the coding agent above it; zero for none
	sid       int     // its session
	orphan    time.Time
	kept      bool // an orphan that is kept
	lightened []string
	exec      proc.Exec // of a run, until it is placed
}

// waits is a job's place in the queue.
type waits struct {
	user     uint32 // whose turn it counts as
	since    time.Time
	patience time.Duration
	never    string           // why it must not be held; empty for an ordinary one
	held     bool             // it had to wait, or has to
	start    *admission.Start // it may start: carried out once it is where it waits
	refused  string           // why it is ended instead
	left     bool             // Ctrl-Z: stopped was seen since it was let go
	noted    bool             // the caller was told that it waits
	lacks    *note.Wait       // what it still waited for when its patience was over
	agent    bool             // a coding agent is above it
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

// inOrder are the jobs, the oldest first.
func (g *Governor) inOrder() []*job {
	all := make([]*job, 0, len(g.jobs))
	for _, j := range g.jobs {
		all = append(all, j)
	}
	slices.SortFunc(all, func(a, b *job) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.id, b.id)) })
	return all
}

// alive reports whether the job still counts: it may be joined.
func (j *job) alive() bool { return j.state != Ended }

// runs reports whether processes of the job run, or may run, in its scope.
func (j *job) runs() bool { return j.state == Running || j.state == Quiet || j.state == Lingering }

// stands reports whether the job stands still in the queue.
func (j *job) stands() bool { return j.state == Held || j.state == Suspended }

// queued reports whether the job has yet to start.
func (j *job) queued() bool { return j.stands() || j.state == Placing && j.waits.held }

// notice notes when the job was last written about and reports whether that is
// long enough ago to write about it again.
func (j *job) notice(now time.Time) bool {
	if now.Sub(j.toldCap) < toldFor {
		return false
	}
	j.toldCap = now
	return true
}
