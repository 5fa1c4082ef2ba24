package governor

import (
	"time"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/note"
	"github.com/headroomd/headroomd/loader/proc"
)

// Notes speak to the callers of jobs. Tell returns at once.
type Notes interface {
	Tell(n note.Note)
}

// waitingAfter is how long a command waits before its caller is told: most
// waits are over by then, and nobody takes two seconds for a hang.
const waitingAfter = 2 * time.Second

// idleStart is the most that is waited for memory while no job runs.
const idleStart = 10 * time.Second

// tellWaiting tells the callers and the askers of what waits where they stand.
func (g *Governor) tellWaiting() {
	now := time.Now()
	var due []*job
	for _, j := range g.inOrder() {
		switch {
		case j.state != Held || j.waits.start != nil:
		case j.run != nil, g.o.Notes != nil && !j.waits.noted && now.Sub(j.waits.since) >= waitingAfter:
			due = append(due, j)
		}
	}
	if len(due) == 0 {
		return
	}
	m, l := g.room()
	all := g.book.Standings(now, m, l)
	for _, j := range due {
		s := standingOf(all, j.id)
		if j.run != nil {
			g.tellAsker(j, s)
			continue
		}
		j.waits.noted = true
		g.say(j, note.Waiting, note.WaitingText(g.wait(j, s)))
	}
}

// tellStarted tells a caller who was told of the wait that it is over.
func (g *Governor) tellStarted(j *job) {
	switch {
	case !j.waits.noted:
	case j.waits.lacks != nil:
		g.say(j, note.Started, note.TimedOutText(*j.waits.lacks, j.waited, j.capMB))
	default:
		g.say(j, note.Started, note.StartedText(j.program, j.waited, j.capMB))
	}
}

func (g *Governor) tellRefused(j *job, s admission.Standing) {
	if j.run == nil { // who asked is told by its own channel
		g.say(j, note.Refused, note.RefusedText(g.wait(j, s), time.Since(j.waits.since)))
	}
}

// wait is what a job waits for as its caller is told it. Of another user's job
// the family is all that is told.
func (g *Governor) wait(j *job, s admission.Standing) note.Wait {
	w := note.Wait{Program: j.program, Ahead: max(s.Position-1, 0), MissingMB: s.MissingMB}
	if !g.refuses(j) {
		most := j.waits.patience
		if g.book.Slots() == 0 {
			most = min(most, idleStart)
		}
		w.AtMost = max(most-time.Since(j.waits.since), 0)
	}
	if b := g.jobs[s.Behind]; b != nil {
		w.Behind = note.Holder{Name: b.program, PID: b.root.PID, Age: time.Since(b.since)}
		if b.uid != j.uid || b.program == "" {
			w.Behind.Name = b.family
		}
	}
	return w
}

func (g *Governor) say(j *job, kind note.Kind, text string) {
	if g.o.Notes == nil || g.o.Config.Notes == "off" || j.observed {
		return
	}
	n := note.Note{To: j.root, Kind: kind, Text: text, Agent: j.waits.agent,
		Terminal: g.o.Config.Notes == "terminal" || j.kind.Has(classifier.Compiler)}
	if kind == note.OverCap || kind == note.Stopped {
		n.Else = g.callerShell(j)
	}
	g.o.Notes.Tell(n)
}

// callerShell is the shell that a job was started from, for what is to be told
// when the job has ended; zero where its parent is none. An agent's own terminal
// is not written to.
func (g *Governor) callerShell(j *job) proc.ID {
	st, err := g.o.FS.Stat(j.caller.PID)
	if err != nil || st.ID != j.caller || !isShell(st.Comm) {
		return proc.ID{}
	}
	return j.caller
}
