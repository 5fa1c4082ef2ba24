package governor

import (
	"errors"
	"testing"
	"time"
)

// TestManyAtOnce is a burst of everything at once, for the race detector and
// for what may deadlock: groups begin, join, are refused, fail and end while
// snapshots are asked for and the source loses events.
func TestManyAtOnce(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.backend.with(func(b *fakeBackend) { b.placeTakes, b.joinTakes = 7*time.Millisecond, 3*time.Millisecond })
		w.after(turn / 10)
		pid := 1000
		for round := range 25 {
			w.backend.with(func(b *fakeBackend) {
				b.refuse, b.placeErr = "", nil
				switch round % 4 {
				case 1:
					b.refuse = "boxed"
				case 3:
					b.placeErr = errors.New("no bus")
				}
			})
			first := pid
			for i := range 4 {
				w.fork(pid, shell, first, "cc1", "a.c")
				w.tracer(pid, i == 3)
				pid++
			}
			w.sight.lose(uint64(round % 2))
			w.after(time.Duration(round%5) * 4 * time.Millisecond)
			w.snapshot()
			if round%3 == 0 {
				w.proc.exit(first)
			}
		}
		w.after(2 * turn)
		for p := 1000; p < pid; p++ {
			if w.proc.has(p) {
				w.proc.exit(p)
			}
		}
		w.after(linger + 3*turn)
		if n := len(w.snapshot().Jobs); n != 0 || w.slots() != 0 || len(w.sight.ignored) != 0 {
			t.Errorf("%d jobs, %d promises, %d ignored are left", n, w.slots(), len(w.sight.ignored))
		}
	})
}
