package admission

import "fmt"

// fallback is the cap of a job for which the budget has nothing.
func fallback(m Machine, l Limits, t tally, budget int64) Cap {
	memory := fallbackBase(m, l, t) / int64(t.jobs+1)
	if l.JobMemoryMaxMB > 0 {
		memory = min(memory, l.JobMemoryMaxMB)
	}
	memory = max(memory, MinCapMB)
	return Cap{MemoryMB: memory, SwapMB: swapCap(m, l, t.jobs), PromiseMB: min(memory, max(budget, 0))}
}

func fallbackBase(m Machine, l Limits, t tally) int64 {
	return max(aboveCritical(m, l, t), shareMB(m))
}

func aboveCritical(m Machine, l Limits, t tally) int64 {
	return m.AvailableMB - l.CriticalMB - t.owedMB
}

// shareMB is the part of the memory that is never refused to a job alone.
func shareMB(m Machine) int64 { return max(m.TotalMB, 0) * fallbackPercent / 100 }

// aloneMB is the least cap of a job alone.
func aloneMB(m Machine, l Limits) int64 {
	if l.JobMemoryMaxMB > 0 {
		return min(shareMB(m), l.JobMemoryMaxMB)
	}
	return shareMB(m)
}

func whyFallback(m Machine, l Limits, t tally, c Cap, n need) string {
	lead := fmt.Sprintf("%s = %d MB is below %s", sumOf(m, l, t), budgetOf(m, l, t), n)
	if t.jobs >= l.MaxHeavyJobs {
		lead = fmt.Sprintf("all %d slots are taken", l.MaxHeavyJobs)
		if l.MaxHeavyJobs <= 1 {
			lead = "the one slot is taken"
		}
	}
	share := fallbackBase(m, l, t) / int64(t.jobs+1)
	switch {
	case c.MemoryMB < share:
		return fmt.Sprintf("%s: %d MB is job_memory_max_mb", lead, c.MemoryMB)
	case c.MemoryMB > share:
		return fmt.Sprintf("%s: %d MB is the smallest cap there is", lead, c.MemoryMB)
	case aboveCritical(m, l, t) > shareMB(m):
		why := fmt.Sprintf("%s: %d MB is what is left above the critical line of %d MB", lead, c.MemoryMB, l.CriticalMB)
		if t.jobs > 0 {
			why += fmt.Sprintf(" and what is promised, divided by %d jobs", t.jobs+1)
		}
		return why
	}
	return fmt.Sprintf("%s: %d MB is %s", lead, c.MemoryMB, shareOfTotal(m, t.jobs))
}

func shareOfTotal(m Machine, running int) string {
	s := fmt.Sprintf("%d %% of %d MB", fallbackPercent, m.TotalMB)
	if running > 0 {
		s += fmt.Sprintf(" divided by %d jobs", running+1)
	}
	return s
}
