package contain

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

const (
	softLeast = 5 * time.Millisecond   // between two measurings of a job that is about to reach its cap
	softMost  = 250 * time.Millisecond // and of one that is far from it
	// softShare is the part of a core that measuring may take: a job of a
	// thousand processes is looked at less often.
	softShare = 20
	// softFill is the least that a job is taken to grow by, in bytes a second.
	// One core of a Pi 4 touches new pages at some 600 MB/s.
	softFill = 600 << 20
	// softGone is how long a killed process is waited for before the next.
	softGone = 3 * time.Second
	// swapEach is how often it is asked what of a job was swapped out, 25 µs a
	// process.
	swapEach = time.Second
)

// SoftKill is what was killed at a soft cap.
type SoftKill struct {
	PID   int
	Name  string // of the process, by its own word
	Bytes int64  // that it had
	Sum   int64  // that the whole job had
	Cap   int64
	Took  time.Duration // from the signal until it was gone
}

// SoftCaps holds jobs to their caps where the kernel does not: it measures
// them, and kills the largest process of one that is over. A stock Raspberry Pi
// OS has no memory controller, and a user's processes are in no cgroup that he
// may limit. What a job touches between two measurings is over its cap: some
// 20 MB at full speed.
//
// Run measures; the other methods may be called from any goroutine.
type SoftCaps struct {
	fs   proc.FS
	cg   cgroups
	wake chan struct{}
	kill func(id proc.ID) (time.Duration, error)

	fill float64 // bytes a second, the fastest growth seen here; of Run alone

	mu   sync.Mutex
	jobs map[string]*softJob
}

// NewSoftCaps makes one without jobs. cgroupRoot is where the unified hierarchy
// is mounted, "" for none.
func NewSoftCaps(fs proc.FS, cgroupRoot string) *SoftCaps {
	s := &SoftCaps{fs: fs, cg: cgroups{cgroupRoot}, wake: make(chan struct{}, 1), jobs: make(map[string]*softJob)}
	s.kill = s.end
	return s
}

// softKey names a job: its cgroup, or the process below which it runs.
func softKey(sc Scope) string {
	if sc.Cgroup != "" {
		return sc.Cgroup
	}
	return sc.Main.String()
}

// Set holds a job to a cap in bytes, and to so many bytes of swap beyond it.
// A cap of 0 or Infinity lets it go.
func (s *SoftCaps) Set(sc Scope, limit, swap uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := softKey(sc)
	if limit == 0 || limit >= 1<<62 {
		delete(s.jobs, key)
		return
	}
	j := s.jobs[key]
	if j == nil {
		j = new(softJob)
		s.jobs[key] = j
	}
	j.softCap = softCap{scope: sc, limit: int64(limit), swap: -1}
	if swap < 1<<62 {
		j.softCap.swap = int64(swap)
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Drop forgets a job.
func (s *SoftCaps) Drop(sc Scope) {
	s.mu.Lock()
	delete(s.jobs, softKey(sc))
	s.mu.Unlock()
}

// Count is what is known of a job: how often something of it was killed, the
// last time, and the most that was measured. ok is false for a stranger.
func (s *SoftCaps) Count(sc Scope) (kills int64, last SoftKill, peak int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[softKey(sc)]
	if j == nil {
		return 0, SoftKill{}, 0, false
	}
	return j.kills, j.kill, j.peak, true
}

// Working is what the processes have in memory that cannot be dropped, in bytes.
func (s *SoftCaps) Working(sc Scope, pids []int) int64 {
	sum := keptBy(s.fs, pids, time.Now()).bytes
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.jobs[softKey(sc)]; j != nil {
		sum = max(sum-j.shared, 0)
	}
	return sum
}

// Run measures until ctx ends. Without a job it sleeps.
func (s *SoftCaps) Run(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		next := s.tick(time.Now())
		if next < 0 {
			timer.Stop()
		} else {
			timer.Reset(next)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
		case <-timer.C:
		}
	}
}

// tick measures those that are due, and returns when the next is; -1 never.
func (s *SoftCaps) tick(now time.Time) time.Duration {
	s.mu.Lock()
	jobs := slices.Collect(maps.Values(s.jobs))
	s.mu.Unlock()
	next := time.Duration(-1)
	began := time.Now()
	for _, j := range jobs {
		if wait := s.look(j, now); next < 0 || wait < next {
			next = wait
		}
	}
	if next < 0 {
		return next
	}
	return max(next, softShare*time.Since(began))
}

// look measures one job and kills its largest process if it is over its cap. It
// returns after what time it is due again.
func (s *SoftCaps) look(j *softJob, now time.Time) time.Duration {
	s.mu.Lock()
	w := j.softCap
	s.mu.Unlock()
	pids := s.members(j, w, now)
	sum := j.sum(s.fs, pids, w.limit, now)
	if dt := now.Sub(j.last.at).Seconds(); !j.last.at.IsZero() && dt > 0 && sum.pids == j.last.pids {
		// What was seen once does not count for ever: half of it after a minute.
		s.fill = max(s.fill*math.Exp2(-dt/60), float64(sum.bytes-j.last.bytes)/dt)
	}
	j.last = sum
	if w.swap >= 0 && !sum.precise && now.Sub(j.swapped) >= swapEach {
		// What was swapped out is in no sum of what is resident.
		j.swapped = now
		if all := keptBy(s.fs, pids, now); all.swap > w.swap && all.bytes+all.swap > w.limit+w.swap {
			sum = sharedBy(s.fs, pids, now)
		}
	}
	over := sum.precise && (sum.bytes > w.limit || w.swap >= 0 && sum.bytes+max(sum.swap, 0) > w.limit+w.swap)
	var killed *SoftKill
	if over {
		killed = s.act(j, w, sum)
	}
	s.mu.Lock()
	j.shared = j.over
	if sum.precise || sum.bytes <= w.limit {
		j.peak = max(j.peak, sum.bytes)
	}
	if killed != nil {
		j.kills, j.kill = j.kills+1, *killed
	}
	s.mu.Unlock()
	return s.interval(w.limit - sum.bytes)
}

// act kills the largest process of a job that may be killed. One that is gone by
// itself is nil: the next look finds what there is then.
func (s *SoftCaps) act(j *softJob, w softCap, sum softSum) *SoftKill {
	sum.sorted()
	for _, part := range sum.have {
		st, err := s.fs.Stat(part.pid)
		if err != nil || part.pid <= 1 || !s.belongs(w.scope, part.pid) || s.spared(part.pid) {
			continue
		}
		took, err := s.kill(st.ID)
		if isGone(err) {
			return nil // then the sum is another one, too
		}
		if err != nil {
			continue // another user's, for a governor without root
		}
		j.last = softSum{} // what it gives back is no slope
		j.tree = nil
		return &SoftKill{PID: part.pid, Name: st.Comm, Bytes: part.bytes, Sum: sum.bytes, Cap: w.limit, Took: took}
	}
	return nil
}

// spared is a program that runs with more rights than who started it: the
// kernel would kill it at a cap of its own, but root's hand is not to be lent.
func (s *SoftCaps) spared(pid int) bool {
	x := proc.Exec{ID: proc.ID{PID: pid}}
	return s.fs.ReadFacts(&x) == nil && (x.Secure || x.UID != x.EUID)
}

// interval is half of the time in which a job can use up its room.
func (s *SoftCaps) interval(room int64) time.Duration {
	wait := time.Duration(float64(max(room, 0)) / max(softFill, s.fill) / 2 * float64(time.Second))
	return min(max(wait, softLeast), softMost)
}

// members are the processes of a job.
func (s *SoftCaps) members(j *softJob, w softCap, now time.Time) []int {
	if w.scope.Cgroup != "" {
		pids, err := s.cg.allProcs(w.scope.Cgroup)
		if err != nil {
			return nil
		}
		if w.scope.Placeholder.PID == 0 {
			return pids
		}
		return without(pids, w.scope.Placeholder.PID)
	}
	// A walk takes some 100 µs a process: children are found soon enough.
	if now.Sub(j.walked) < softMost/2 && j.tree != nil {
		return j.tree
	}
	j.walked, j.tree = now, nil
	st, err := s.fs.Stat(w.scope.Main.PID)
	if err != nil || st.ID != w.scope.Main {
		return nil
	}
	j.tree = []int{w.scope.Main.PID}
	below, _ := s.fs.Descendants(w.scope.Main.PID)
	for _, id := range below {
		j.tree = append(j.tree, id.PID)
	}
	return j.tree
}

// belongs asks once more whether a process is of the job: between the list and
// the kill it may have ended, and its number may be another's.
func (s *SoftCaps) belongs(sc Scope, pid int) bool {
	if sc.Cgroup != "" {
		at, err := s.fs.Cgroup(pid)
		return err == nil && below(at, sc.Cgroup)
	}
	if pid == sc.Main.PID {
		return true
	}
	up, err := s.fs.Ancestors(pid, 64)
	if err != nil {
		return false
	}
	for _, a := range up {
		if a.ID == sc.Main {
			return true
		}
	}
	return false
}

// below reports whether a cgroup is another one or below it.
func below(cgroup, top string) bool {
	return cgroup == top || len(cgroup) > len(top) && cgroup[:len(top)] == top && cgroup[len(top)] == '/'
}

// end kills a process, takes its memory and waits until it is gone: the next
// measuring must not count it.
func (s *SoftCaps) end(id proc.ID) (time.Duration, error) {
	h, err := proc.Open(s.fs, id)
	if err != nil {
		return 0, err
	}
	defer h.Close()
	began := time.Now()
	if err := h.Signal(unix.SIGKILL); err != nil {
		return 0, err
	}
	h.Reap() // where it cannot be had the process gives its memory back itself
	for time.Since(began) < softGone {
		if over, err := h.Exited(); err != nil || over {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	return time.Since(began), nil
}
