package governor

import (
	"testing"
	"time"
)

func TestKinOfAGoneRootIsTheJob(t *testing.T) {
	// Seen by polling, a short compiler is over before its scope is made. Its
	// successors of the same group must not run uncapped for it.
	inWorld(t, nil, func(w *world) {
		w.after(100 * time.Millisecond)
		w.spawn(200, "cc1", "a.c")
		w.found(200, false)
		w.after(10 * time.Millisecond)
		w.proc.exit(200)
		for _, pid := range []int{201, 202} {
			w.fork(pid, shell, 200, "cc1", "b.c")
			w.tracer(pid, false)
		}
		w.after(500 * time.Millisecond)
		w.wantEvents("captured left captured placed joined")
		if j := w.job(); j.PID != 201 || j.State != string(Running) {
			t.Errorf("got %+v", j)
		}
	})
}

func TestStopTellsNothingOfBusyPlacers(t *testing.T) {
	tests := []struct {
		name string
		do   func(w *world)
		want string
	}{
		{"placed all the same", func(w *world) {}, "captured placed stopped"},
		{"gone", func(w *world) { w.proc.exit(200) }, "captured left stopped"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, nil, func(w *world) {
				w.backend.with(func(b *fakeBackend) { b.deaf = true })
				w.caught(200, "make")
				w.fork(201, shell, 200, "cc1")
				w.tracer(201, false)
				w.after(10 * time.Millisecond)
				test.do(w)
				w.cancel()
				<-w.ended
				w.wantEvents(test.want)
			})
		})
	}
}
