package contain

import (
	"cmp"
	"slices"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// softCap is what a job is held to.
type softCap struct {
	scope Scope // its Cgroup may be "": then it is the tree below Main
	limit int64 // bytes
	swap  int64 // bytes of swap beyond it; -1 unlimited
}

// softJob is a job that is held to its cap by measuring.
type softJob struct {
	// Guarded by the lock of SoftCaps.
	softCap
	kills  int64
	kill   SoftKill // the last one
	peak   int64    // bytes, the most that was measured
	shared int64    // over, as of the last look

	// Of its loop alone.
	over    int64 // what the sum of all counts too much, since several share it
	precise time.Time
	last    softSum
	tree    []int // without a cgroup: as of the last walk
	walked  time.Time
	swapped time.Time // when it was last asked what of it is swapped out
}

// softSum is one measuring of a job.
type softSum struct {
	at      time.Time
	bytes   int64      // what it has in memory, as far as it cannot be dropped
	swap    int64      // -1 where it was not looked at
	have    []softPart // the largest first; empty where it was not asked
	precise bool       // what is shared was counted once
	pids    int
}

// softPart is what one process has of a job's memory.
type softPart struct {
	pid   int
	bytes int64
}

// preciseFor is how long it is believed how much of the sum is shared, and
// nearFor close below the cap: what was shared may be written to, and is twice
// there then. Each finding out costs some 20 ms a gigabyte.
const (
	preciseFor = 2 * time.Second
	nearFor    = 250 * time.Millisecond
)

// sum measures the job. The cheap sums come first, since most jobs are far from
// their caps: what is resident (8 µs a process), then without files (25 µs),
// and what is shared counted once (20 ms a gigabyte) only where the others are
// over the cap.
func (j *softJob) sum(fs proc.FS, pids []int, limit int64, now time.Time) softSum {
	s := softSum{at: now, swap: -1, pids: len(pids)}
	for _, pid := range pids {
		if n, err := fs.Resident(pid); err == nil {
			s.bytes += n
		}
	}
	if s.bytes <= limit {
		return s
	}
	s = keptBy(fs, pids, now)
	believed := preciseFor
	if s.bytes-j.over > limit/10*9 {
		believed = nearFor
	}
	if s.bytes-j.over <= limit && now.Sub(j.precise) < believed {
		s.bytes -= j.over
		return s
	}
	if s.bytes <= limit {
		return s
	}
	precise := sharedBy(fs, pids, now)
	j.over, j.precise = max(s.bytes-precise.bytes, 0), now
	return precise
}

// keptBy is the sum without files; what several share counts for each.
func keptBy(fs proc.FS, pids []int, now time.Time) softSum {
	s := softSum{at: now, pids: len(pids)}
	for _, pid := range pids {
		m, err := fs.Memory(pid)
		if err != nil {
			continue
		}
		has := max(m.RssAnon, 0) + max(m.RssShmem, 0)
		s.bytes += has
		s.swap += max(m.Swap, 0)
		s.take(pid, has)
	}
	return s
}

// sharedBy is the sum in which what several share counts once.
func sharedBy(fs proc.FS, pids []int, now time.Time) softSum {
	s := softSum{at: now, precise: true, pids: len(pids)}
	for _, pid := range pids {
		sh, err := fs.Share(pid)
		if err != nil {
			// It may not be read (another user's, set-id), or the kernel is older than
			// 4.14: what it has without files is the best that there is.
			m, err := fs.Memory(pid)
			if err != nil {
				continue
			}
			sh = proc.Share{Anon: max(m.RssAnon, 0), Shmem: 0, Swap: m.Swap}
		}
		has := sh.Kept()
		s.bytes += has
		s.swap += max(sh.Swap, 0)
		s.take(pid, has)
	}
	return s
}

func (s *softSum) take(pid int, has int64) {
	if has > 0 {
		s.have = append(s.have, softPart{pid, has})
	}
}

// sorted puts the largest first.
func (s *softSum) sorted() {
	slices.SortFunc(s.have, func(a, b softPart) int { return cmp.Compare(b.bytes, a.bytes) })
}
