package admission

import "fmt"

// fallbackPercent is the share of the memory that a job gets when the budget
// has nothing for it and the job starts all the same. Holding it would help
// only if something of ours were about to end.
const fallbackPercent = 40

// Grant says what a job of which nothing is known may have when it starts now
// beside those that run.
//
// The budget is what is available, minus the reserve, minus what the running
// jobs were promised and have not used yet, minus what the job's own swapping
// into zram would take. Every free slot is promised an equal share of it. A job
// alone is capped at the whole budget, at 40 % of the memory at least, and where
// the budget is below that, at what is left above the critical line: a cap below
// would kill commands that work where nobody guards them, such as the 390 MB of
// an npm install on 1 GB with an agent of 300 MB. Where no slot is free, or the
// budget is below the least start, the job is capped at what is left above the
// critical line, or at 40 % of the memory if that is more, divided by the number
// of jobs; only what the budget covers of it is promised, so that the sum of
// promises stays within the budget.
func Grant(m Machine, l Limits, running []Claim) Cap {
	return GrantPeak(m, l, running, -1, 0)
}

// GrantPeak is Grant for a job whose peak was learned; -1 unknown. It is
// promised 1.25 times that, but its cap is never below what Grant would give:
// this run may be larger than those before.
func GrantPeak(m Machine, l Limits, running []Claim, peakMB int64, runs int) Cap {
	n := needOf(l, peakMB, runs)
	return grant(m, l, tally{jobs: len(running), owedMB: Unused(running)}, n, n.mb)
}

// grant is the cap of a job that starts now. leastMB is the budget below which
// it starts only as one for which there is none.
func grant(m Machine, l Limits, t tally, n need, leastMB int64) Cap {
	if m.AvailableMB < 0 {
		c := fallback(m, l, t, 0)
		switch {
		case m.TotalMB <= 0:
			c = Cap{SwapMB: c.SwapMB, Why: "the machine's memory could not be read, so no cap can be named"}
		default:
			c.Why = fmt.Sprintf("available memory could not be read: %d MB is %s", c.MemoryMB, shareOfTotal(m, t.jobs))
		}
		return c
	}
	budget := budgetOf(m, l, t)
	free := l.MaxHeavyJobs - t.jobs
	if free <= 0 || budget < leastMB {
		c := fallback(m, l, t, budget)
		c.Why = whyFallback(m, l, t, c, n)
		return c
	}

	share := min(max(budget/int64(free), leastStart(l)), max(budget, MinCapMB))
	why := fmt.Sprintf("%s = %d MB", sumOf(m, l, t), budget)
	switch {
	case l.JobMemoryMaxMB > 0:
		share = max(min(l.JobMemoryMaxMB, budget), MinCapMB)
		if share < l.JobMemoryMaxMB {
			why += fmt.Sprintf(", less than job_memory_max_mb = %d", l.JobMemoryMaxMB)
		} else {
			why += fmt.Sprintf(", bounded to %d MB by job_memory_max_mb", share)
		}
	case free > 1 && share > budget/int64(free):
		why += fmt.Sprintf(", of which %d MB is the least a job starts with", share)
	case free > 1:
		why += fmt.Sprintf(", divided by %d free slots is %d MB", free, share)
	}
	c := Cap{MemoryMB: share, SwapMB: swapCap(m, l, t.jobs), PromiseMB: share, Why: why}
	if n.peakMB > 0 {
		c.PromiseMB = min(n.mb, budget)
		c.MemoryMB = max(share, c.PromiseMB)
		c.Why += fmt.Sprintf("; %d MB of it are promised to it (%s)", c.PromiseMB, n.peaked())
	}
	if alone := aloneMB(m, l); t.jobs == 0 && (c.MemoryMB < alone || l.JobMemoryMaxMB == 0 && c.MemoryMB < budget) {
		what := shareOfTotal(m, 0)
		above := aboveCritical(m, l, t) - zramShare(m, c.SwapMB)
		switch {
		case l.JobMemoryMaxMB > 0:
		case budget >= alone:
			// What is free is nobody's before another one starts, and a reading
			// that raises its cap may come a second too late.
			alone, what = budget, "all of it until another one starts"
		case above > alone:
			alone, what = above, fmt.Sprintf("what is left above the critical line of %d MB", l.CriticalMB)
		}
		c.MemoryMB = alone
		c.Why += fmt.Sprintf("; alone it is capped at %d MB, %s", alone, what)
	}
	return c
}

// budgetOf is what may be promised to one more job; negative when strangers
// took more than the reserve.
func budgetOf(m Machine, l Limits, t tally) int64 {
	return m.AvailableMB - l.ReserveMB - t.owedMB - zramShare(m, swapCap(m, l, t.jobs))
}

func sumOf(m Machine, l Limits, t tally) string {
	sum := fmt.Sprintf("%d MB available - %d MB reserve", m.AvailableMB, l.ReserveMB)
	if t.owedMB > 0 {
		sum += fmt.Sprintf(" - %d MB promised to running jobs", t.owedMB)
	}
	if zram := zramShare(m, swapCap(m, l, t.jobs)); zram > 0 {
		sum += fmt.Sprintf(" - %d MB for what it may put in zram", zram)
	}
	return sum
}

// swapCap is what a job may swap: a job alone may use half of what is free,
// since nothing else of ours would wait for the disk it thrashes.
func swapCap(m Machine, l Limits, running int) int64 {
	switch {
	case l.SwapMB < 0:
		return -1
	case l.SwapMB > 0:
		return l.SwapMB
	case running == 0:
		return max(SwapDefaultMB, m.SwapFreeMB/2)
	}
	return SwapDefaultMB
}

func zramShare(m Machine, swap int64) int64 {
	if swap < 0 {
		swap = m.Zram.FreeMB()
	}
	return m.Zram.PhysicalShareMB(swap)
}
