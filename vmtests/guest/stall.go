package guest

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Stalls watches each CPU for the moments in which the emulator's host took it
// away: a thread of the highest priority there sleeps for a millisecond at a
// time and notes when it woke much too late. Nothing in the guest can cause
// that but the kernel itself.
type Stalls struct {
	mu    sync.Mutex
	worst []stall
}

type stall struct {
	at  time.Time
	gap time.Duration
}

// stallFrom is the gap from which a CPU counts as taken away: a wake-up of such
// a thread takes 1-5 ms under emulation.
const stallFrom = 25 * time.Millisecond

// WatchStalls watches until the end of the test.
func WatchStalls(t testing.TB) *Stalls {
	s := &Stalls{}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for cpu := range runtime.NumCPU() {
		wg.Go(func() { s.watch(t, cpu, stop) })
	}
	t.Cleanup(func() { close(stop); wg.Wait() })
	return s
}

func (s *Stalls) watch(t testing.TB, cpu int, stop <-chan struct{}) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		t.Errorf("watch CPU %d: %v", cpu, err)
		return
	}
	fifo := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 50}
	if err := unix.SchedSetAttr(0, &fifo, 0); err != nil {
		t.Errorf("watch CPU %d: %v", cpu, err)
		return
	}
	for {
		select {
		case <-stop:
			return
		default:
		}
		before := time.Now()
		nap := unix.Timespec{Nsec: int64(time.Millisecond)}
		_ = unix.Nanosleep(&nap, nil) // cut short by a signal, it is only a shorter nap
		if now := time.Now(); now.Sub(before) >= stallFrom {
			s.mu.Lock()
			s.worst = append(s.worst, stall{now, now.Sub(before)})
			s.mu.Unlock()
		}
	}
}

// Since is the longest time for which a CPU was away since then.
func (s *Stalls) Since(then time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.worst = slices.DeleteFunc(s.worst, func(w stall) bool { return w.at.Before(then) })
	worst := time.Duration(0)
	for _, w := range s.worst {
		worst = max(worst, w.gap)
	}
	return worst
}
