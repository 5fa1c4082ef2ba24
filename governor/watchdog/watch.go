package watchdog

import (
	"math"
	"time"
)

// Alarm is what has to be done about the memory.
type Alarm int

// The alarms, from none to the worst.
const (
	AlarmNone Alarm = iota
	AlarmAct        // stop, or put a cap on, what grows: in a moment it is too late
	AlarmKill       // below the critical line with nothing left to swap to: no time for a long grace
)

func (a Alarm) String() string {
	switch a {
	case AlarmAct:
		return "act"
	case AlarmKill:
		return "kill"
	}
	return "none"
}

// Judgement is what one reading, after those before it, says of the machine.
type Judgement struct {
	Level         Level         // of available memory and swap together
	Alarm         Alarm         // what has to be done
	Slope         float64       // bytes a second that are gained, negative where memory is lost; NaN while it is not known
	UntilCritical time.Duration // at that slope; -1 never
	Grace         time.Duration // how long what is stopped may take to end by itself
	LookAway      time.Duration // until the next reading is due
	Stalled       float64       // share of the last seconds in which everything stood still for want of memory; -1 unknown
	Hurt          string        // the protected unit that stands still for want of memory; "" for none
	Why           string        // one sentence with the numbers
}

const (
	// actBefore is how long before the critical line something has to be done:
	// a late capture takes some 0.1 s where nothing else happens and a second
	// on a machine that is short of memory.
	actBefore = 1500 * time.Millisecond

	// leastAway and mostAway bound the time between two readings. One takes
	// some 50 µs natively: 50 a second are 0.3 % of a core, and one a second
	// is nothing.
	leastAway = 20 * time.Millisecond
	mostAway  = time.Second
	// levelAway is the least where nothing was lost since the last reading.
	levelAway = 50 * time.Millisecond

	// fillRate is the least that a machine is taken to fill at, in bytes a
	// second. One core of a Pi 4 touches new pages at some 0.6 GB/s; 9.5 GB in
	// 103 s were seen of real jobs. What was seen faster here counts instead.
	fillRate = 512 << 20

	// slopeOver is over what time a slope is smoothed: long enough for one
	// allocation not to be a trend, short enough for 1 GB at 500 MB/s.
	slopeOver = 400 * time.Millisecond

	// leastFall is the slope, in bytes a second, that is no fall any more.
	leastFall = 1 << 20

	// mostGrace is for a victim on a machine that is not getting worse.
	mostGrace = 5 * time.Second

	// stalledAt is the share of time standing still at which a machine that
	// still has swap counts as hurt: it does nothing else than swap.
	stalledAt = 0.25
)

// Watch judges one reading after the other. The zero value is ready. It is not
// for concurrent use.
type Watch struct {
	last    time.Time
	room    int64   // of the last reading: bytes until nothing is left
	slope   float64 // NaN until there were two readings
	known   bool
	falls   int     // readings in a row that lost memory
	below   int     // readings in a row below the critical line
	fastest float64 // bytes a second, seen to be lost
	stall   stall
	units   map[string]*stall
	spared  time.Time // until then a loss is no trend: something is being stopped
	backAt  int64     // room at which its memory is back
}

// See judges r, taken at now. The lines are the present ones.
func (w *Watch) See(r Reading, l Lines, now time.Time) Judgement {
	j := Judgement{Level: NotKnown, Slope: math.NaN(), UntilCritical: -1, Grace: mostGrace, LookAway: mostAway, Stalled: -1}
	if r.MemAvailable < 0 {
		j.Why = "the kernel does not tell how much memory is available"
		return j
	}
	swap := r.swapRoom()
	critical := l.CriticalMB << 20
	w.learn(r.MemAvailable+swap, now)
	if w.room >= w.backAt {
		w.spared = time.Time{}
	}
	if r.PSI != nil {
		j.Stalled = w.stall.add(r.PSI.Full.Total, now)
	}
	j.Hurt = w.hurt(now)
	if w.known {
		j.Slope = w.slope
	}
	j.Level = r.Level(l)
	if j.Level == Critical && swap >= critical {
		// It swaps, and goes on.
		j.Level = Tight
	}
	if r.MemAvailable < critical {
		w.below++
	} else {
		w.below = 0
	}
	distance := max(r.MemAvailable+swap-critical, 0)
	if w.known && w.slope < 0 {
		j.UntilCritical = seconds(float64(distance) / -w.slope)
	}
	j.Alarm = w.alarm(r, l, j, now)
	j.Grace = w.grace(r, l, j)
	j.LookAway = w.away(r.MemAvailable-critical, j)
	j.Why = r.why(l, j)
	return j
}

// learn takes in what is left until there is nothing.
func (w *Watch) learn(room int64, now time.Time) {
	defer func() { w.last, w.room = now, room }()
	if w.last.IsZero() || !now.After(w.last) {
		return
	}
	dt := now.Sub(w.last).Seconds()
	rate := float64(room-w.room) / dt
	if rate < 0 {
		w.falls++
		w.fastest = max(w.fastest, -rate)
	} else if rate > 0 {
		w.falls = 0 // nothing lost says nothing: memory is taken in steps
	}
	// What was seen once does not count for ever: half of it after a minute.
	w.fastest *= math.Exp2(-dt / 60)
	if !w.known {
		w.slope, w.known = rate, true
		return
	}
	part := 1 - math.Exp(-dt/slopeOver.Seconds())
	w.slope += part * (rate - w.slope)
	if w.slope > -leastFall {
		w.falls = 0
	}
}

// alarm is raised by two readings in a row, so that a dip which is over at once
// costs nobody's job. Where a third of the critical line is left, or a second
// reading would be too late, one is enough.
func (w *Watch) alarm(r Reading, l Lines, j Judgement, now time.Time) Alarm {
	critical := l.CriticalMB << 20
	if r.MemAvailable < critical && w.below >= 2 || r.MemAvailable < critical/3 {
		if r.swapRoom() < critical || j.Stalled >= stalledAt || j.Hurt != "" {
			return AlarmKill
		}
	}
	switch {
	case now.Before(w.spared):
		return AlarmNone // what is being stopped gives its memory back
	case j.Level == Calm:
		// However fast it falls: a job that is started takes memory, and its cap
		// ends that.
		return AlarmNone
	case j.UntilCritical >= 0 && j.UntilCritical < actBefore && w.falls >= 2:
		return AlarmAct
	case j.Hurt != "":
		return AlarmAct
	case j.Stalled >= stalledAt && r.MemAvailable < critical:
		return AlarmAct
	}
	return AlarmNone
}

// grace shrinks with what is left: nobody may take longer than a quarter of the
// time that there is.
func (w *Watch) grace(r Reading, l Lines, j Judgement) time.Duration {
	grace := mostGrace
	if w.known && w.slope < 0 {
		grace = min(grace, seconds(float64(max(r.MemAvailable+r.swapRoom(), 0))/-w.slope/4))
	}
	if critical := l.CriticalMB << 20; j.Alarm == AlarmKill && critical > 0 {
		grace = min(grace, seconds(float64(r.MemAvailable)/float64(critical)))
	}
	return grace
}

// away is half of the time in which the distance to the critical line can be
// used up, by the largest plausible rate.
func (w *Watch) away(distance int64, j Judgement) time.Duration {
	rate := max(fillRate, 2*w.fastest)
	away := seconds(float64(max(distance, 0)) / rate / 2)
	if j.UntilCritical >= 0 {
		away = min(away, j.UntilCritical/4)
	}
	least := leastAway
	if w.falls == 0 {
		least = levelAway
	}
	return min(max(away, least), mostAway)
}

// Stopping says that something was told to end which has so many bytes. Until
// three quarters of them are back (or Freed says so, or a while has passed)
// what is lost meanwhile is no trend: only the critical line itself raises an
// alarm.
func (w *Watch) Stopping(bytes int64, now time.Time) {
	w.spared, w.backAt = now.Add(sparedFor), w.room+bytes/4*3
}

// sparedFor is longer than any grace and what a kill takes under pressure.
const sparedFor = 15 * time.Second

// Freed says that what was being stopped is gone. What it gave back is no trend
// either.
func (w *Watch) Freed() { w.spared, w.known, w.falls, w.last = time.Time{}, false, 0, time.Time{} }

// seconds is a duration; what is longer than a day is a day.
func seconds(s float64) time.Duration {
	const day = 24 * 60 * 60
	return time.Duration(min(max(s, 0), day) * float64(time.Second))
}
