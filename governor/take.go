package governor

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/headroomd/headroomd/governor/admission"
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
	default:
		if why := leave(&f.Finding, g.o.FS); why != "" {
			letGo(f.catch)
			g.left(&f.Finding, why)
			return
		}
		k := kinOf(x, g.o.FS, g.o.Rules)
		if j := g.jobOf(x, k); j != nil {
			g.join(f, j)
			return
		}
		g.begin(f, k)
	}
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
		if !j.isolated && j.state == Running && g.descends(x, j.root) {
			return j
		}
	}
	return nil
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
// one.
func (g *Governor) join(f caughtFinding, j *job) {
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
	if !g.order(order{verb: verbJoin, jobID: j.id, catch: f.catch, exec: f.Exec,
		verdict: f.Verdict, tree: f.Exec.Late, scope: j.scope}) {
		g.left(&f.Finding, "the governor is busy placing others")
		return
	}
	g.advance(j, stepJoined)
}

// begin makes a job of the command.
func (g *Governor) begin(f caughtFinding, k kin) {
	x := &f.Exec
	id := jobID(f.Verdict.Family)
	j := &job{
		id: id, state: Placing, since: x.Seen, entered: time.Now(),
		root: x.ID, uid: x.UID, command: journal.Command(x.Argv), family: f.Verdict.Family,
		rule: f.Verdict.Rule, remedy: f.Verdict.Remedy, kin: k, origin: x.Cgroup, memoryMB: -1,
	}
	m, err := g.machine()
	if err != nil {
		g.o.Log.Warn("read memory", "err", err)
		m = admission.Machine{AvailableMB: -1}
	}
	limits := g.o.Config.Resolve(m)
	grant := admission.Grant(m, limits, g.promises.Claims())
	r := g.about(j)
	r.Reason = f.Verdict.Reason
	r.MemoryCapMB, r.SwapCapMB, r.Source = grant.MemoryMB, grant.SwapMB, x.Source
	if err == nil {
		r.AvailableMB, r.ReserveMB = m.AvailableMB, limits.ReserveMB
	}
	if !g.enforces() {
		letGo(f.catch)
		if !g.told.news(fmt.Sprint("observed", x.PGID, x.LoginUID, j.rule), time.Now()) {
			return // one line for the 200 compilers of a script
		}
		r.Event = journal.Observed
		r.Reason = fmt.Sprintf("%s; it would get a cap of %d MB (%s)", f.Verdict.Reason, grant.MemoryMB, grant.Why)
		g.record(r)
		return
	}
	r.Event = journal.Captured
	g.record(r)
	j.capMB, j.swapMB, j.promiseMB = grant.MemoryMB, grant.SwapMB, grant.PromiseMB
	g.jobs[id] = j
	g.promises.Give(id, grant.PromiseMB)
	o := order{verb: verbPlace, jobID: id, unit: "headroom-" + id + ".scope", catch: f.catch, exec: *x,
		about: fmt.Sprintf("heavy command of uid %d held to %d MB by headroomd (%s)", x.UID, grant.MemoryMB, f.Verdict.Rule),
		cap:   grant, tree: x.Late}
	if !g.order(o) {
		g.drop(j, stepLeft)
		g.left(&f.Finding, "the governor is busy placing others")
	}
}

// order hands an order to the placers, or lets go and says no when too many wait.
func (g *Governor) order(o order) bool {
	if g.stopping {
		letGo(o.catch)
		return false
	}
	lane := g.orders
	if o.verb == verbPlace && contain.ParseOrigin(o.exec.Cgroup).Manager != contain.SystemManager {
		lane = g.userOrders
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
	g.record(journal.Record{Event: journal.Left, PID: f.Exec.ID.PID, UID: &uid, Command: journal.Command(f.Exec.Argv),
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
