package governor

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor/journal"
)

func TestDecisionPrecedesTheAct(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.caught(200, "npm", "test")
		w.after(time.Second)
		line := w.timeline()
		captured, place := strings.Index(line, "captured"), strings.Index(line, "place 200")
		if captured < 0 || place < captured {
			t.Errorf("in the time line:\n%s", line)
		}
		r := w.ledger.of(journal.Captured)[0]
		if r.Job == "" || r.UID == nil || *r.UID != 1000 || r.Command != "npm test" || r.Origin != session ||
			r.AvailableMB != 700 || r.ReserveMB == 0 || r.MemoryCapMB == 0 || r.Rule != "npm.run" || r.Source != "bpf" || r.Time.IsZero() {
			t.Errorf("incomplete: %+v", r)
		}
	})
}

// TestModesThatMoveNothing: only enforcing with isolation gives orders.
func TestModesThatMoveNothing(t *testing.T) {
	tests := []struct {
		name   string
		set    func(*Config)
		events string
		jobs   int
	}{
		{"observe", func(c *Config) { c.Mode = ModeObserve }, "observed", 1},
		{"enforce without isolation", func(c *Config) { c.Isolate = false }, "observed", 1},
		{"off", func(c *Config) { c.Mode = ModeOff }, "", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, func(o *Options) { test.set(&o.Config) }, func(w *world) {
				c := w.caught(200, "npm", "test")
				w.after(10 * time.Millisecond)
				if c.Stopped() {
					t.Error("it is held")
				}
				w.after(2 * time.Second)
				w.wantEvents(test.events)
				if n := len(w.snapshot().Jobs); len(w.backend.placed) != 0 || n != test.jobs || w.slots() != n {
					t.Errorf("%d jobs, want %d, and none placed", n, test.jobs)
				}
				w.proc.exit(200) // what was only watched ends without a word
				w.after(2 * time.Second)
				w.wantEvents(test.events)
				if n := len(w.snapshot().Jobs); n != 0 {
					t.Errorf("%d jobs are left", n)
				}
			})
		})
	}
}

func TestLeftAlone(t *testing.T) {
	tests := []struct {
		name string
		do   func(w *world)
		why  string
	}{
		{"setuid", func(w *world) {
			w.proc.add(fakeProcess{pid: 200, ppid: shell, argv: []string{"make"}, exe: "/bin/make", euid: 5})
			w.tracer(200, false)
		}, "setuid"},
		{"inside a package manager", func(w *world) {
			w.fork(199, shell, 199, "apt", "install")
			w.fork(200, 199, 199, "make")
			w.tracer(200, false)
		}, "inside apt"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, nil, func(w *world) {
				test.do(w)
				test.do(w)
				w.after(10 * time.Millisecond)
				got := w.ledger.of(journal.Left)
				if len(got) != 1 || !strings.Contains(got[0].Reason, test.why) || got[0].PID != 200 {
					t.Errorf("got %+v", got)
				}
				w.wantEvents("left")
			})
		})
	}
}

func TestOrdersAreBounded(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.backend.with(func(b *fakeBackend) { b.placeTakes = 10 * time.Second })
		const over = 5
		// two are with the placers before the queue fills
		for i := range placers {
			w.caughtOf(uint32(2000+i), 200+i, "npm", "test")
		}
		w.after(time.Millisecond)
		for i := range maxOrders + over {
			w.caughtOf(uint32(3000+i), 300+i, "npm", "test")
		}
		w.after(time.Millisecond)
		free := 0
		for _, c := range w.catches {
			if !c.Stopped() {
				free++
			}
		}
		if free != over {
			t.Errorf("%d are let go, want %d", free, over)
		}
		if got := w.ledger.of(journal.Left); len(got) != 1 || !strings.Contains(got[0].Reason, "busy") {
			t.Errorf("got %+v, want it told once", got)
		}
		if s := w.snapshot(); len(s.Jobs)+len(s.Queue) != maxOrders+placers || w.slots()+w.gov.book.Waiting() != maxOrders+placers {
			t.Errorf("%d jobs, %d wait, %d in the book", len(s.Jobs), len(s.Queue), w.slots()+w.gov.book.Waiting())
		}
	})
}

func TestJoinsAreBounded(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.backend.with(func(b *fakeBackend) { b.placeTakes = 10 * time.Second })
		w.caught(200, "make")
		for i := range maxWaiting + 3 {
			w.fork(1000+i, shell, 200, "cc1")
			w.tracer(1000+i, false)
		}
		w.after(time.Millisecond)
		free := 0
		for _, c := range w.catches {
			if !c.Stopped() {
				free++
			}
		}
		if free != 3 || len(w.snapshot().Jobs) != 1 {
			t.Errorf("%d are let go, want 3", free)
		}
	})
}

func TestUnknownMemoryNamesNoCap(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.memory.fail()
		w.caught(200, "npm", "test")
		w.after(time.Second)
		r := w.ledger.of(journal.Captured)[0]
		if r.MemoryCapMB < 0 || r.AvailableMB < 0 || r.ReserveMB != 0 {
			t.Errorf("got %+v", r)
		}
		if !strings.Contains(w.log.String(), "no meminfo") {
			t.Errorf("log: %s", w.log)
		}
		w.wantEvents("captured placed")
	})
}

func TestJobID(t *testing.T) {
	want := regexp.MustCompile(`^[a-z]+-[0-9a-f]{8}$`)
	seen := make(map[string]bool)
	for _, family := range []string{"npm", "", "a/b", "npm", "npm"} {
		id := jobID(family)
		if !want.MatchString(id) || seen[id] {
			t.Errorf("family %q: %q", family, id)
		}
		seen[id] = true
	}
}
