package governor

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/governor/note"
	"github.com/headroomd/headroomd/governor/watchdog"
	"github.com/headroomd/headroomd/loader/proc"
)

func selfPID() int { return syscall.Getpid() }

// Trees ends processes that have no cgroup of their own.
type Trees interface {
	// Stop ends a process with its descendants, but those that are spared and
	// what is below them.
	Stop(ctx context.Context, root proc.ID, grace time.Duration, spare func(pid int) bool) (told int, err error)
}

// victim is what was acted on last. Nobody else is, until its memory is back.
type victim struct {
	job      string // "" for a tree
	root     proc.ID
	usedMB   int64
	hadMB    int64 // available before
	since    time.Time
	ended    time.Time // zero: not yet
	captured bool      // it was put into a scope, which frees nothing
}

const (
	// freedWait is how long the memory of what has ended is waited for. The
	// kernel gives it back before it tells of the end, save what others share;
	// what was swapped out does not come back as memory at all.
	freedWait = 300 * time.Millisecond
	// victimWait bounds the whole of one stop: one process that waits for a disk
	// which does not answer must not be the end of the guarding.
	victimWait = 20 * time.Second
	// noteFirst is what a note is given to be written before its target is told
	// to end, where there is time for that.
	noteFirst = 43 * time.Millisecond
)

// stopVictim stops a job for the machine's sake. The record and the note come
// before the act.
func (g *Governor) stopVictim(j *job, c choice, w watchdog.Judgement) {
	r := g.aboutVictim(journal.WatchStop, g.about(j), c, w)
	r.PeakMB, r.AgeS = j.peakMB, time.Since(j.since).Seconds()
	g.record(r)
	available := watchdog.MB(g.guard.reading.MemAvailable)
	text := note.StoppedText(note.Stop{Program: j.program, AvailableMB: available, Why: c.why, Job: j.id})
	j.endedReason = "stopped by the watchdog: " + g.leftWords(available) + c.why
	j.note = text
	g.say(j, note.Stopped, text)
	if j.run != nil { // its last word may come too late for who asked
		j.run.tell(j.askerOf(RunPlaced), false)
	}
	g.guard.done.Stopped++
	g.awaitVictim(&victim{job: j.id, root: j.root, usedMB: c.usedMB})
	if j.stands() {
		g.book.Withdraw(j.id)
		j.waits.start = nil
	}
	j.hurry, j.grace = true, graceOf(w)
	if j.isolated {
		if j.busy == verbLimit {
			j.busy = "" // a manager that does not answer is not waited for
		}
		j.toStop = true
		g.stopNow(j)
		return
	}
	// Without a scope, or not in it yet.
	j.stopped = true
	if !g.orderTree(j.id, j.root, j.grace) {
		g.victimEnded(j.root, errChanges)
	}
}

// stopTree stops processes that are no job.
func (g *Governor) stopTree(t tree, c choice, w watchdog.Judgement) {
	id := jobID(lateFamily)
	about := journal.Record{Job: id, PID: t.exec.ID.PID, UID: &t.exec.UID, Command: journal.Command(t.exec.Argv), Family: lateFamily, Origin: t.exec.Cgroup}
	g.record(g.aboutVictim(journal.WatchStop, about, c, w))
	available := watchdog.MB(g.guard.reading.MemAvailable)
	if g.o.Notes != nil && g.o.Config.Notes != "off" {
		g.o.Notes.Tell(note.Note{To: t.exec.ID, Kind: note.Stopped, Terminal: g.o.Config.Notes == "terminal", Else: g.shellAbove(t.exec.PPID),
			Text: note.StoppedText(note.Stop{Program: programOf(t.exec.Argv), AvailableMB: available, Why: c.why, Job: id})})
	}
	g.guard.done.Stopped++
	g.awaitVictim(&victim{root: t.exec.ID, usedMB: c.usedMB})
	if !g.orderTree(id, t.exec.ID, graceOf(w)) {
		g.victimEnded(t.exec.ID, errChanges)
	}
}

// shellAbove is the shell that a process was started from, if it was.
func (g *Governor) shellAbove(pid int) proc.ID {
	st, err := g.o.FS.Stat(pid)
	if err != nil || !isShell(st.Comm) {
		return proc.ID{}
	}
	return st.ID
}

// aboutVictim puts the numbers of a decision into its record.
func (g *Governor) aboutVictim(event string, r journal.Record, c choice, w watchdog.Judgement) journal.Record {
	m := g.aboutMemory(event, w)
	r.Event, r.AvailableMB, r.ReserveMB, r.CriticalMB = event, m.AvailableMB, m.ReserveMB, m.CriticalMB
	r.MemoryMB, r.GrownMB, r.GraceS = max(c.usedMB, 0), c.grownMB, graceOf(w).Seconds()
	if event != journal.WatchStop {
		r.GraceS = 0
	}
	r.Reason = fmt.Sprintf("%s; %s", c.why, w.Why)
	return r
}

// leftWords is what was left, in words.
func (g *Governor) leftWords(availableMB int64) string {
	if availableMB < 0 {
		return ""
	}
	return fmt.Sprintf("%d MB of memory were left, and ", availableMB)
}

// graceOf is how long a victim has between SIGTERM and SIGKILL.
func graceOf(w watchdog.Judgement) time.Duration { return min(max(w.Grace, 0), stopGrace) }

// graceOf is how long a job that is stopped has.
func (j *job) graceOf() time.Duration {
	if j.hurry {
		return j.grace
	}
	return stopGrace
}

// wouldAct records what observe mode leaves undone, once for each in an alarm.
func (g *Governor) wouldAct(w watchdog.Judgement, c choice, v survey) {
	a := g.guard.alarm
	var r journal.Record
	if c.job != "" {
		r = g.about(g.jobs[c.job])
	} else {
		x := &v.trees[c.tree].exec
		r = journal.Record{PID: x.ID.PID, UID: &x.UID, Command: journal.Command(x.Argv), Family: lateFamily, Origin: x.Cgroup}
	}
	deed := "stopped"
	if c.deed == doCapture {
		deed = "put into a capped scope"
	}
	if key := fmt.Sprint(deed, r.PID); a.would[key] {
		return
	} else {
		a.would[key] = true
	}
	r = g.aboutVictim(journal.WouldStop, r, c, w)
	r.Reason = fmt.Sprintf("it would be %s: %s", deed, r.Reason)
	g.record(r)
}

// awaitVictim has nobody else acted on until the memory of this one is back.
func (g *Governor) awaitVictim(v *victim) {
	v.since, v.hadMB = time.Now(), watchdog.MB(g.guard.reading.MemAvailable)
	g.guard.victim = v
	if !v.captured {
		g.guard.watch.Stopping(max(v.usedMB, 0)<<20, v.since)
	}
}

// victimEnded takes in what became of a stop.
func (g *Governor) victimEnded(root proc.ID, err error) {
	if err != nil {
		g.guard.stuck.note(root)
	}
	v := g.guard.victim
	if v == nil || v.root != root {
		return
	}
	v.ended = time.Now()
	if err != nil {
		g.freed()
	}
}

// awaitMemory looks whether the memory of the last victim is back.
func (g *Governor) awaitMemory(now time.Time) {
	v := g.guard.victim
	if v == nil {
		return
	}
	available := watchdog.MB(g.guard.reading.MemAvailable)
	back := available >= 0 && v.hadMB >= 0 && available >= v.hadMB+max(v.usedMB, 0)/2
	switch {
	case now.Sub(v.since) >= victimWait:
		g.guard.stuck.note(v.root)
	case v.ended.IsZero(), !back && !v.captured && now.Sub(v.ended) < freedWait:
		return
	}
	g.freed()
}

func (g *Governor) freed() {
	g.guard.victim = nil
	g.guard.watch.Freed()
}

// orderTree has a tree ended by the placers.
func (g *Governor) orderTree(id string, root proc.ID, grace time.Duration) bool {
	if g.o.Trees == nil {
		return false
	}
	return g.order(order{verb: verbTree, jobID: id, exec: proc.Exec{ID: root}, grace: grace, spare: g.sparesBelow(root)})
}

// sparesBelow says what of a tree is left alone when it is ended: other jobs,
// and what got among its descendants since it was looked at.
func (g *Governor) sparesBelow(root proc.ID) func(pid int) bool {
	s, fs := g.sparing(), g.o.FS
	own := ""
	if at, err := fs.Cgroup(root.PID); err == nil {
		own, _ = scopeOf(at)
	}
	return func(pid int) bool {
		x := proc.Exec{ID: proc.ID{PID: pid}, Source: "bpf"}
		if fs.ReadFacts(&x) != nil || fs.ReadCommand(&x) != nil {
			return false // it has ended, and nothing is done to it
		}
		if scope, ok := scopeOf(x.Cgroup); ok && scope != own {
			return true
		}
		return !goesWithTree(&x, s.why(&x))
	}
}

// fell is the placers' part.
func (p *placer) fell(ctx context.Context, o order) outcome {
	out := outcome{order: o}
	if o.grace > 0 {
		time.Sleep(noteFirst)
	}
	out.moved, out.err = p.trees.Stop(ctx, o.exec.ID, o.grace, o.spare)
	return out
}

// felled takes in that a tree was ended, or was not.
func (g *Governor) felled(out outcome) {
	r := journal.Record{Event: journal.Ended, Job: out.order.jobID, PID: out.order.exec.ID.PID,
		ExitReason: fmt.Sprintf("stopped by the watchdog, with %d processes", out.moved)}
	if out.err != nil {
		r.Event, r.ExitReason, r.Reason = journal.Failed, "", fmt.Sprintf("it could not be ended: %v", out.err)
	}
	j := g.jobs[out.order.jobID]
	if j == nil || j.state == Placing || out.err != nil {
		g.record(r)
	}
	if j != nil && out.err != nil {
		j.stopped, j.endedReason, j.note = false, "", r.Reason
	}
	if j != nil && out.err == nil && !j.isolated && j.runs() && g.advance(j, stepGone) {
		g.book.End(j.id)
		g.ended(j, outcome{usage: contain.Usage{Gone: true}})
	}
	g.victimEnded(out.order.exec.ID, out.err)
}
