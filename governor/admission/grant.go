package admission

import "fmt"

// fallbackPercent is the share of the memory that a job gets when the budget
// has nothing for it and the job starts all the same. Holding it would help
// only if something of ours were about to end.
const fallbackPercent = 40

// Grant says what a job that starts now may have beside those that run.
//
// The budget is what is available, minus the reserve, minus what the running
// jobs were promised and have not used yet, minus what the job's own swapping
// into zram would take. Every free slot has an equal share of it. Where no
// slot is free, or the budget is below the least start, the job is capped at
// what is left above the critical line, or at 40 % of the memory if that is
// more, divided by the number of jobs; only what the budget covers of it is
// promised, so that the sum of promises stays within the budget.
func Grant(m Machine, l Limits, running []Claim) Cap {
	swap := swapCap(m, l, len(running))
	if m.TotalMB <= 0 && m.AvailableMB < 0 {
		return Cap{SwapMB: swap, Why: "the machine's memory could not be read, so no cap can be named"}
	}
	if m.AvailableMB < 0 {
		c := fallback(m, l, running, 0)
		c.SwapMB = swap
		c.Why = fmt.Sprintf("available memory could not be read: %d MB is %s", c.MemoryMB, shareOfTotal(m, running))
		return c
	}

	unused := Unused(running)
	zram := zramShare(m, swap)
	budget := m.AvailableMB - l.ReserveMB - unused - zram
	free := l.MaxHeavyJobs - len(running)
	sum := fmt.Sprintf("%d MB available - %d MB reserve", m.AvailableMB, l.ReserveMB)
	if unused > 0 {
		sum += fmt.Sprintf(" - %d MB promised to running jobs", unused)
	}
	if zram > 0 {
		sum += fmt.Sprintf(" - %d MB for what it may put in zram", zram)
	}

	if free <= 0 || budget < max(l.MinStartMB, MinCapMB) {
		c := fallback(m, l, running, budget)
		c.SwapMB = swap
		c.Why = whyFallback(m, l, running, c, budget, free, sum)
		return c
	}

	promise := max(budget/int64(free), l.MinStartMB, MinCapMB)
	why := fmt.Sprintf("%s = %d MB", sum, budget)
	switch {
	case l.JobMemoryMaxMB > 0:
		promise = max(min(l.JobMemoryMaxMB, budget), MinCapMB)
		if promise < l.JobMemoryMaxMB {
			why += fmt.Sprintf(", less than job_memory_max_mb = %d", l.JobMemoryMaxMB)
		} else {
			why += fmt.Sprintf(", bounded to %d MB by job_memory_max_mb", promise)
		}
	case free > 1 && promise > budget/int64(free):
		why += fmt.Sprintf(", of which %d MB is the least a job starts with", promise)
	case free > 1:
		why += fmt.Sprintf(", divided by %d free slots is %d MB", free, promise)
	}
	return Cap{MemoryMB: promise, SwapMB: swap, PromiseMB: promise, Why: why}
}

// fallback is the cap of a job for which the budget has nothing.
func fallback(m Machine, l Limits, running []Claim, budget int64) Cap {
	memory := fallbackBase(m, l, running) / int64(len(running)+1)
	if l.JobMemoryMaxMB > 0 {
		memory = min(memory, l.JobMemoryMaxMB)
	}
	memory = max(memory, MinCapMB)
	return Cap{MemoryMB: memory, PromiseMB: min(memory, max(budget, 0))}
}

func fallbackBase(m Machine, l Limits, running []Claim) int64 {
	return max(aboveCritical(m, l, running), max(m.TotalMB, 0)*fallbackPercent/100)
}

func aboveCritical(m Machine, l Limits, running []Claim) int64 {
	return m.AvailableMB - l.CriticalMB - Unused(running)
}

func whyFallback(m Machine, l Limits, running []Claim, c Cap, budget int64, free int, sum string) string {
	lead := fmt.Sprintf("%s = %d MB is below the %d MB a job starts with", sum, budget, max(l.MinStartMB, MinCapMB))
	if free <= 0 {
		lead = fmt.Sprintf("all %d slots are taken", l.MaxHeavyJobs)
		if l.MaxHeavyJobs == 1 {
			lead = "the one slot is taken"
		}
	}
	share := fallbackBase(m, l, running) / int64(len(running)+1)
	switch {
	case c.MemoryMB < share:
		return fmt.Sprintf("%s: %d MB is job_memory_max_mb", lead, c.MemoryMB)
	case c.MemoryMB > share:
		return fmt.Sprintf("%s: %d MB is the smallest cap there is", lead, c.MemoryMB)
	case aboveCritical(m, l, running) > m.TotalMB*fallbackPercent/100:
		why := fmt.Sprintf("%s: %d MB is what is left above the critical line of %d MB", lead, c.MemoryMB, l.CriticalMB)
		if n := len(running); n > 0 {
			why += fmt.Sprintf(" and what is promised, divided by %d jobs", n+1)
		}
		return why
	}
	return fmt.Sprintf("%s: %d MB is %s", lead, c.MemoryMB, shareOfTotal(m, running))
}

func shareOfTotal(m Machine, running []Claim) string {
	s := fmt.Sprintf("%d %% of %d MB", fallbackPercent, m.TotalMB)
	if n := len(running); n > 0 {
		s += fmt.Sprintf(" divided by %d jobs", n+1)
	}
	return s
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
