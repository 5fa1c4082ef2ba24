package watchdog

import (
	"slices"
	"time"
)

// stallOver is the time over which standing still is measured: the kernel's own
// avg10 tells of a stall seconds after it began.
const stallOver = 2 * time.Second

// stall is how long tasks stood still, from the kernel's running total.
type stall struct {
	from  time.Time
	total uint64
	share float64
	known bool
}

// add takes in a total in microseconds and returns the share of the last
// seconds, -1 while they are not over.
func (s *stall) add(total uint64, now time.Time) float64 {
	switch dt := now.Sub(s.from); {
	case s.from.IsZero(), total < s.total: // the first, or another cgroup of that name
		s.from, s.total, s.known = now, total, false
	case dt >= stallOver/2:
		share := float64(total-s.total) / float64(dt.Microseconds())
		if s.known { // the half before counts as much
			share = (share + s.share) / 2
		}
		s.from, s.total, s.share, s.known = now, total, min(share, 1), true
	}
	if !s.known {
		return -1
	}
	return s.share
}

// hurtAt is the share of time at which a protected unit counts as hurt.
const hurtAt = 0.2

// Protected takes in the pressure of a unit that is to be spared, read at now.
// Forget it with a nil pressure.
func (w *Watch) Protected(unit string, p *Pressure, now time.Time) {
	if p == nil {
		delete(w.units, unit)
		return
	}
	if w.units == nil {
		w.units = make(map[string]*stall)
	}
	s := w.units[unit]
	if s == nil {
		s = new(stall)
		w.units[unit] = s
	}
	s.add(p.Full.Total, now)
}

// hurt is the first protected unit that stands still; one that was not read of
// late says nothing.
func (w *Watch) hurt(now time.Time) string {
	var names []string
	for name, s := range w.units {
		if s.known && s.share >= hurtAt && now.Sub(s.from) < 2*stallOver {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return slices.Min(names)
}
