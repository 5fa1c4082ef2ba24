package governor

import (
	"fmt"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
)

// calm looks whether a job still does anything. One that does nothing for a
// minute is quiet: slot and promise are given back. While somebody waits, five
// seconds are enough: whoever waits for another uses no CPU, so that this ends
// every wait in a circle, whatever it goes through.
func (g *Governor) calm(j *job, u contain.Usage) {
	switch p := j.still.add(pulse{at: time.Now(), cpu: u.CPUUsec, working: u.Working}); {
	case j.state == Running && p == paceQuiet:
		g.quiet(j, "it has done nothing for a minute")
	case j.state == Running && p == paceIdle && g.book.Waiting() > 0:
		j.still.rest()
		g.quiet(j, fmt.Sprintf("it has done nothing for %.0f s, and somebody waits", idleAfter.Seconds()))
	case j.state == Quiet && p == paceBusy:
		r := g.about(j)
		r.Event, r.Reason = journal.Busy, "it works again: it has its slot, and of its memory what is free"
		g.recordCalm(j, r)
		g.book.SetQuiet(j.id, false)
		g.advance(j, stepBusy)
		g.quietChanged()
	}
	g.attend(j)
}

func (g *Governor) quiet(j *job, why string) {
	r := g.about(j)
	r.Event, r.MemoryCapMB = journal.Quiet, j.capMB
	r.Reason = fmt.Sprintf("%s: its slot is free, and it counts with the %d MB that it uses", why, max(j.memoryMB, 0))
	g.recordCalm(j, r)
	g.book.SetQuiet(j.id, true)
	g.advance(j, stepQuiet)
	g.quietChanged()
	g.look()
}

// recordCalm records a change between quiet and busy. What only is watched is
// not worth it.
func (g *Governor) recordCalm(j *job, r journal.Record) {
	if !j.observed {
		g.record(r)
	}
}

// attend has the source tell of what a quiet job executes, and drop what
// another does. A quiet job is a supervisor: what it starts is no part of it.
func (g *Governor) attend(j *job) {
	if g.o.Judge == nil || !j.isolated || j.scope.CgroupID == 0 || !j.runs() || j.attended == (j.state == Quiet) {
		return
	}
	v := verbIgnore
	if !j.attended {
		v = verbAttend
	}
	if g.act(j, order{verb: v, jobID: j.id, scope: j.scope}) {
		j.attended = !j.attended
	}
}

// quietChanged tells the judge in which jobs it has to look.
func (g *Governor) quietChanged() {
	if g.o.Judge == nil {
		return
	}
	quiet := make(map[string]bool)
	for _, j := range g.jobs {
		if j.state == Quiet && j.scope.Cgroup != "" {
			quiet[j.scope.Cgroup] = true
		}
	}
	g.o.Judge.setQuiet(quiet)
}
