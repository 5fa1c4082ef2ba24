package governor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
)

// partHeld lets go of what waits, or leaves it to who comes next, on the way
// out of the loop: no order is under way any more. It returns how many jobs
// run, and how many waited.
func (g *Governor) partHeld() (running, waiting int) {
	for _, j := range g.inOrder() {
		if j.observed {
			continue
		}
		if !j.stands() {
			running++
			continue
		}
		waiting++
	}
	g.letHeldGo()
	return running, waiting
}

// letHeldGo lets go of what waits, on the way out.
func (g *Governor) letHeldGo() {
	for _, j := range g.inOrder() {
		if !j.stands() || j.scope.Cgroup == "" || g.o.KeepHeld && j.state == Held && j.waits.refused == "" {
			continue
		}
		if err := g.o.Backend.Thaw(j.scope); err != nil && !errors.Is(err, contain.ErrNoScope) {
			g.o.Log.Error("let a job go at the end", "job", j.id, "err", err)
		}
	}
}

// letLeftGo lets go of what an earlier governor left frozen, where this one
// holds nothing.
func (g *Governor) letLeftGo(ctx context.Context) {
	scopes, err := g.o.Backend.Adopt(ctx, false)
	if err != nil {
		g.o.Log.Warn("let go of what an earlier run held", "err", err)
	}
	for _, sc := range scopes {
		if err := g.o.Backend.Release(ctx, sc); err != nil {
			g.o.Log.Warn("let go of a job of an earlier run", "unit", sc.Unit, "err", err)
		}
	}
}

// remember has it written what waits, and since when, for the governor that
// comes after this one.
func (g *Governor) remember() {
	if g.o.HeldFile == "" || g.stopping {
		return
	}
	var jobs []heldJob
	for _, j := range g.inOrder() {
		if j.stands() && j.scope.Unit != "" {
			jobs = append(jobs, heldJob{Job: j.id, Unit: j.scope.Unit, Cgroup: j.scope.Cgroup, Root: j.root,
				Since: j.waits.since, User: j.waits.user, UID: j.uid, Patience: j.waits.patience.Seconds(),
				Command: j.command, Family: j.family, Rule: j.rule, Cwd: j.peak.key.Dir})
		}
	}
	text, err := heldText(jobs)
	if err != nil {
		g.o.Log.Warn("keep what waits over a restart", "err", err)
		return
	}
	g.keeper.keep(g.o.HeldFile, text)
}

// holdAgain puts an adopted job that stands still back in the queue, where it
// was. Where nothing is known of it any more it waits anew.
func (g *Governor) holdAgain(j *job, h heldJob, known bool) {
	now := time.Now()
	j.waits.since, j.waits.patience, j.waits.held = now, g.queueTimeout(), true
	if known {
		j.waits.since, j.waits.patience, j.waits.user = h.Since, h.patience(), h.User
		j.command, j.family, j.rule, j.uid = h.Command, h.Family, h.Rule, h.UID
		j.since = h.Since
	}
	j.provisionalMB = j.capMB
	j.state = Held
	j.adopted = true
	g.ask(j)
	g.hurry()
	r := g.about(j)
	r.Event, r.MemoryCapMB, r.WaitedS = journal.Adopted, j.capMB, now.Sub(j.waits.since).Seconds()
	r.Reason = fmt.Sprintf("it was waiting when the governor started, and goes on waiting (%.0f s so far)", r.WaitedS)
	if !known {
		r.Reason = "it was held when the governor started; since when is not known, so it waits anew"
	}
	g.record(r)
}
