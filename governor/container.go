package governor

import (
	"errors"
	"fmt"
	"time"

	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/loader/proc"
)

// Containers lowers the limits of containers and gives them back.
type Containers interface {
	// Lower has a container hold no more than the job is granted besides what it
	// has.
	Lower(job string, box proc.Container, grant contain.Limits) (contain.ContainerCap, error)
	// Check lowers again what somebody has put back, and says so.
	Check(cgroup string) (now contain.ContainerCap, change string, err error)
	// Restore gives the limits back if they were lowered for that job.
	Restore(job, cgroup string) error
	RestoreAll() error
	// Recover gives back what an earlier governor left lowered.
	Recover() (restored []string, err error)
}

// Settings of contain_containers.
const (
	containersCap = "cap"
	containersOff = "off"
)

// inBox is what a job in a container has of its own. Its processes are never
// moved, stopped or made to wait: all that is done is that the container holds
// less while it runs, and that the kernel takes them first.
type inBox struct {
	container proc.Container
	roots     []proc.ID     // its heavy commands; what they started is not among them
	grant     admission.Cap // what the book granted; the container's cap is what it had and this
	kills     int64         // since it began
}

// maxRoots bounds the commands of one job in a container: those that have
// ended are dropped at each reading.
const maxRoots = 64

func (g *Governor) capsContainers() bool {
	return g.o.Config.ContainContainers == containersCap && g.enforces() && g.o.Containers != nil
}

// contained decides on a heavy command in a container.
func (g *Governor) contained(f *Finding, box proc.Container) {
	letAlone := ""
	switch inside, ok := insidePackageManager(&f.Exec, g.o.FS); {
	case g.o.Config.ContainContainers == containersOff:
		return
	case !g.capsContainers():
		letAlone = f.Leave
	case ok:
		letAlone = fmt.Sprintf("%s, inside %s", f.Leave, inside)
	case box.Cgroup == "":
		letAlone = f.Leave + ", whose cgroup is not known"
	}
	if letAlone != "" {
		g.left(f, letAlone)
		return
	}
	if j := g.jobInBox(box); j != nil {
		g.joinBox(j, f)
		return
	}
	g.beginBox(f, box)
}

// jobInBox is the job of a container: there is one, since they share its cap.
func (g *Governor) jobInBox(box proc.Container) *job {
	for _, j := range g.jobs {
		if j.box != nil && j.alive() && j.box.container.Cgroup == box.Cgroup {
			return j
		}
	}
	return nil
}

// joinBox notes a further command of a container. What an earlier one started
// is part of that.
func (g *Governor) joinBox(j *job, f *Finding) {
	for _, root := range j.box.roots {
		if root == f.Exec.ID || g.descends(&f.Exec, root) {
			return
		}
	}
	if len(j.box.roots) >= maxRoots {
		return
	}
	j.box.roots = append(j.box.roots, f.Exec.ID)
	if j.state == Placing {
		return // all of them are seen to once it is capped
	}
	if j.runs() {
		g.advance(j, stepJoined)
	}
	r := g.about(j)
	r.Event, r.PID, r.Command = journal.Joined, f.Exec.ID.PID, journal.Command(f.Exec.Argv)
	r.Reason = "it runs in the same container"
	g.record(r)
	g.seeTo(j)
}

// beginBox makes a job of the first heavy command in a container.
func (g *Governor) beginBox(f *Finding, box proc.Container) {
	x := &f.Exec
	j := g.newJob(x, f.Verdict.Family, kinOf(x, g.o.FS, g.o.Rules))
	j.rule, j.remedy, j.kind = f.Verdict.Rule, f.Verdict.Remedy, f.Verdict.Kind
	j.box = &inBox{container: box, roots: []proc.ID{x.ID}}
	// What it took says nothing of the same command outside, where the same
	// directory is another.
	j.mixed, j.swapMB = true, -1
	j.waits.never = "it runs in a container"
	m, l := g.room()
	g.jobs[j.id] = j
	g.ask(j)
	c := g.provisional(m, l)
	if mine, _ := g.turn(j, m, l); mine != nil {
		c = mine.Cap
	}
	j.box.grant, j.promiseMB = c, c.PromiseMB
	r := g.about(j)
	r.Event, r.Source, r.MemoryCapMB = journal.Captured, x.Source, c.MemoryMB
	r.Reason = fmt.Sprintf("%s; it is not moved: its container may take %d MB more than it has (%s)", f.Verdict.Reason, c.MemoryMB, c.Why)
	g.record(r)
	if !g.order(order{verb: verbBox, jobID: j.id, exec: *x, cap: c, box: j.box.container, roots: j.box.roots}) {
		g.drop(j, stepLeft)
		g.left(f, "the governor is busy placing others")
	}
	g.recap()
}

// seeTo has the oom_score_adj of commands raised that came since the container
// was capped.
func (g *Governor) seeTo(j *job) {
	if j.want.MemoryMB == 0 {
		j.want = j.box.grant
	}
	g.recapBox(j)
}

// recapBox orders what the container of a job is to have next, and sees to the
// job's processes once more.
func (g *Governor) recapBox(j *job) {
	c := j.box.grant
	c.MemoryMB = j.want.MemoryMB
	if c.MemoryMB > 0 && j.runs() && g.act(j, order{verb: verbBox, jobID: j.id, cap: c, box: j.box.container, roots: j.box.roots}) {
		j.box.grant, j.want = c, admission.Cap{}
	}
}

// granted is what the book granted the job last, in MB.
func (j *job) granted() int64 {
	if j.box != nil {
		return j.box.grant.MemoryMB
	}
	return j.capMB
}

// boxed takes in that a container was capped, or was not.
func (g *Governor) boxed(j *job, out outcome) {
	r := g.about(j)
	if out.err != nil {
		if j.state != Placing {
			if g.told.news("container cap "+j.id, time.Now()) {
				g.o.Log.Warn("change the cap of a container", "job", j.id, "container", j.box.container.String(), "err", out.err)
			}
			return
		}
		r.Event, r.Reason = journal.Failed, fmt.Sprintf("it runs without a cap: %v", out.err)
		if errors.Is(out.err, contain.ErrUncapped) {
			r.Event, r.Reason = journal.Left, out.err.Error()
		}
		if g.told.news(j.origin+"\x00"+j.rule+"\x00"+r.Reason, time.Now()) {
			g.record(r)
		}
		g.drop(j, stepFailed)
		return
	}
	g.setBoxCap(j, out.box)
	if j.state != Placing {
		return
	}
	r.Event, r.MemoryCapMB, r.SwapCapMB, r.TookMS = journal.Placed, j.capMB, j.swapMB, milliseconds(out.took)
	r.Isolated, r.Reason = &j.isolated, j.note
	g.record(r)
	g.advance(j, stepPlaced)
	g.answerStops(j, errNoScope)
	if len(j.box.roots) > len(out.order.roots) {
		g.seeTo(j)
	}
}

// setBoxCap notes what a container is held to.
func (g *Governor) setBoxCap(j *job, c contain.ContainerCap) {
	j.capMB, j.swapMB = 0, -1
	was := "no limit"
	if c.MemoryWas != contain.Infinity {
		was = fmt.Sprintf("a limit of %d MB", c.MemoryWas>>20)
	}
	if c.MemoryMax != contain.Infinity {
		j.capMB = int64(c.MemoryMax >> 20)
	}
	if c.MemorySwapMax != contain.Infinity {
		j.swapMB = int64(c.MemorySwapMax >> 20)
	}
	switch {
	case c.Lowered:
		j.note = fmt.Sprintf("container %s is held to %d MB while it runs, of which it had %d MB before; it had %s",
			j.box.container, j.capMB, c.Before>>20, was)
	default:
		j.note = fmt.Sprintf("container %s keeps what it has: %s", j.box.container, was)
	}
}

// unbox ends the jobs in containers once the settings are against them.
func (g *Governor) unbox(j *job) {
	if j.box != nil && j.runs() && !g.capsContainers() {
		g.finish(j, stepGone, "containers are not capped any more by the settings")
	}
}

// unboxAll gives all containers back what they had, at the governor's end.
func (g *Governor) unboxAll() {
	if g.o.Containers == nil {
		return
	}
	if err := g.o.Containers.RestoreAll(); err != nil {
		g.o.Log.Error("give containers back what they had; `headroomd release` tries again", "err", err)
	}
}

// recoverBoxes gives containers back what a governor that died had lowered.
// Jobs that still run in one are found by the scan if they are young; others
// run on as they did before.
func (g *Governor) recoverBoxes() {
	if g.o.Containers == nil {
		return
	}
	restored, err := g.o.Containers.Recover()
	for _, cgroup := range restored {
		r := journal.Record{Event: journal.Changed, Origin: cgroup,
			Reason: "its limits are what they were before a governor that ended had lowered them"}
		if box, ok := proc.ContainerOf(cgroup); ok {
			r.Container = box.String()
		}
		g.record(r)
	}
	if err != nil {
		g.record(journal.Record{Event: journal.Failed, Reason: "limits of containers could not be given back: " + err.Error()})
	}
}

// box carries out the order to cap a container.
func (p *placer) box(o order) outcome {
	out := outcome{order: o, cap: o.cap}
	out.box, out.err = p.boxes.Lower(o.jobID, o.box, limitsOf(o.cap))
	if out.err == nil {
		// The kernel is to take these, and not what else the container has.
		for _, id := range o.roots {
			if err := p.prefer(id); err != nil {
				p.log.Debug("oom_score_adj in a container", "job", o.jobID, "pid", id.PID, "err", err)
			}
		}
	}
	if !o.exec.Seen.IsZero() {
		out.took = p.now().Sub(o.exec.Seen)
	}
	return out
}
