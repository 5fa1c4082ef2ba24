package governor

import (
	"fmt"
	"time"

	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/journal"
)

// recap gives running jobs the caps that the present reading allows: more
// while memory is free, less when others need it.
func (g *Governor) recap() {
	if g.stopping {
		return
	}
	m, l := g.room()
	if m.AvailableMB < 0 {
		return
	}
	for _, c := range g.book.Caps(m, l) {
		j := g.jobs[c.Job]
		if j == nil || j.observed || !j.capped() || !j.runs() {
			continue
		}
		if j.state == Quiet && c.MemoryMB < j.granted() {
			// A dev server that wakes up grows by more than the margin within
			// one reading. It counts with what it uses, and keeps its cap.
			continue
		}
		j.want = admission.Cap{MemoryMB: c.MemoryMB, SwapMB: j.swapMB, Why: c.Why}
		g.recapJob(j)
	}
}

// capped reports whether somebody holds the job to its cap: the kernel, in its
// scope or its container, or who measures it.
func (j *job) capped() bool {
	return j.isolated && j.scope.MemoryController || j.scope.SoftCap || j.box != nil
}

// recapJob orders the cap that a job is to have, as soon as nothing else is
// under way for it: the book takes it for written.
func (g *Governor) recapJob(j *job) {
	if j.box != nil {
		g.recapBox(j)
		return
	}
	if j.want.MemoryMB > 0 && j.runs() && g.act(j, order{verb: verbLimit, jobID: j.id, scope: j.scope, cap: j.want, caught: j.caught}) {
		j.want = admission.Cap{}
	}
}

// limited takes in that a cap was changed.
func (g *Governor) limited(j *job, out outcome) {
	if out.err != nil {
		if !g.stopping && !g.lostScope(j, out.err) && g.told.news("limit "+j.id, time.Now()) {
			g.o.Log.Warn("change a job's cap", "job", j.id, "err", out.err)
		}
		if j.want.MemoryMB == 0 {
			j.want = out.order.cap // once more at the next turn
		}
		return
	}
	was := j.capMB
	j.scope = out.scope
	j.setCap(out.scope)
	if was == j.capMB || !j.notice(time.Now()) {
		return
	}
	r := g.about(j)
	r.Event, r.MemoryCapMB, r.SwapCapMB = journal.Changed, j.capMB, j.swapMB
	r.Reason = fmt.Sprintf("its cap is %d MB now, it was %d MB: %s", j.capMB, was, out.cap.Why)
	g.record(r)
}
