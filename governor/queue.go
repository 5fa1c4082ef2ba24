package governor

import (
	"context"
	"fmt"
	"time"

	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/loader/proc"
)

// fastTurn is the period of the loop's second clock, which goes only while
// something waits: how late a wait's end, a Ctrl-Z or a death is seen.
const fastTurn = 250 * time.Millisecond

// hurry has the second clock go.
func (g *Governor) hurry() {
	if !g.hurrying {
		g.hurrying = true
		g.fast.Reset(fastTurn)
	}
}

// room is the memory and the limits in force. A memory that cannot be read is
// unknown, which admission allows for.
func (g *Governor) room() (admission.Machine, admission.Limits) {
	m, err := g.machine()
	if err != nil {
		if g.told.news("memory unread", time.Now()) {
			g.o.Log.Warn("read memory", "err", err)
		}
		m = admission.Machine{AvailableMB: -1, SwapFreeMB: -1}
	}
	return m, g.o.Config.Resolve(m)
}

// userOf is whose turn a command counts as: who logged in, however he became
// somebody else since.
func userOf(loginUID, uid uint32) uint32 {
	if loginUID != proc.NoLoginUID {
		return loginUID
	}
	return uid
}

// ask puts a job in the queue.
func (g *Governor) ask(j *job) {
	g.book.Ask(admission.Waiter{
		Job: j.id, User: j.waits.user, Since: j.waits.since, Patience: j.waits.patience,
		PeakMB: j.peak.mb, Runs: j.peak.runs, Never: j.waits.never != "",
		Slotless: j.run != nil && j.run.Slotless,
	})
}

// look starts those whose turn it is.
func (g *Governor) look() {
	if g.stopping || g.book.Waiting() == 0 {
		return
	}
	m, l := g.room()
	now := time.Now()
	var standings []admission.Standing
	if g.timesOut(now) {
		// Whom it waited for is known only as long as it is in the queue.
		standings = g.book.Standings(now, m, l)
	}
	starts := g.book.Look(now, m, l)
	for _, s := range starts {
		g.mayStart(s, standings)
	}
	if len(starts) > 0 {
		g.recap() // others may have to make room
	}
}

// timesOut reports whether the patience of somebody is over.
func (g *Governor) timesOut(now time.Time) bool {
	for _, j := range g.jobs {
		if j.queued() && j.waits.start == nil && now.Sub(j.waits.since) >= j.waits.patience {
			return true
		}
	}
	return false
}

// mayStart takes in that a job may start: what is decided is recorded, and
// done as soon as the job is where it waits.
func (g *Governor) mayStart(s admission.Start, standings []admission.Standing) {
	j := g.jobs[s.Job]
	if j == nil {
		g.book.End(s.Job)
		return
	}
	j.waited = time.Since(j.waits.since)
	waited := j.waited.Seconds()
	if s.TimedOut {
		at := standingOf(standings, j.id)
		if g.refuses(j) {
			g.refuse(j, at)
			return
		}
		lacks := g.wait(j, at)
		j.waits.lacks = &lacks
		r := g.about(j)
		r.Event, r.WaitedS, r.Behind, r.MissingMB = journal.TimedOut, waited, at.Behind, at.MissingMB
		r.Reason = fmt.Sprintf("its patience of %.0f s is over", j.waits.patience.Seconds())
		if at.Why != "" {
			r.Reason += ": " + at.Why
		}
		g.record(r)
	}
	r := g.about(j)
	r.Event, r.WaitedS, r.Reason = journal.Admitted, waited, s.Cap.Why
	r.MemoryCapMB, r.SwapCapMB = s.Cap.MemoryMB, s.Cap.SwapMB
	g.record(r)
	j.waits.start, j.promiseMB = &s, s.Cap.PromiseMB
	g.admit(j)
}

// refuses reports what the end of a job's patience means. Who asked with `run`
// is told and may ask again; a caught command does not know that it waits, and
// is started unless the settings say otherwise.
func (g *Governor) refuses(j *job) bool {
	return j.run != nil || g.o.Config.QueueTimeoutAction == "refuse"
}

func standingOf(all []admission.Standing, job string) admission.Standing {
	for _, s := range all {
		if s.Job == job {
			return s
		}
	}
	return admission.Standing{Job: job}
}

// fastTick is the loop's second clock: what waits is read, started, told.
func (g *Governor) fastTick(ctx context.Context) {
	g.hurrying = false
	g.look()
	waiting := false
	for _, j := range g.inOrder() {
		if !j.queued() {
			continue
		}
		waiting = true
		switch {
		case j.waits.refused != "":
			if j.state == Held && j.busy == "" && !j.stopped {
				g.end(j)
			}
		default:
			g.admit(j)
		}
	}
	if !waiting && g.book.Waiting() == 0 {
		return
	}
	g.hurry()
	g.tellWaiting()
	g.sampleFast(ctx)
}

// provisional is what a job is held to while it waits: should all of them be
// let go at once, they share what there is.
func (g *Governor) provisional(m admission.Machine, l admission.Limits) admission.Cap {
	c := admission.Cap{MemoryMB: g.book.Provisional(m, l), SwapMB: admission.SwapDefaultMB}
	if l.SwapMB != 0 {
		c.SwapMB = l.SwapMB
	}
	c.Why = fmt.Sprintf("%d MB while it waits", c.MemoryMB)
	return c
}
