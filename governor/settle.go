package governor

import (
	"errors"
	"fmt"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/loader/proc"
)

// settle takes in what became of an order.
func (g *Governor) settle(out outcome) {
	if out.order.verb == verbTree { // it may be of no job
		g.felled(out)
		return
	}
	j := g.jobs[out.order.jobID]
	if j == nil {
		return // ended meanwhile: its cgroup went away under it
	}
	switch out.order.verb {
	case verbPlace:
		g.placed(j, out)
	case verbJoin:
		g.joined(j, out)
	case verbFinish:
		g.ended(j, out)
	case verbBox:
		j.busy = ""
		g.boxed(j, out)
		g.recapJob(j)
	default:
		j.busy = ""
		g.settleHeld(j, out)
		g.stopNow(j)
	}
}

// settleHeld takes in what became of an order for a job's scope. Whatever it
// was, a start that came due meanwhile follows.
func (g *Governor) settleHeld(j *job, out outcome) {
	switch out.order.verb {
	case verbStart:
		g.admitted(j, out)
		return // an attempt that failed has its pause
	case verbThaw:
		g.thawed(j, out)
	case verbFreeze:
		g.refrozen(j, out)
	case verbLimit:
		g.limited(j, out)
	case verbAttend:
		if out.err != nil {
			g.o.Log.Warn("attend to a quiet job's cgroup", "job", j.id, "err", out.err)
		}
	case verbStop:
		g.stoppedJob(j, out)
	}
	g.admit(j)
	g.recapJob(j)
	g.attend(j)
}

func (g *Governor) placed(j *job, out outcome) {
	r := g.about(j)
	switch {
	case out.left != "":
		r.Event, r.Reason = journal.Left, out.left
		if g.told.news(j.origin+"\x00"+j.rule+"\x00"+out.left, time.Now()) {
			g.record(r)
		}
		j.unplaced(out.left)
		g.drop(j, stepLeft)
	case out.err != nil && g.isGone(j.root):
		r.Event, r.Reason = journal.Left, "it was over before it could be placed"
		if !j.stopped {
			g.record(r)
		}
		// Its kin is not: the first of those that waited is the job now.
		waiting := j.waiting
		j.waiting = nil
		g.drop(j, stepLeft)
		for _, f := range waiting {
			g.take(f)
		}
	case out.err != nil:
		r.Event, r.Reason = journal.Failed, fmt.Sprintf("it runs without a cap: %v", out.err)
		g.record(r)
		j.unplaced(r.Reason)
		g.drop(j, stepFailed)
	default:
		g.inForce(j, out)
	}
	g.capturedLate(j, out)
}

// inForce notes the scope as it was read back and tells of it.
func (g *Governor) inForce(j *job, out outcome) {
	sc := out.scope
	j.scope, j.isolated = sc, sc.Cgroup != ""
	j.caught = out.caught
	j.setCap(sc)
	if len(sc.Notes) > 0 {
		j.note = sc.Notes[0]
	}
	r := g.about(j)
	r.Event = journal.Placed
	r.MemoryCapMB, r.SwapCapMB, r.Reason = j.capMB, j.swapMB, out.cap.Why
	r.Isolated, r.Moved = &j.isolated, sc.Moved
	if j.isolated {
		r.CaughtRSSMB = &out.caught
	}
	r.TookMS = milliseconds(out.took)
	r.Notes = sc.Notes
	if c := out.order.catch; c != nil {
		r.StoppedMS, r.Late = milliseconds(c.StoppedFor()), c.Late()
	}
	g.record(r)
	if j.late { // its cap is for what comes
		j.caught = 0
	}
	waiting := j.waiting
	j.waiting = nil
	switch {
	case out.order.frozen && sc.Frozen:
		g.isHeld(j)
	case out.order.frozen:
		g.notHeld(j)
	default:
		g.advance(j, stepPlaced)
	}
	if j.run != nil {
		j.run.tell(j.askerOf(RunPlaced), false)
	}
	for _, f := range waiting {
		g.join(f, j, f.why)
	}
	if j.toStop && !j.isolated {
		g.answerStops(j, errNoScope)
	}
	g.stopNow(j)
}

// notHeld notes that a job which was to wait runs, since it could not be frozen.
func (g *Governor) notHeld(j *job) {
	r := g.about(j)
	r.Event, r.MemoryCapMB = journal.Changed, j.capMB
	r.Reason = "it could not be made to stand still, so it runs and does not wait for its turn"
	g.record(r)
	if j.waits.start == nil {
		g.book.Hold(j.id, j.waits.user, min(j.capMB, j.provisionalMB), j.capMB)
	}
	j.waits.start, j.waits.held, j.waits.refused = nil, false, ""
	g.advance(j, stepPlaced)
	if j.isolated { // it may stand still in part
		g.act(j, order{verb: verbThaw, jobID: j.id, scope: j.scope})
	}
}

// setCap notes a cap as it was read back; what was asked is not told as what is.
func (j *job) setCap(sc contain.Scope) {
	j.capMB = 0
	if sc.MemoryMax != 0 && sc.MemoryMax != contain.Infinity {
		j.capMB = int64(sc.MemoryMax >> 20)
	}
	j.swapMB = swapOf(sc)
}

func (g *Governor) joined(j *job, out outcome) {
	j.joining--
	if errors.Is(out.err, contain.ErrNoScope) {
		// The scope went between two samples: what was to join it is the next job.
		if j.alive() {
			g.book.End(j.id)
			g.finish(j, stepGone, "its scope was removed")
		}
		g.take(caughtFinding{Finding: Finding{Exec: out.order.exec, Verdict: out.order.verdict}})
		return
	}
	if out.err != nil {
		if !g.isGone(out.order.exec.ID) {
			r := g.about(j)
			r.Event, r.PID, r.Reason = journal.Failed, out.order.exec.ID.PID, fmt.Sprintf("it could not join %s: %v", j.id, out.err)
			g.record(r)
		}
		return
	}
	r := g.about(j)
	r.Event, r.PID, r.Command = journal.Joined, out.order.exec.ID.PID, journal.Command(out.order.exec.Argv)
	r.Moved, r.TookMS = out.moved, milliseconds(out.took)
	r.Reason = out.order.why
	g.record(r)
}

// swapOf is what a scope may swap in MB, as it was read back; -1 unlimited.
func swapOf(sc contain.Scope) int64 {
	if !sc.MemoryController && !sc.SoftCap || sc.MemorySwapMax == contain.Infinity {
		return -1
	}
	return int64(sc.MemorySwapMax >> 20)
}

// finish orders the end of a job whose processes are gone.
func (g *Governor) finish(j *job, s step, why string) {
	if j.box != nil && j.busy != "" {
		return // its container would be capped once more after it was given back
	}
	if len(g.orders) == cap(g.orders) || !g.advance(j, s) {
		return // the placers are far behind: asked again at a later turn
	}
	if j.endedReason == "" {
		j.endedReason = why
	}
	g.book.End(j.id) // nothing of it runs any more
	if j.box != nil {
		g.order(order{verb: verbFinish, jobID: j.id, box: j.box.container})
	} else if !j.isolated {
		g.ended(j, outcome{usage: contain.Usage{Gone: true}})
	} else {
		g.order(order{verb: verbFinish, jobID: j.id, scope: j.scope, attended: j.attended})
	}
	g.look()
}

// ended tells the end of a job with the last reading of its counters.
func (g *Governor) ended(j *job, out outcome) {
	if !out.usage.Gone {
		g.note(j, out.usage)
	}
	r := g.about(j)
	r.Event, r.MemoryCapMB, r.SwapCapMB = journal.Ended, j.capMB, j.swapMB
	r.PeakMB, r.OOMKills, r.AgeS = j.peakMB, j.oomKills, time.Since(j.since).Seconds()
	r.Isolated, r.ExitReason = &j.isolated, j.endedReason
	if j.isolated {
		r.CaughtRSSMB = &j.caught
	}
	if out.err != nil {
		r.Notes = append(r.Notes, out.err.Error())
	}
	if !j.observed {
		g.record(r)
	}
	g.learn(j)
	g.forget(j)
	if j.run != nil {
		j.run.tell(j.askerOf(RunEnded), true)
	}
	j.processes, j.memoryMB = 0, 0
	g.recent = append(g.recent, g.status(j))
	if len(g.recent) > recentJobs {
		g.recent = g.recent[1:]
	}
}

// forget takes a job off the books.
func (g *Governor) forget(j *job) {
	delete(g.jobs, j.id)
	g.book.End(j.id)
	g.victimEnded(j.root, nil)
	g.answerStops(j, nil)
	if j.waits.held {
		g.remember()
	}
	if j.attended {
		g.quietChanged()
	}
}

// drop forgets a job that never was: its command runs on where it is, and so
// do those of its kin that waited for its scope.
func (g *Governor) drop(j *job, s step) {
	g.advance(j, s)
	for _, f := range j.waiting {
		letGo(f.catch)
	}
	g.answerStops(j, errNoScope) // it runs on where it is, or was over before
	g.forget(j)
	j.unplaced("it runs where it is, without a cap")
	g.look()
}

func (g *Governor) advance(j *job, s step) bool {
	was := j.state
	if err := j.move(s, time.Now()); err != nil {
		g.o.Log.Error("a job's life went astray", "err", err)
		return false
	}
	// A job without a process needs neither slot nor memory: five one-second
	// commands in a row had caps of 478, 193, 128, 96 and 77 MB.
	switch {
	case j.state == Lingering && was != Lingering:
		g.book.Pause(j.id)
		g.look()
	case j.state == Running && was == Lingering:
		g.book.Resume(j.id)
	}
	return true
}

func (g *Governor) isGone(id proc.ID) bool {
	st, err := g.o.FS.Stat(id.PID)
	return err != nil || st.ID != id || st.State == 'Z'
}

// about begins a record of the job.
func (g *Governor) about(j *job) journal.Record {
	uid := j.uid
	r := journal.Record{Job: j.id, PID: j.root.PID, UID: &uid, Command: j.command, Family: j.family,
		Rule: j.rule, Unit: j.scope.Unit, Origin: j.origin}
	if j.box != nil {
		r.Container = j.box.container.String()
	}
	return r
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
