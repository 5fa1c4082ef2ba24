package governor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
)

// Holding freezes jobs and ends them.
type Holding interface {
	Freeze(sc contain.Scope) error
	Thaw(sc contain.Scope) error
	Signals(sc contain.Scope) contain.Signals
	Stop(ctx context.Context, sc contain.Scope, grace time.Duration) error
}

// holds reports whether commands can be made to wait here. Without a cgroup to
// freeze nothing can.
func (g *Governor) holds() bool { return g.enforces() && g.o.Contain.Name != "none" }

// isHeld notes that a job stands still in its scope. Its turn, or the end of
// its patience, may have come while it was brought there.
func (g *Governor) isHeld(j *job) {
	if !g.advance(j, stepHeld) {
		return
	}
	g.hurry()
	g.remember()
	switch {
	case j.waits.refused != "":
		g.end(j)
	case j.waits.start != nil:
		g.admit(j)
	}
}

// admit carries out the start of a job as soon as nothing else is under way
// for it. Called again at each fast turn until it is done.
func (g *Governor) admit(j *job) {
	if j.waits.start == nil || j.busy != "" || !j.stands() {
		return
	}
	if j.run != nil {
		g.placeAsked(j)
		return
	}
	g.act(j, order{verb: verbStart, jobID: j.id, scope: j.scope, cap: j.waits.start.Cap, caught: j.caught})
}

// act orders something of a job's scope, of which there is one at a time.
func (g *Governor) act(j *job, o order) bool {
	if j.busy != "" || !g.order(o) {
		return false
	}
	j.busy = o.verb
	return true
}

// admitted takes in that a held job was let go.
func (g *Governor) admitted(j *job, out outcome) {
	if !j.stands() {
		return
	}
	if out.err != nil {
		if g.stopping || g.lostScope(j, out.err) {
			return
		}
		// It stands still, and must not: once more at the next fast turn.
		g.o.Log.Error("let a job go that may start", "job", j.id, "err", out.err)
		return
	}
	if out.limitErr != nil {
		r := g.about(j)
		r.Event, r.MemoryCapMB = journal.Changed, j.capMB
		r.Reason = fmt.Sprintf("it starts with the cap it waited with: %v", out.limitErr)
		g.record(r)
	}
	j.scope = out.scope
	j.scope.Frozen = false
	j.setCap(out.scope)
	j.waits.start = nil
	g.advance(j, stepAdmitted)
	g.remember()
	g.tellStarted(j)
}

// lostScope ends a job whose scope went under an order.
func (g *Governor) lostScope(j *job, err error) bool {
	if !errors.Is(err, contain.ErrNoScope) {
		return false
	}
	g.book.End(j.id)
	g.finish(j, stepGone, "its scope was removed")
	return true
}

// measureHeld takes in the reading of a job that waits.
func (g *Governor) measureHeld(j *job, m sample) {
	switch {
	case j.scope.Cgroup == "": // the child of a `run`: its peer tells of its end
		if j.run != nil && g.isGone(j.root) {
			g.gone(j, "it ended while it waited")
		}
		return
	case m.usage.Gone:
		g.gone(j, "its scope was removed")
		return
	case m.usage.Unread:
		return
	case len(m.usage.Procs) == 0 && j.joining == 0:
		g.gone(j, "it ended while it waited")
		return
	}
	j.processes, j.pids = len(m.usage.Procs), m.usage.Procs
	if m.usage.Working >= 0 {
		j.memoryMB = m.usage.Working >> 20
	}
	if j.busy != "" || !m.signalled || m.began.Before(j.entered) {
		return // it was read before what is under way, or was done last
	}
	switch s := m.signals; {
	case j.state == Held && s.StopPending:
		g.suspend(j, "it was stopped (Ctrl-Z) while it waited")
	case j.state == Held && s.EndPending:
		g.suspend(j, "a signal that it handles itself came while it waited")
	case j.state == Held && !s.Frozen:
		g.escaped(j)
	case j.state == Suspended && s.Stopped:
		j.waits.left = true
	case j.state == Suspended && (j.waits.left || time.Since(j.entered) >= actFor):
		g.act(j, order{verb: verbFreeze, jobID: j.id, scope: j.scope})
	}
}

// gone ends a job that waited and is no more. Its place is free at once.
func (g *Governor) gone(j *job, why string) {
	g.book.End(j.id)
	j.waits.start = nil
	g.finish(j, stepGone, why)
	g.remember()
	g.look()
}

// actFor is how long a held process that was let go for a signal has to act on
// it: to stop, or to end. What neither stops nor ends waits on.
const actFor = 2 * time.Second

// suspend lets a held job go that has a signal to act on, and takes it out of
// the queue: it keeps the time at which it first asked.
func (g *Governor) suspend(j *job, why string) {
	if j.waits.start != nil {
		return // it starts in any case
	}
	r := g.about(j)
	r.Event, r.Reason, r.WaitedS = journal.Suspended, why, time.Since(j.waits.since).Seconds()
	g.record(r)
	g.book.Withdraw(j.id)
	j.waits.left = false
	if g.act(j, order{verb: verbThaw, jobID: j.id, scope: j.scope}) {
		g.advance(j, stepSuspended)
		g.remember()
		return
	}
	g.ask(j) // the placers are far behind: seen again at the next fast turn
}

// thawed takes in that a suspended job was let go.
func (g *Governor) thawed(j *job, out outcome) {
	if out.err != nil && !g.stopping && !g.lostScope(j, out.err) {
		g.o.Log.Error("let a job go that has a signal to act on", "job", j.id, "err", out.err)
		if j.state == Suspended { // seen again by its signals
			g.advance(j, stepHeld)
			g.ask(j)
		}
		return
	}
	j.scope.Frozen = false
}

// refrozen takes in that a suspended job stands still again, after SIGCONT.
func (g *Governor) refrozen(j *job, out outcome) {
	if j.state != Suspended || g.stopping {
		return
	}
	if out.err != nil {
		if !g.lostScope(j, out.err) {
			g.runsAnyway(j, fmt.Sprintf("it could not be held again: %v", out.err))
		}
		return
	}
	j.scope.Frozen = true
	r := g.about(j)
	r.Event, r.Reason, r.WaitedS = journal.Held, "it goes on waiting where it was", time.Since(j.waits.since).Seconds()
	g.record(r)
	g.ask(j)
	g.isHeld(j)
	g.look()
}

// escaped notes that somebody let a held job go: its user may, in his own part
// of the tree. To freeze it again and again would be a fight.
func (g *Governor) escaped(j *job) { g.runsAnyway(j, "it was let go by somebody else") }

// runsAnyway starts a job that should wait, with the cap it has. It is thawed
// in any case: whether it stands still may be what could not be read.
func (g *Governor) runsAnyway(j *job, why string) {
	r := g.about(j)
	r.Event, r.Reason, r.MemoryCapMB = journal.Changed, why+"; it runs", j.capMB
	g.record(r)
	if j.waits.start == nil {
		cap := j.capMB
		if cap > 0 {
			cap += int64(j.caught) // taken off again
		}
		c := admission.Cap{MemoryMB: cap, SwapMB: j.swapMB, PromiseMB: j.capMB, Why: why}
		g.book.Hold(j.id, j.waits.user, c.PromiseMB, c.MemoryMB)
		j.waits.start, j.promiseMB = &admission.Start{Job: j.id, Cap: c}, c.PromiseMB
	}
	g.hurry()
	g.admit(j)
}

// refuse ends a job that waited too long.
func (g *Governor) refuse(j *job, s admission.Standing) {
	waited := time.Since(j.waits.since)
	why := fmt.Sprintf("it waited %.0f s, the most that it may", waited.Seconds())
	if s.Why != "" {
		why += ": " + s.Why
	}
	r := g.about(j)
	r.Event, r.Reason, r.WaitedS, r.Behind, r.MissingMB = journal.Refused, why, waited.Seconds(), s.Behind, s.MissingMB
	g.record(r)
	g.book.End(j.id)
	j.waits.refused, j.endedReason = why, why
	g.tellRefused(j, s)
	if j.run != nil {
		j.run.tell(RunUpdate{State: RunRefused, Job: j.id, Behind: s.Behind, MissingMB: s.MissingMB, WaitedS: waited.Seconds(), SwapCapMB: -1, Why: why}, true)
		g.drop(j, stepLeft)
		return
	}
	g.end(j)
}

// end stops the processes of a job that was refused or told to stop.
func (g *Governor) end(j *job) bool {
	if j.scope.Cgroup == "" || !g.act(j, order{verb: verbStop, jobID: j.id, scope: j.scope, grace: j.graceOf(), hurry: j.hurry}) {
		return false
	}
	j.stopped = true
	return true
}

// stoppedJob takes in that a job was ended. Its last reading finishes it.
func (g *Governor) stoppedJob(j *job, out outcome) {
	j.scope.Frozen = false
	g.answerStops(j, out.err)
	g.victimEnded(j.root, out.err)
	if out.err == nil || g.stopping || g.lostScope(j, out.err) {
		return
	}
	r := g.about(j)
	r.Event, r.Reason = journal.Failed, fmt.Sprintf("it could not be ended: %v", out.err)
	g.record(r)
	j.stopped = false
	if j.stands() { // it is not to stand still for ever
		j.waits.refused, j.endedReason = "", ""
		g.runsAnyway(j, "it could not be ended")
	}
}
