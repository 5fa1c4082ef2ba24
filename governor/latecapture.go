package governor

import (
	"fmt"
	"time"

	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/governor/watchdog"
)

// lateFamily names what no rule knows.
const lateFamily = "unclassified"

// leastRoom is the least by which a captured tree may still grow: what is below
// that is killed by its own breathing.
const leastRoom = 32

// captureLate puts a tree that grows into a scope. What it has stays with the
// cgroup that it came from, and nothing is freed; but it may grow by no more
// than half of what is left above the critical line.
func (g *Governor) captureLate(t tree, c choice, w watchdog.Judgement) {
	x := t.exec
	x.Late, x.Seen, x.Source = true, time.Now(), "watchdog"
	j := g.newJob(&x, lateFamily, kin{mute: true}) // nothing joins it: what has room elsewhere must not share its cap
	j.late, j.lateUsedMB, j.lateGrownMB = true, t.usedMB, t.grownMB
	j.remedy = "The machine was running out of memory, and nothing had grown more."
	j.waits.agent = patienceOf(x.ID.PID, 0, g.o.FS, g.o.Rules, TicksNow()).agent
	g.noteCallers(j, &x)
	l := g.o.Config.Resolve(MachineOf(g.guard.reading))
	room := max((watchdog.MB(g.guard.reading.MemAvailable)-l.CriticalMB)/2, leastRoom)
	swap := min(max(watchdog.MB(g.guard.reading.SwapFree), 0)/2, admission.SwapDefaultMB)
	cap := admission.Cap{MemoryMB: room, SwapMB: swap, Why: fmt.Sprintf("it has %d MB already, and grows by no more than this", t.usedMB)}
	r := g.aboutVictim(journal.CapturedLate, g.about(j), c, w)
	r.MemoryCapMB, r.SwapCapMB = room, swap
	g.record(r)
	g.jobs[j.id] = j
	j.capMB = room
	g.guard.done.Captured++
	g.awaitVictim(&victim{job: j.id, root: j.root, captured: true})
	if !g.order(order{verb: verbPlace, jobID: j.id, unit: "headroom-" + j.id + ".scope", exec: x, tree: true, late: true, cap: cap,
		about: fmt.Sprintf("processes of uid %d that grew, held to %d MB more by headroomd", x.UID, room)}) {
		g.drop(j, stepLeft)
		g.freed()
	}
}

// mayKillCaptured reports whether what is being captured is to be looked at
// again: below the critical line it is not waited for.
func (g *Governor) mayKillCaptured(w watchdog.Judgement) bool {
	return g.guard.victim.captured && w.Alarm == watchdog.AlarmKill
}

// capturedLate takes in that a tree is in its scope, or is not to be: then it is
// not tried again.
func (g *Governor) capturedLate(j *job, out outcome) {
	if !j.late {
		return
	}
	if out.left != "" || out.err != nil {
		g.guard.fixed.note(j.root)
	}
	if v := g.guard.victim; v != nil && v.captured && v.root == j.root {
		g.freed()
	}
}

// easeLate gives what was captured late more room while the machine is calm: it
// may have been no hog at all.
func (g *Governor) easeLate() {
	if g.guard.alarm != nil || g.guard.now.Level != watchdog.Calm {
		return
	}
	m, l := g.room()
	for _, j := range g.inOrder() {
		if !j.late || !j.isolated || !j.runs() || j.memoryMB < 0 {
			continue
		}
		want := j.memoryMB + max((m.AvailableMB-l.ReserveMB)/2, leastRoom)
		if want >= j.capMB+max(leastRoom, j.capMB/4) {
			j.want = admission.Cap{MemoryMB: want, SwapMB: j.swapMB, Why: fmt.Sprintf("%d MB are available", m.AvailableMB)}
			g.recapJob(j)
		}
	}
}
