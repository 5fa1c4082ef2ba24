package governor

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
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

// TestWhatIsTold: of the limits, what was read back and not what was asked.
func TestWhatIsTold(t *testing.T) {
	tests := []struct {
		name          string
		set           func(b *fakeBackend)
		memory, swap  int64
		isolated      bool
		note, unitNow string
	}{
		{"in force", func(*fakeBackend) {}, 460, 256, true, "", "headroom-"},
		{"no memory controller", func(b *fakeBackend) { b.noController = true }, 0, -1, true, "", "headroom-"},
		{"no scope", func(b *fakeBackend) { b.noScopes = true }, 0, -1, false, "not contained", ""},
		{"with a note", func(b *fakeBackend) { b.note = "no OOMPolicy" }, 460, 256, true, "no OOMPolicy", "headroom-"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, nil, func(w *world) {
				w.backend.with(test.set)
				w.caught(200, "npm", "test")
				w.after(time.Second / 2)
				j, r := w.job(), w.ledger.of(journal.Placed)[0]
				if j.MemoryCapMB != test.memory || j.SwapCapMB != test.swap || j.Isolated != test.isolated || j.Note != test.note ||
					!strings.HasPrefix(j.Unit, test.unitNow) {
					t.Errorf("status: %+v", j)
				}
				if r.MemoryCapMB != test.memory || r.SwapCapMB != test.swap || *r.Isolated != test.isolated || (r.CaughtRSSMB != nil) != test.isolated {
					t.Errorf("record: %+v", r)
				}
			})
		})
	}
}

func TestSwapOf(t *testing.T) {
	tests := []struct {
		name string
		sc   contain.Scope
		want int64
	}{
		{"bounded", contain.Scope{MemoryController: true, MemorySwapMax: 256 << 20}, 256},
		{"none allowed", contain.Scope{MemoryController: true}, 0},
		{"unlimited", contain.Scope{MemoryController: true, MemorySwapMax: contain.Infinity}, -1},
		{"no controller", contain.Scope{MemorySwapMax: 5 << 20}, -1},
	}
	for _, test := range tests {
		if got := swapOf(test.sc); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// TestJobsThatNeverWere: whatever keeps a job from being placed, its promise
// is given back and its kin is let go.
func TestJobsThatNeverWere(t *testing.T) {
	tests := []struct {
		name   string
		set    func(w *world)
		events string
	}{
		{"refused", func(w *world) { w.backend.with(func(b *fakeBackend) { b.refuse = "boxed" }) }, "captured left captured captured"},
		{"refused at the placing", func(w *world) {
			w.backend.with(func(b *fakeBackend) {
				b.placeErr = &contain.RefusedError{Origin: contain.Origin{Refuse: "stopping"}}
			})
		}, "captured left captured captured"},
		{"failed", func(w *world) { w.backend.with(func(b *fakeBackend) { b.placeErr = errors.New("no bus") }) },
			"captured failed captured failed captured failed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, nil, func(w *world) {
				test.set(w)
				for i := range 3 {
					w.caught(200+10*i, "make")
					w.fork(201+10*i, shell, 200+10*i, "cc1")
					if i == 0 && w.backend.refuse == "" {
						w.tracer(201, false)
					}
					w.after(100 * time.Millisecond)
				}
				w.wantEvents(test.events)
				for _, c := range w.catches {
					if c.Stopped() {
						t.Errorf("%d is held", c.pid)
					}
				}
				if len(w.snapshot().Jobs) != 0 || w.slots() != 0 {
					t.Error("a job is left")
				}
			})
		})
	}
}

func TestJoinFails(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		exit   bool
		events string
	}{
		{"runs on outside: told", errors.New("read-only"), false, "captured placed failed"},
		{"gone: nothing to tell", nil, true, "captured placed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, nil, func(w *world) {
				w.caught(200, "make")
				w.after(100 * time.Millisecond)
				w.backend.with(func(b *fakeBackend) { b.joinErr = test.err })
				w.fork(201, shell, 200, "cc1")
				w.tracer(201, false)
				w.after(5 * time.Millisecond)
				if test.exit {
					w.proc.exit(201)
				}
				w.after(100 * time.Millisecond)
				w.wantEvents(test.events)
				if w.job().State != string(Running) {
					t.Error("the job suffers for it")
				}
			})
		})
	}
}

// A scope can go between two samples (systemctl stop): what was to join it must
// not run on without a cap for it.
func TestJoinOfARemovedScopeIsTheNextJob(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.caught(200, "make")
		w.after(100 * time.Millisecond)
		first := w.job().ID
		w.backend.with(func(b *fakeBackend) { b.joinErr = contain.ErrNoScope })
		w.fork(201, shell, 200, "cc1")
		w.tracer(201, false)
		w.after(200 * time.Millisecond)
		w.wantEvents("captured placed captured ended placed")
		if j := w.job(); j.ID == first || j.PID != 201 {
			t.Errorf("the job is %+v, want a new one of pid 201", j)
		}
	})
}
