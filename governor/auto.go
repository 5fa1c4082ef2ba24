package governor

import "github.com/headroomd/headroomd/governor/admission"

// gb is the unit of the thresholds, in MB. They are compared with MemTotal,
// which is a few percent below what was sold: a board of 4 GB has some 3,790
// MB and runs one job, the safe side of the line.
const gb = 1024

// autoLimits are the limits of a machine with totalMB of memory. Below 1 GB
// the lower bounds, made for larger machines, would eat most of it, so a share
// of the memory bounds them.
func autoLimits(totalMB int64) admission.Limits {
	totalMB = max(totalMB, 0)
	l := admission.Limits{
		MaxHeavyJobs: 4,
		ReserveMB:    min(max(percent(totalMB, 15), 256), 2048),
		MinStartMB:   min(max(percent(totalMB, 10), 192), 1024),
		CriticalMB:   min(max(percent(totalMB, 5), 96), 512),
	}
	switch {
	case totalMB < 4*gb:
		l.MaxHeavyJobs = 1
	case totalMB < 16*gb:
		l.MaxHeavyJobs = 2
	}
	if totalMB < gb && totalMB > 0 {
		l.ReserveMB = min(l.ReserveMB, percent(totalMB, 25))
		l.MinStartMB = min(l.MinStartMB, percent(totalMB, 15))
		l.CriticalMB = min(l.CriticalMB, percent(totalMB, 10))
	}
	return l
}

func percent(of, share int64) int64 { return of * share / 100 }
