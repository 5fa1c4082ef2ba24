package governor

import "time"

// pace is how much a job does.
type pace int

const (
	paceBusy  pace = iota
	paceIdle       // nothing for 5 s: it gives way while somebody waits
	paceQuiet      // nothing for a minute, or it gave way: it stays so until it works again
)

// pulse is one reading of a job.
type pulse struct {
	at      time.Time
	cpu     int64 // µs used since it began; -1 unknown
	working int64 // bytes of anon, shmem and kernel memory; -1 unknown
	stopped bool  // all its processes are (Ctrl-Z)
}

const (
	calmShare = 0.02 // of one core: what a server that nobody talks to spends on its timers
	busyShare = 0.10 // the two are apart, so that a job between them stays what it is
	idleAfter = 5 * time.Second
	quietTime = time.Minute
	busyTime  = 3 * time.Second // a compiler that starts again is seen by then
)

// calmGrowth and busyGrowth are how much more memory than at its least a job
// may have: garbage collectors let an idle heap breathe.
func calmGrowth(working int64) int64 { return max(8<<20, working/32) }
func busyGrowth(working int64) int64 { return max(32<<20, working/10) }

// stillness tells from a job's pulses whether it does anything. Who waits for
// another uses no CPU, so this finds every deadlock between a holder of a slot
// and one who waits for it, whatever they share. The zero value is ready.
//
// The loop has one a job and calls add with each sample. On paceIdle, while
// somebody waits, or on paceQuiet it gives slot and promise back (Book.SetQuiet)
// and calls rest; on paceBusy after that it takes them again. A pulse without a
// CPU time says nothing, and such a job is never taken for idle, unless it is
// stopped.
type stillness struct {
	from    pulse // since when the job has been calm
	recent  pulse // the start of the latest look at whether it works again
	last    time.Time
	floor   int64 // least memory since from; -1 unknown
	resting bool
}

// add takes the next pulse in. One that is not later than the last is dropped.
func (s *stillness) add(p pulse) pace {
	first := s.last.IsZero()
	if !first && !p.at.After(s.last) {
		return s.pace()
	}
	s.last = p.at
	if p.cpu < 0 && p.stopped && !first {
		p.cpu = s.recent.cpu // what is stopped used none
	}
	switch {
	case first, s.resting && s.wakes(p), !s.resting && !s.calm(p):
		s.restart(p)
	}
	s.sink(p.working)
	if p.at.Sub(s.recent.at) >= busyTime || s.recent.cpu < 0 {
		s.recent = p
	}
	if s.pace() == paceQuiet {
		s.resting = true
	}
	return s.pace()
}

// rest notes that the job gave way: it is quiet from now on, until it works.
func (s *stillness) rest() { s.resting = true }

func (s *stillness) pace() pace {
	calm := s.last.Sub(s.from.at)
	switch {
	case s.resting, calm >= quietTime:
		return paceQuiet
	case calm >= idleAfter:
		return paceIdle
	}
	return paceBusy
}

// restart begins to look anew.
func (s *stillness) restart(p pulse) {
	s.from, s.recent, s.floor, s.resting = p, p, -1, false
}

// calm reports whether the job, from its first calm pulse to p, used no more
// than its share of a core and did not grow. In the first 5 s it may use the
// share of 5 s at once.
func (s *stillness) calm(p pulse) bool {
	used := p.cpu - s.from.cpu
	if p.cpu < 0 || s.from.cpu < 0 || used < 0 {
		return false
	}
	elapsed := max(p.at.Sub(s.from.at), idleAfter)
	return float64(used) <= calmShare*float64(elapsed.Microseconds()) && !s.grown(p.working, calmGrowth)
}

// wakes reports whether a quiet job works again: within the last 3 s or so, for
// over its whole rest it may have saved up much.
func (s *stillness) wakes(p pulse) bool {
	if s.grown(p.working, busyGrowth) {
		return true
	}
	elapsed := p.at.Sub(s.recent.at)
	if p.cpu < 0 || s.recent.cpu < 0 || elapsed < busyTime {
		return false
	}
	used := p.cpu - s.recent.cpu
	return used < 0 || float64(used) > busyShare*float64(elapsed.Microseconds())
}

func (s *stillness) grown(working int64, by func(int64) int64) bool {
	return working >= 0 && s.floor >= 0 && working > s.floor+by(s.floor)
}

func (s *stillness) sink(working int64) {
	if working >= 0 && (s.floor < 0 || working < s.floor) {
		s.floor = working
	}
}
