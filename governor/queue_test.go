package governor

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/loader/proc"
)

// TestFiveHundredWaiting: one user's five hundred commands share eight places,
// another's turn comes next, and all of them run in the end.
func TestFiveHundredWaiting(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.backend.with(func(b *fakeBackend) { b.placeTakes, b.joinTakes = 2*time.Millisecond, time.Millisecond })
		w.after(turn / 10)
		w.caught(200, "npm", "test")
		w.after(turn + turn/10)
		for i := range 500 {
			w.caught(1000+i, "make", fmt.Sprint(i))
			w.after(10 * time.Millisecond)
		}
		s := w.snapshot()
		if len(s.Queue) != crowdWaiting || len(s.Jobs) != 1 {
			t.Fatalf("%d wait and %d run, want %d and 1", len(s.Queue), len(s.Jobs), crowdWaiting)
		}
		in := 0
		for _, j := range s.Queue {
			pids, _ := w.proc.in(j.Cgroup)
			in += len(pids)
		}
		if in != 500 {
			t.Errorf("%d stand still in their scopes, want 500", in)
		}
		other := w.caughtOf(1001, 300, "pytest")
		w.after(turn / 2)
		if first := w.snapshot().Queue[0]; first.PID != 300 || other.Late() {
			t.Errorf("next is %+v, want the other user's", first)
		}
		w.proc.exit(200)
		w.after(turn)
		if w.frozen(300) {
			t.Error("the other user's does not run")
		}
		w.proc.exit(300)
		for range crowdWaiting {
			w.after(turn)
			running := w.snapshot().Jobs
			for _, j := range running {
				pids, _ := w.proc.in(j.Cgroup)
				for _, pid := range pids {
					w.proc.exit(pid)
				}
			}
		}
		w.after(turn)
		if n := len(w.snapshot().Queue); n != 0 {
			t.Errorf("%d still wait", n)
		}
	})
}

// TestTheFastClockRestsWithNothingHeld: what nobody waits for costs nothing.
func TestTheFastClockRestsWithNothingHeld(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.caught(200, "npm", "test")
		w.after(turn)
		if w.hurries() {
			t.Error("it goes with one job running")
		}
		w.caught(300, "make")
		w.after(turn / 2)
		if !w.hurries() {
			t.Error("it does not go while one waits")
		}
		w.proc.exit(200)
		w.after(2 * turn)
		if w.hurries() {
			t.Error("it still goes")
		}
	})
}

func (w *world) hurries() (goes bool) {
	w.t.Helper()
	if err := w.gov.do(w.t.Context(), func() { goes = w.gov.hurrying }); err != nil {
		w.t.Fatal(err)
	}
	return goes
}

func TestUserOf(t *testing.T) {
	tests := []struct {
		name       string
		login, uid uint32
		want       uint32
	}{
		{"who logged in", 1000, 1000, 1000},
		{"by sudo", 1000, 0, 1000},
		{"a service", proc.NoLoginUID, 33, 33},
	}
	for _, tt := range tests {
		if got := userOf(tt.login, tt.uid); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestCrowdBursts(t *testing.T) {
	var c crowd
	at := time.Unix(100, 0)
	for i := range crowdBurst {
		if c.bursts(1000, at) {
			t.Errorf("after %d", i)
		}
		c.made(1000, at)
		at = at.Add(200 * time.Millisecond)
	}
	if !c.bursts(1000, at) || c.bursts(1001, at) {
		t.Error("the fifth within a second, and of that user alone")
	}
	at = at.Add(200 * time.Millisecond)
	if c.bursts(1000, at) {
		t.Error("a second after the first")
	}
	c.forget(at.Add(time.Second))
	if len(c.last) != 0 {
		t.Errorf("%d are remembered", len(c.last))
	}
}

// TestCrowdsJoinOnlyWhatCameFromTheSamePlace: to join another's scope would be
// to leave the limits of that place.
func TestCrowdsJoinOnlyWhatCameFromTheSamePlace(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		for i := range 6 {
			w.fork(200+i, shell, 200+i, "make")
			if i == 5 {
				w.proc.change(205, func(n *fakeProcess) { n.cgroup = "/user.slice/user-1000.slice/session-3.scope" })
			}
			w.tracer(200+i, false)
		}
		w.after(turn / 2)
		if n := len(w.ledger.of(journal.Joined)); n != 1 {
			t.Errorf("%d joined, want the fifth alone", n)
		}
		if s := w.snapshot(); len(s.Jobs)+len(s.Queue) != crowdBurst+1 {
			t.Errorf("%d run, %d wait", len(s.Jobs), len(s.Queue))
		}
	})
}

func TestLimitsAreOrderedOneAtATime(t *testing.T) {
	// While a cap is being changed the book may have thought of the next one:
	// that one is in force at the end.
	running(t, nil, func(w *world) {
		for _, mb := range []float64{100, 200, 300, 150} {
			w.proc.change(200, func(n *fakeProcess) { n.rssMB = mb })
			w.after(turn)
		}
		w.after(2 * turn)
		var want int64
		if err := w.gov.do(w.t.Context(), func() {
			for _, c := range w.gov.book.Caps(machineOf(t, w), w.gov.o.Config.Resolve(machineOf(t, w))) {
				want = c.MemoryMB
			}
		}); err != nil {
			t.Fatal(err)
		}
		if want != 0 {
			t.Errorf("the book wants %d MB, in force is %d", want, w.job().MemoryCapMB)
		}
		if got := len(w.ledger.of(journal.Changed)); got != 1 {
			t.Errorf("told %d times in 6 s, want once", got)
		}
	})
}

func TestACapThatCannotBeSetIsTriedAgain(t *testing.T) {
	running(t, nil, func(w *world) {
		w.backend.with(func(b *fakeBackend) { b.limitErr = fmt.Errorf("no bus") })
		w.proc.change(200, func(n *fakeProcess) { n.rssMB = 200 })
		w.after(2 * turn)
		if w.job().MemoryCapMB != 460 {
			t.Fatalf("got %+v", w.job())
		}
		w.backend.with(func(b *fakeBackend) { b.limitErr = nil })
		w.after(2 * turn)
		if w.job().MemoryCapMB <= 460 {
			t.Errorf("got %+v", w.job())
		}
	})
}

func TestKeeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wrote := make(map[string][]string)
		k := newKeeper(func(path string, text []byte) error {
			time.Sleep(time.Second)
			wrote[path] = append(wrote[path], string(text))
			return nil
		})
		done := make(chan struct{})
		log := &logLines{}
		go func() { k.run(newLog(log)); close(done) }()
		k.keep("a", []byte("1"))
		time.Sleep(time.Second / 2)
		for _, text := range []string{"2", "3", "4"} {
			k.keep("a", []byte(text))
		}
		k.keep("b", []byte("1"))
		k.close()
		<-done
		if fmt.Sprint(wrote["a"], wrote["b"]) != "[1 4] [1]" {
			t.Errorf("wrote %v", wrote)
		}
	})
}
