package governor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/loader/proc"
)

// placing carries out one order to place pid 200, which has touched 20 MB, on
// a fake machine; a nil catch says that nobody tried to stop it.
func placing(t *testing.T, set func(w *world, o *order)) (out outcome, w *world) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(t, nil)
		w.spawn(200, "npm", "test")
		w.proc.change(200, func(n *fakeProcess) { n.rssMB = 20 })
		x := proc.Exec{ID: proc.ID{PID: 200}, Seen: time.Now()}
		if err := errors.Join(w.proc.fs().ReadCommand(&x), w.proc.fs().ReadFacts(&x)); err != nil {
			t.Fatal(err)
		}
		o := order{verb: verbPlace, jobID: "npm-00000001", unit: "headroom-npm-00000001.scope", exec: x,
			catch: newFakeCatch(200, false, w.act), cap: admission.Cap{MemoryMB: 100, SwapMB: 256, Why: "so much is free"}}
		set(w, &o)
		out = run(w, o)
		if c, ok := o.catch.(*fakeCatch); ok && (c.Stopped() || c.releases() == 0) {
			t.Error("the catch outlives its order")
		}
	})
	return out, w
}

// run is a placer's life with one order in it.
func run(w *world, o order) outcome {
	orders, outcomes := make(chan order, 1), make(chan outcome, 1)
	orders <- o
	close(orders)
	p := &placer{backend: w.backend, sight: w.sight, fs: w.proc.fs(), log: w.gov.o.Log, now: time.Now}
	p.run(context.Background(), orders, outcomes)
	return <-outcomes
}

func TestPlace(t *testing.T) {
	slow := func(w *world, grow float64) {
		w.backend.with(func(b *fakeBackend) { b.placeTakes = 400 * time.Millisecond })
		time.AfterFunc(300*time.Millisecond, func() {
			w.proc.change(200, func(n *fakeProcess) { n.rssMB = grow })
			w.fork(201, 200, 200, "node")
		})
	}
	tests := []struct {
		name         string
		set          func(w *world, o *order)
		caught       float64
		capMB, moved int
		limits       int // calls of SetLimits
		tree         bool
	}{
		{"stopped: taken off before", func(*world, *order) {}, 20, 80, 1, 0, false},
		{"stopped, found late: its tree too", func(_ *world, o *order) { o.tree = true }, 20, 80, 1, 0, true},
		{"not stopped: taken off after", func(w *world, o *order) { o.catch = newFakeCatch(200, true, w.act) }, 20, 80, 1, 1, true},
		{"nobody tried", func(_ *world, o *order) { o.catch = nil }, 20, 80, 1, 1, true},
		{"with descendants", func(w *world, o *order) {
			o.catch = nil
			w.fork(201, 200, 200, "node")
			w.proc.change(201, func(n *fakeProcess) { n.rssMB = 10 })
		}, 30, 70, 2, 1, true},
		{"let go at the bound: taken off twice, children gathered", func(w *world, _ *order) { slow(w, 30) }, 30, 70, 2, 1, false},
		{"let go at the bound, all of the cap", func(w *world, _ *order) { slow(w, 500) }, 500, 64, 2, 1, false},
		{"what it touches in its scope is charged there", func(w *world, _ *order) {
			slow(w, 30)
			// it is moved at 400 ms, and its child 20 ms later
			time.AfterFunc(410*time.Millisecond, func() { w.proc.change(200, func(n *fakeProcess) { n.rssMB = 45 }) })
		}, 30, 70, 2, 1, false},
		{"nothing more was touched", func(w *world, _ *order) { slow(w, 20) }, 20, 80, 2, 0, false},
		{"no memory controller", func(w *world, o *order) {
			o.catch = nil
			w.backend.with(func(b *fakeBackend) { b.noController = true })
		}, 20, 80, 1, 0, true},
		{"nothing is moved", func(w *world, o *order) {
			o.catch = nil
			w.backend.with(func(b *fakeBackend) { b.noScopes = true })
		}, 0, 100, 0, 0, true},
		{"no cap can be named", func(_ *world, o *order) { o.cap = admission.Cap{SwapMB: -1} }, 20, 0, 1, 0, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out, w := placing(t, test.set)
			if out.err != nil || out.left != "" {
				t.Fatalf("got %+v", out)
			}
			if out.caught != test.caught || out.cap.MemoryMB != int64(test.capMB) || out.scope.Moved != test.moved {
				t.Errorf("caught %v, cap %d, moved %d; want %v, %d, %d",
					out.caught, out.cap.MemoryMB, out.scope.Moved, test.caught, test.capMB, test.moved)
			}
			if len(w.backend.limited) != test.limits || w.backend.placed[0].Tree != test.tree {
				t.Errorf("limits set %d times, tree %v; want %d, %v",
					len(w.backend.limited), w.backend.placed[0].Tree, test.limits, test.tree)
			}
			if out.scope.MemoryController && out.scope.MemoryMax != uint64(test.capMB)<<20 {
				t.Errorf("in force: %d", out.scope.MemoryMax)
			}
			if got := w.sight.ignored[out.scope.CgroupID]; got != out.scope.Cgroup { // "" both, where there is none
				t.Errorf("ignored %q, want %q", got, out.scope.Cgroup)
			}
		})
	}
}

func TestPlaceFalls(t *testing.T) {
	refused := &contain.RefusedError{Origin: contain.Origin{Refuse: "its unit is being stopped"}}
	tests := []struct {
		name      string
		set       func(w *world, o *order)
		left, err string
	}{
		{"refused at the look", func(w *world, _ *order) { w.backend.refuse = "boxed" }, "boxed", ""},
		{"refused at the placing", func(w *world, _ *order) { w.backend.placeErr = refused }, "its unit is being stopped", ""},
		{"failed", func(w *world, _ *order) { w.backend.placeErr = errors.New("no bus") }, "", "no bus"},
		{"gone", func(w *world, _ *order) { w.proc.exit(200) }, "", "gone"},
		{"the manager does not answer", func(w *world, _ *order) { w.backend.placeTakes = time.Hour }, "", "deadline"},
		{"no such verb", func(_ *world, o *order) { o.verb = "dance" }, "", `"dance"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out, w := placing(t, test.set)
			if out.left != test.left || (out.err == nil) != (test.err == "") {
				t.Fatalf("left %q, err %v", out.left, out.err)
			}
			if out.err != nil && !strings.Contains(out.err.Error(), test.err) {
				t.Errorf("got %v, want %q in it", out.err, test.err)
			}
			if len(w.sight.ignored) != 0 {
				t.Errorf("ignored %v", w.sight.ignored)
			}
		})
	}
}

func TestPlaceNotesWhatFellShort(t *testing.T) {
	late := func(w *world) {
		w.backend.placeTakes = 400 * time.Millisecond
		time.AfterFunc(300*time.Millisecond, func() {
			w.fork(201, 200, 200, "node")
			w.proc.change(201, func(n *fakeProcess) { n.rssMB = 5 })
		})
	}
	tests := []struct {
		name string
		set  func(w *world)
		want string
	}{
		{"cap not lowered", func(w *world) { w.backend.limitErr = errors.New("no bus") },
			"25.0 MB touched before the move could not be taken off the cap: no bus"},
		{"children outside", func(w *world) { w.backend.joinErr = errors.New("read-only") },
			"what it started before it was moved may run outside: read-only"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out, _ := placing(t, func(w *world, _ *order) { late(w); test.set(w) })
			if out.err != nil || len(out.scope.Notes) != 1 || out.scope.Notes[0] != test.want {
				t.Errorf("err %v, notes %q", out.err, out.scope.Notes)
			}
		})
	}
}

func TestFinish(t *testing.T) {
	out, w := placing(t, func(w *world, o *order) {})
	w.sight.err = errors.New("the map is full")
	w.backend.releaseErr = errors.New("no bus")
	end := run(w, order{verb: verbFinish, scope: out.scope})
	if end.err == nil || end.usage.Gone || len(end.usage.Procs) != 1 {
		t.Errorf("got %+v: the reading precedes the release", end)
	}
	if len(w.backend.released) != 1 || len(w.sight.ignored) != 0 || !strings.Contains(w.log.String(), "the map is full") {
		t.Errorf("released %v, ignored %v, log %q", w.backend.released, w.sight.ignored, w.log)
	}
}

func TestLimitsOf(t *testing.T) {
	tests := []struct {
		name         string
		cap          admission.Cap
		memory, swap uint64
	}{
		{"both", admission.Cap{MemoryMB: 3, SwapMB: 2}, 3 << 20, 2 << 20},
		{"swap unlimited", admission.Cap{MemoryMB: 3, SwapMB: -1}, 3 << 20, contain.Infinity},
		{"memory unknown", admission.Cap{SwapMB: 0}, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := limitsOf(test.cap); got.MemoryMax != test.memory || got.MemorySwapMax != test.swap || got.TasksMax != tasksMax {
				t.Errorf("got %+v", got)
			}
		})
	}
}
