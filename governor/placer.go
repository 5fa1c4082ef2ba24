package governor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/contain/fault"
	"github.com/headroomd/headroomd/loader/proc"
)

// placers is how many orders of a lane are carried out at once: each costs pid 1 some
// 26 ms of its time on a small machine, and two keep it busy.
const placers = 2

// maxOrders bounds what waits for a placer. 64 orders at 55-145 ms each are
// already seconds; what comes beyond is left alone and recorded.
const maxOrders = 64

// orderDeadline bounds one order: a manager that does not answer for so long
// is not going to.
const orderDeadline = 15 * time.Second

// order is what the loop wants done.
type order struct {
	verb    verb
	jobID   string
	unit    string
	about   string // description of the unit
	catch   Catch  // nil where the process was not stopped
	exec    proc.Exec
	verdict classifier.Verdict // of a join
	cap     admission.Cap
	tree    bool // the exec was found late: descendants may run already
	frozen  bool // it is to wait: placed without being let run
	waits   bool // it waits on a pipe for the placing: what it has touched goes with its exec
	scope   contain.Scope
	caught  float64 // MB touched before the scope was: taken off the cap
	why     string  // of a join
	late    bool    // a tree that grew: the cap is for what it takes from now on

	grace time.Duration      // of an end
	hurry bool               // of an end: for the machine's sake
	spare func(pid int) bool // of the end of a tree

	attended bool // of a finish: the source tells of its execs already

	box   proc.Container // of a job that stays in its container
	roots []proc.ID      // its commands
}

type verb string

const (
	verbPlace  verb = "place"
	verbJoin   verb = "join"
	verbFinish verb = "finish"
	verbBox    verb = "box" // cap the container that the job runs in
)

// outcome is what became of an order.
type outcome struct {
	order  order
	origin contain.Origin
	scope  contain.Scope
	usage  contain.Usage // of a finished job, read before its scope went
	cap    admission.Cap // after what was caught was taken off
	caught float64       // MB
	left   string        // why it was not moved, when it must not be
	moved  int
	took   time.Duration // exec seen → in force
	err    error

	limitErr error // of a start, which goes on with the old cap

	box contain.ContainerCap
}

// placer carries out orders off the loop: the bus, the cgroup writes and the
// waiting are here.
type placer struct {
	backend Backend
	sight   Sight
	fs      memoryTable
	trees   Trees
	log     *slog.Logger
	now     func() time.Time
	boxes   Containers
	prefer  func(proc.ID) error // has the kernel take a process and its descendants first
	soft    bool                // caps are kept by measuring
}

// memoryTable tells what a process has touched.
type memoryTable interface {
	Memory(pid int) (proc.Memory, error)
	Cgroup(pid int) (string, error)
	Descendants(pid int) ([]proc.ID, error)
}

// run carries out orders until the channel is closed. After ctx ends it only
// lets go what orders still hold.
func (p *placer) run(ctx context.Context, orders <-chan order, outcomes chan<- outcome) {
	for o := range orders {
		var out outcome
		if err := ctx.Err(); err != nil {
			letGo(o.catch)
			out = outcome{order: o, err: err}
		} else {
			out = p.do(ctx, o)
		}
		letGo(o.catch) // whatever happened: nothing is held past its order
		outcomes <- out
	}
}

func progress(c Catch) {
	if c != nil {
		c.Progress()
	}
}

func letGo(c Catch) {
	if c != nil {
		c.Release()
	}
}

func (p *placer) do(ctx context.Context, o order) outcome {
	ctx, cancel := context.WithTimeout(ctx, orderDeadline)
	defer cancel()
	switch o.verb {
	case verbPlace:
		return p.place(ctx, o)
	case verbJoin:
		return p.join(ctx, o)
	case verbFinish:
		return p.finish(ctx, o)
	case verbBox:
		return p.box(o)
	case verbStart:
		return p.start(ctx, o)
	case verbThaw:
		return p.thaw(o)
	case verbFreeze:
		return p.freeze(o)
	case verbLimit:
		return p.limit(ctx, o)
	case verbStop:
		return p.stop(ctx, o)
	case verbTree:
		return p.fell(ctx, o)
	case verbAttend:
		return p.attend(o)
	case verbIgnore:
		p.ignore(o.scope)
		return outcome{order: o, scope: o.scope}
	}
	return outcome{order: o, err: fmt.Errorf("no such order: %q", o.verb)}
}

func (p *placer) place(ctx context.Context, o order) outcome {
	begin := p.now()
	progress(o.catch)
	fault.At("placing", o.exec.ID.PID)
	out := outcome{order: o, cap: o.cap}
	origin, err := p.backend.Look(ctx, o.exec)
	looked := p.now()
	progress(o.catch)
	out.origin = origin
	if err != nil {
		out.err = err
		return out
	}
	switch {
	case origin.Refuse != "":
		out.left = origin.Refuse
		return out
	case origin.Kind == "job" && o.exec.Cgroup != origin.Cgroup:
		out.left = "it is in the scope of a job by now"
		return out
	case origin.Kind == "job":
		// That of a quiet job: a scope beside it, which ends with it when that
		// one is stopped.
		origin.Kind, origin.PartOf = "scope", origin.Unit
	}
	running := !o.waits && (o.catch == nil || !o.catch.Stopped())
	tree := o.tree || running
	if !running && !o.waits {
		// It stands still: what it has touched now is all it will have had
		// outside the cap.
		out.caught = p.touched(o.exec.ID)
		out.cap = p.takeOff(o.cap, out.caught)
	}
	spec := contain.Spec{
		Unit:        o.unit,
		Description: o.about,
		Exec:        o.exec,
		Tree:        tree,
		Origin:      origin,
		Limits:      limitsOf(out.cap),
		Frozen:      o.frozen,
		Progress:    func() { progress(o.catch) },
	}
	var ignored uint64 // the cgroup that the source was told of already
	if !tree {
		// Nothing but this process is to be moved: it need not stand still until
		// the manager has told that it is done.
		spec.InForce = func(sc contain.Scope) {
			p.ignore(sc)
			ignored = sc.CgroupID
			fault.At("in-force", o.exec.ID.PID)
			out.took = p.now().Sub(o.exec.Seen)
			letGo(o.catch)
		}
	}
	out.scope, err = p.backend.Place(ctx, spec)
	var refused *contain.RefusedError
	if errors.As(err, &refused) { // it was moved since it was looked at
		out.origin, out.left = refused.Origin, refused.Origin.Refuse
		return out
	}
	if err != nil {
		out.err = err
		return out
	}
	switch {
	case out.scope.Cgroup == "":
		// Nothing was moved, so nothing was touched outside of anything.
		out.cap, out.caught = o.cap, 0
	case running || o.catch != nil && o.catch.Late():
		if !tree {
			out = p.gather(ctx, o, out)
		}
		out = p.settleLate(ctx, o, out)
	}
	if out.scope.CgroupID != ignored {
		p.ignore(out.scope)
	}
	now := p.now()
	if out.took == 0 {
		out.took = now.Sub(o.exec.Seen)
	}
	p.log.Debug("placed", "job", o.jobID, "waited", begin.Sub(o.exec.Seen), "looked", looked.Sub(begin), "placed", now.Sub(looked), "in force", out.took)
	letGo(o.catch)
	if o.catch != nil {
		select { // for the record: how long it stood still
		case <-o.catch.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	return out
}

func (p *placer) join(ctx context.Context, o order) outcome {
	progress(o.catch)
	out := outcome{order: o, scope: o.scope}
	out.moved, out.err = p.backend.Join(ctx, o.scope, o.exec, o.tree || o.catch == nil || o.catch.Late())
	letGo(o.catch)
	out.took = p.now().Sub(o.exec.Seen)
	return out
}

func (p *placer) finish(ctx context.Context, o order) outcome {
	if o.box.Cgroup != "" {
		return outcome{order: o, usage: noUsage(), err: p.boxes.Restore(o.jobID, o.box.Cgroup)}
	}
	out := outcome{order: o, scope: o.scope, usage: p.backend.Usage(o.scope)}
	if o.scope.CgroupID != 0 && !o.attended {
		if err := p.sight.Attend(o.scope.CgroupID); err != nil {
			p.log.Warn("attend again to a job's cgroup", "job", o.jobID, "err", err)
		}
	}
	out.err = p.backend.Release(ctx, o.scope)
	return out
}

func (p *placer) ignore(sc contain.Scope) {
	if sc.CgroupID == 0 {
		return
	}
	if err := p.sight.Ignore(sc.CgroupID, sc.Cgroup); err != nil {
		p.log.Warn("drop a job's execs in the kernel", "unit", sc.Unit, "err", err)
	}
}

// touched is the memory in MB that cannot be dropped: anonymous and shared. A
// process that is gone has none.
func (p *placer) touched(id proc.ID) float64 {
	m, err := p.fs.Memory(id.PID)
	if err != nil {
		return 0
	}
	return megabytes(max(m.RssAnon, 0)) + megabytes(max(m.RssShmem, 0))
}

func megabytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// tasksMax bounds a job's processes and threads. Recorded jobs had at most a
// few hundred; what it stops is a fork bomb filling the user's own slice.
const tasksMax = 4096

func limitsOf(c admission.Cap) contain.Limits {
	l := contain.Limits{MemorySwapMax: contain.Infinity, TasksMax: tasksMax}
	if c.MemoryMB > 0 {
		l.MemoryMax = uint64(c.MemoryMB) << 20
	}
	if c.SwapMB >= 0 {
		l.MemorySwapMax = uint64(c.SwapMB) << 20
	}
	return l
}
