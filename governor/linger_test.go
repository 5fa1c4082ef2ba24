package governor

import (
	"testing"
	"time"
)

// A job that only waits for the next of its kin keeps nothing from others.
func TestLingeringHoldsNoMemory(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.caught(200, "make")
		w.after(100 * time.Millisecond)
		first := w.job()
		w.proc.exit(200)
		w.after(2500 * time.Millisecond)
		if got := w.job().State; got != string(Lingering) || w.slots() != 0 {
			t.Fatalf("state %s, %d promises; want lingering, none", got, w.slots())
		}
		w.caught(300, "npm", "test")
		w.after(100 * time.Millisecond)
		for _, j := range w.snapshot().Jobs {
			if j.PID == 300 && j.MemoryCapMB != first.MemoryCapMB {
				t.Errorf("the next has %d MB, want %d MB as the first", j.MemoryCapMB, first.MemoryCapMB)
			}
		}
		// Kin comes back: the job counts again.
		w.fork(201, shell, 200, "cc1")
		w.tracer(201, false)
		w.after(100 * time.Millisecond)
		if n := w.slots(); n != 2 {
			t.Errorf("%d promises after kin came back, want 2", n)
		}
	})
}
