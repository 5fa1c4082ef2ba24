package admission

import (
	"fmt"
	"time"
)

// maxMB bounds what is believed of a size: a million GB.
const maxMB = 1 << 30

// need is what a job has to find free before it starts.
type need struct {
	mb     int64
	peakMB int64 // what it rests on; -1 when it rests on min_start_mb
	runs   int
}

// needOf is 1.25 times the learned peak: the peak is sampled, and the highest
// moment falls between two samples. Without one it is the least start.
func needOf(l Limits, peakMB int64, runs int) need {
	if peakMB <= 0 {
		return need{mb: leastStart(l), peakMB: -1}
	}
	peakMB = min(peakMB, maxMB)
	mb := (peakMB*5 + 3) / 4
	if l.JobMemoryMaxMB > 0 {
		mb = min(mb, l.JobMemoryMaxMB) // more would not be let through anyway
	}
	return need{mb: max(mb, MinCapMB), peakMB: peakMB, runs: runs}
}

func leastStart(l Limits) int64 { return max(l.MinStartMB, MinCapMB) }

// String names the need in a sentence that ends with it.
func (n need) String() string {
	if n.peakMB < 0 {
		return fmt.Sprintf("the %d MB a job starts with", n.mb)
	}
	return fmt.Sprintf("the %d MB it needs (%s)", n.mb, n.peaked())
}

func (n need) peaked() string {
	return fmt.Sprintf("peaked at %d MB in its %s", n.peakMB, lastRuns(n.runs))
}

func lastRuns(runs int) string {
	if runs <= 1 {
		return "last run"
	}
	return fmt.Sprintf("last %d runs", runs)
}

// need is what the waiter has to find free.
func (w *Waiter) need(l Limits) need { return needOf(l, w.PeakMB, w.Runs) }

// leastMB is what lets the waiter through the gate at this moment. After half
// of its patience the least start will do: a wrong memory must not starve it.
func (w *Waiter) leastMB(now time.Time, l Limits) int64 {
	n := w.need(l)
	if now.Sub(w.Since) >= w.Patience/2 {
		return min(n.mb, leastStart(l))
	}
	return n.mb
}

// over says that the waiter's patience is over.
func (w *Waiter) over(now time.Time) bool { return now.Sub(w.Since) >= w.Patience }

// TooLarge says that a job cannot have what it peaked at, even if all of ours
// had ended that use oursMB now; "" when it can, or when nothing is known. It
// says "now" where strangers have the memory and the machine itself is large
// enough.
func TooLarge(m Machine, l Limits, oursMB, peakMB int64, runs int) string {
	if peakMB <= 0 || m.AvailableMB < 0 {
		return ""
	}
	most := max(m.AvailableMB+max(oursMB, 0)-l.ReserveMB, 0)
	peaked := fmt.Sprintf("it peaked at %d MB in the %s", peakMB, lastRuns(runs))
	switch {
	case l.JobMemoryMaxMB > 0 && peakMB > l.JobMemoryMaxMB:
		return fmt.Sprintf("%s; job_memory_max_mb is %d", peaked, l.JobMemoryMaxMB)
	case peakMB <= most:
		return ""
	case peakMB <= m.TotalMB-l.ReserveMB:
		return fmt.Sprintf("%s; this machine can give %d MB now", peaked, most)
	}
	return fmt.Sprintf("%s; this machine can give %d MB", peaked, most)
}
