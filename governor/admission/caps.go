package admission

import "fmt"

// A cap is written only when it changes by this much: each write makes the
// kernel walk the cgroup, and MemAvailable trembles by some MB all the time.
const (
	worthMB      = 16
	worthPercent = 3
)

// roomMB is what a job may always still grow by before the next reading: a cap
// is never lowered to less than this above what is used.
const roomMB = 64

// Caps are the caps of the running jobs that should change at this reading.
// The book takes them for written; Capped tells it otherwise.
//
// While memory is free beyond the reserve and the promises, the jobs share it
// beyond what they were promised. When somebody waits for memory, they are
// lowered to their promises. When strangers took what was promised, what is
// left above the critical line is shared in proportion to what is owed. A
// quiet job keeps 1.25 times what it uses. No cap is lowered below what is
// used and 64 MB more, nor that of a job alone below what it would be given if
// it started now.
func (b *Book) Caps(m Machine, l Limits) []CapChange {
	if m.AvailableMB < 0 {
		return nil
	}
	l.MaxHeavyJobs = max(l.MaxHeavyJobs, 1)
	b.settle(m, l)
	c := capping{m: m, l: l, t: b.tally(), pressed: b.starved(m, l)}
	c.others = max(c.t.jobs-1, 0)
	c.freeMB = m.AvailableMB - l.ReserveMB - c.t.owedMB - zramShare(m, swapCap(m, l, c.others))

	var changes []CapChange
	for _, h := range b.began {
		if h.capMB <= 0 || h.paused {
			continue
		}
		target, why := c.target(h)
		target = c.bound(h, target)
		diff := target - h.capMB
		if max(diff, -diff) < worthMB || max(diff, -diff)*100 < h.capMB*worthPercent {
			continue
		}
		verb := "raised"
		if diff < 0 {
			verb = "lowered"
		}
		changes = append(changes, CapChange{Job: h.job, MemoryMB: target,
			Why: fmt.Sprintf("%s from %d to %d MB: %s", verb, h.capMB, target, why)})
		h.capMB = target
	}
	return changes
}

// Capped says what cap a job has after all: a write came to nothing, or
// somebody else changed it. What was caught of the job outside its scope
// counts as part of the cap here.
func (b *Book) Capped(job string, capMB int64) {
	if h := b.holders[job]; h != nil {
		h.capMB = max(capMB, 0)
	}
}

// starved is the job that waits for memory alone, a slot being free; "" when
// there is none.
func (b *Book) starved(m Machine, l Limits) string {
	t := b.tally()
	if w := b.turns.head(); w != nil && t.jobs < l.MaxHeavyJobs && budgetOf(m, l, t) < w.need(l).mb {
		return w.Job
	}
	if len(b.slotless.waiters) > 0 {
		w := b.slotless.waiters[0]
		if k := (look{m: m, l: l, t: t}); k.budget(w) < w.need(l).mb {
			return w.Job
		}
	}
	return ""
}

// capping is what the caps of one reading rest on.
type capping struct {
	m       Machine
	l       Limits
	t       tally
	others  int
	pressed string // who waits for memory
	freeMB  int64  // beyond the reserve and the promises
}

// target is the cap that the job should have, before it is bounded.
func (c *capping) target(h *holder) (mb int64, why string) {
	used := max(h.usedMB, 0)
	switch {
	case h.quiet && h.usedMB < 0:
		return h.capMB, ""
	case h.quiet:
		return max(used*5/4, used+roomMB), fmt.Sprintf("it is idle and uses %d MB", used)
	case c.freeMB < 0:
		owed := h.claim().OwedMB()
		left := max(c.m.AvailableMB-c.l.CriticalMB, 0)
		if c.t.owedMB > left {
			owed = owed * left / c.t.owedMB
		}
		return used + owed, fmt.Sprintf("%d MB are left above the critical line of %d MB", left, c.l.CriticalMB)
	case c.pressed != "":
		return max(h.claim().PromiseMB, used), fmt.Sprintf("%s waits for memory", c.pressed)
	}
	free := c.freeMB / int64(c.others+1)
	why = fmt.Sprintf("%d MB are free beyond the reserve", c.freeMB)
	if c.t.owedMB > 0 {
		why += " and what is promised"
	}
	if c.others > 0 {
		why += fmt.Sprintf(", for %d jobs", c.others+1)
	}
	return max(h.claim().PromiseMB, used) + free, why
}

// bound keeps the target within what is never gone below or above.
func (c *capping) bound(h *holder, target int64) int64 {
	if h.active() {
		target = max(target, c.floor(h))
	}
	target = max(target, MinCapMB)
	if c.l.JobMemoryMaxMB > 0 {
		target = min(target, max(c.l.JobMemoryMaxMB, MinCapMB))
	}
	if target < h.capMB {
		if h.usedMB < 0 {
			return h.capMB
		}
		target = max(target, min(h.capMB, h.usedMB+roomMB))
	}
	return target
}

// floor is the cap that a running job has though there is no budget for it.
func (c *capping) floor(h *holder) int64 {
	if c.others == 0 && c.pressed == "" {
		return max(min(h.capMB, c.m.AvailableMB+max(h.usedMB, 0)-c.l.CriticalMB), shareMB(c.m))
	}
	crowd := int64(c.others + 1)
	if c.pressed != "" {
		crowd++
	}
	return min(h.capMB, h.floorMB, shareMB(c.m)/crowd)
}

// Provisional is the cap in MB of a job that is held frozen: should the daemon
// die and all of them be let go at once, they share the budget. It is 0, no
// cap, where the machine's memory cannot be read.
func (b *Book) Provisional(m Machine, l Limits) int64 {
	budget := shareMB(m)
	switch {
	case m.AvailableMB >= 0:
		budget = budgetOf(m, l, b.tally())
	case m.TotalMB <= 0:
		return 0
	}
	held := int64(len(b.waiting) - len(b.slotless.waiters))
	return max(budget/(held+1), MinCapMB)
}
