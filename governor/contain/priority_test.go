//go:build linux

package contain

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func TestRaise(t *testing.T) {
	ok := func() error { return nil }
	no := func() error { return unix.EPERM }
	for _, tt := range []struct {
		name       string
		fifo, nice func() error
		want       string
	}{
		{"real time", ok, no, "SCHED_FIFO 1"},
		{"no real time", no, ok, "nice -20 (SCHED_FIFO: operation not permitted)"},
		{"neither", no, no, "ordinary (SCHED_FIFO: operation not permitted; nice -20: operation not permitted)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := raise(tt.fifo, tt.nice); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPriorityOfThread(t *testing.T) {
	tr := NewTracer(Options{})
	if got := tr.Priority(); got != "not running yet" {
		t.Errorf("before it runs: %q", got)
	}
	tr.setPriority()
	if got := tr.Priority(); got != "ordinary, as asked" {
		t.Errorf("not asked for: %q", got)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with its priority
		if err := setFIFO(); err != nil {
			t.Logf("SCHED_FIFO: %v", err)
			return
		}
		attr, err := unix.SchedGetAttr(0, 0)
		if err != nil || attr.Policy != unix.SCHED_FIFO || attr.Priority != 1 || attr.Flags&unix.SCHED_FLAG_RESET_ON_FORK == 0 {
			t.Errorf("got %+v, %v", attr, err)
		}
	}()
	<-done
}

func TestStateNames(t *testing.T) {
	for s, want := range map[State]string{NotStopped: "not stopped", Stopped: "stopped", Released: "released", Late: "late", Failed: "failed", -1: "unknown", Failed + 1: "unknown"} {
		if got := s.String(); got != want {
			t.Errorf("%d: got %q, want %q", s, got, want)
		}
	}
}
