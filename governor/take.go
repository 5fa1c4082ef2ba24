package governor

import (
	"path"
	"strings"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/loader/proc"
)

// take decides on a finding: it is a running job's, is left alone, joins a
// job, or becomes one. On return the process is let go or an order holds it.
func (g *Governor) take(f caughtFinding) {
	x := &f.Exec
	switch {
	case g.stopping, g.o.Config.Mode == ModeOff:
		letGo(f.catch)
	case g.known(x):
		letGo(f.catch) // an exec of a job's own root while it is being placed
	case g.isGone(x.ID):
		letGo(f.catch) // in a burst, what was let go at the bound is often over by now
	case f.Container != nil:
		letGo(f.catch)
		g.contained(&f.Finding, *f.Container)
	default:
		if why := leave(&f.Finding, g.o.FS); why != "" {
			letGo(f.catch)
			g.left(&f.Finding, why)
			return
		}
		k := kinOf(x, g.o.FS, g.o.Rules)
		j, why, never := g.belongs(x, k)
		if j != nil {
			g.join(f, j, why)
			return
		}
		g.begin(f, k, never)
	}
}

// What is recorded of a command that joins a job.
const (
	joinsGroup = "it belongs to the same group of commands"
	joinsPipe  = "it shares a pipe with it"
	joinsCrowd = "its user has as many commands waiting as may wait at once"
	joinsBurst = "its user starts more commands a second than get a scope of their own"
)

// belongs says which job the command joins, if any, and why; else why it must
// not be held, if it must not.
func (g *Governor) belongs(x *proc.Exec, k kin) (j *job, why, never string) {
	if j := g.jobOf(x, k); j != nil {
		if j.run != nil && j.stands() {
			return nil, "", "its group has a command that waits by itself: to hold it could have the two wait for each other"
		}
		return j, joinsGroup, ""
	}
	j, never = g.linked(x)
	if j != nil {
		return j, joinsPipe, ""
	}
	if never == "" && g.holds() {
		if j, why := g.crowded(x); j != nil {
			return j, why, ""
		}
	}
	return nil, "", never
}

// known reports whether the process is the root of a job already. A shebang
// and an interpreter's re-exec give several execs of one process.
func (g *Governor) known(x *proc.Exec) bool {
	for _, j := range g.jobs {
		if j.root == x.ID && j.alive() {
			return true
		}
	}
	return false
}

// jobOf is the job that the command belongs to by its kin. Only what sits
// where the job came from counts: to join from elsewhere would be to leave
// the limits of that place. Without scopes descent is what there is.
func (g *Governor) jobOf(x *proc.Exec, k kin) *job {
	for _, j := range g.jobs {
		if !j.alive() {
			continue
		}
		if k.same(j.kin) && (j.origin == x.Cgroup || j.adopted) {
			return j
		}
		if g.isBelow(x, j) {
			return j
		}
	}
	return nil
}

// isBelow reports whether a process descends from a job that has no cgroup:
// then descent is what makes it part of the job.
func (g *Governor) isBelow(x *proc.Exec, j *job) bool {
	return !j.isolated && j.box == nil && j.runs() && g.descends(x, j.root)
}

func (g *Governor) descends(x *proc.Exec, root proc.ID) bool {
	up, err := g.o.FS.Ancestors(x.ID.PID, maxAncestors)
	if err != nil {
		return false
	}
	for _, a := range up {
		if a.ID == root {
			return true
		}
	}
	return false
}

// maxWaiting bounds the kin that waits, stopped, for a scope that is being
// made: all of it is let go at the tracer's bound in any case.
const maxWaiting = 256

// join moves the process into the scope of its job, or notes it until there is
// one. What joins a job that waits waits with it: the scope is frozen.
func (g *Governor) join(f caughtFinding, j *job, why string) {
	f.why = why
	j.mixed = j.mixed || why == joinsCrowd || why == joinsBurst
	switch {
	case g.stopping:
		letGo(f.catch)
		return
	case j.state == Placing && len(j.waiting) < maxWaiting:
		j.waiting = append(j.waiting, f)
		return
	case j.state == Placing, !j.isolated:
		letGo(f.catch)
		return
	}
	if !g.order(order{verb: verbJoin, jobID: j.id, catch: f.catch, exec: f.Exec, why: why,
		verdict: f.Verdict, tree: f.Exec.Late, scope: j.scope}) {
		g.left(&f.Finding, "the governor is busy placing others")
		return
	}
	j.joining++
	if j.runs() {
		g.advance(j, stepJoined)
	}
}

// order hands an order to the placers, or lets go and says no when too many wait.
func (g *Governor) order(o order) bool {
	if g.stopping {
		letGo(o.catch)
		return false
	}
	lane := g.orders
	switch o.verb {
	case verbPlace:
		if contain.ParseOrigin(o.exec.Cgroup).Manager != contain.SystemManager {
			lane = g.userOrders
		}
	case verbStart, verbLimit: // the others write to cgroups and ask no manager
		if contain.ParseOrigin(o.scope.Cgroup).Manager != contain.SystemManager {
			lane = g.userOrders
		}
	case verbStop, verbTree:
		lane = g.stopOrders
	}
	select {
	case lane <- o:
		return true
	default:
		letGo(o.catch)
		return false
	}
}

// left records a command that was left where it is; the same reason for the
// same place is told once in a while only.
func (g *Governor) left(f *Finding, why string) {
	if !g.told.news(f.Exec.Cgroup+"\x00"+f.Verdict.Rule+"\x00"+why, time.Now()) {
		return
	}
	uid := f.Exec.UID
	box := ""
	if f.Container != nil {
		box = f.Container.String()
	}
	g.record(journal.Record{Event: journal.Left, Container: box, PID: f.Exec.ID.PID, UID: &uid, Command: journal.Command(f.Exec.Argv),
		Family: f.Verdict.Family, Rule: f.Verdict.Rule, Origin: f.Exec.Cgroup, Reason: why, Source: f.Exec.Source})
}

// jobID names a job as its scope is named: the family, and eight hex digits of
// chance.
func jobID(family string) string {
	if family != "" {
		family = path.Base(family)
	}
	return idOf(contain.UnitName(family))
}

// idOf is the job's part of a scope's name.
func idOf(unit string) string {
	return strings.TrimSuffix(strings.TrimPrefix(unit, "headroom-"), ".scope")
}
