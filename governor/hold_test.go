package governor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
)

// holding is a world in which pid 200 runs and pid 300 waits for it.
func holding(t *testing.T, set func(*Options), test func(w *world)) {
	t.Helper()
	inWorld(t, set, func(w *world) {
		w.after(turn / 10)
		w.caught(200, "npm", "test")
		w.after(turn)
		w.caught(300, "make", "all")
		w.after(turn / 5)
		test(w)
	})
}

// waiting is the only job that waits.
func (w *world) waiting() JobStatus {
	w.t.Helper()
	s := w.snapshot()
	if len(s.Queue) != 1 {
		w.t.Fatalf("%d wait, want one:\n%s", len(s.Queue), w.timeline())
	}
	return s.Queue[0]
}

func (w *world) frozen(pid int) bool {
	w.t.Helper()
	frozen := false
	w.scopeOf(pid, func(s *fakeScope) { frozen = s.frozen })
	return frozen
}

func TestHeldIsToldWithItsReasonBeforeTheAct(t *testing.T) {
	holding(t, nil, func(w *world) {
		line := w.timeline()
		if held, place := strings.Index(line, "held make"), strings.Index(line, "place 300"); held < 0 || place < held {
			t.Errorf("time line:\n%s", line)
		}
		r := w.ledger.of(journal.Held)[0]
		j := w.waiting()
		if r.Behind == "" || r.Reason == "" || r.Position != 1 || r.Job != j.ID {
			t.Errorf("record %+v", r)
		}
		if j.State != string(Held) || j.Position != 1 || j.Behind != r.Behind || j.Why == "" || j.WaitS <= 0 || j.PatienceS != 300 ||
			j.MemoryCapMB != 64 || !j.Isolated || j.Unit == "" {
			t.Errorf("status %+v", j)
		}
		if !w.frozen(300) || w.frozen(200) {
			t.Error("the wrong one stands still")
		}
	})
}

// TestWhatFailsLetsGo: whatever cannot be done on the way, nothing is frozen at
// the end of it, and the command runs.
func TestWhatFailsLetsGo(t *testing.T) {
	tests := []struct {
		name   string
		before func(b *fakeBackend) // before the second is caught
		after  func(b *fakeBackend) // while it waits
		events string               // from its capture on, until the first has ended
	}{
		{"it cannot be frozen", func(b *fakeBackend) { b.freezeErr = errors.New("read-only") }, nil, "captured held placed changed changed"},
		{"it cannot be placed", func(b *fakeBackend) { b.placeErr = errors.New("no bus") }, nil, "captured held failed"},
		{"it may not be moved", func(b *fakeBackend) { b.refuse = "boxed" }, nil, "captured held left"},
		{"no scopes", func(b *fakeBackend) { b.noScopes = true }, nil, "captured held placed changed"},
		{"its cap cannot be set", nil, func(b *fakeBackend) { b.limitErr = errors.New("no bus") }, "captured held placed admitted changed"},
		{"its scope goes", nil, func(b *fakeBackend) {
			for _, s := range b.scopes {
				s.gone = s.frozen
			}
		}, "captured held placed ended"},
		{"somebody else lets it go", nil, func(b *fakeBackend) {
			for _, s := range b.scopes {
				s.frozen = false
			}
		}, "captured held placed changed changed"},
		{"its signals cannot be read", nil, func(b *fakeBackend) { b.blind = true }, "captured held placed changed changed"}, // the second is its cap, raised
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, nil, func(w *world) {
				w.after(turn / 10)
				w.caught(200, "npm", "test")
				w.after(turn)
				if test.before != nil {
					w.backend.with(test.before)
				}
				w.caught(300, "make", "all")
				w.after(turn / 5)
				if test.after != nil {
					w.backend.with(test.after)
				}
				w.after(turn / 2)
				w.proc.exit(200)
				w.after(turn)
				w.wantEvents("captured placed " + test.events)
				if n := len(w.snapshot().Queue); n != 0 || w.gov.book.Waiting() != 0 {
					t.Errorf("%d still wait", n)
				}
				if left := w.backend.stranded(); len(left) != 0 {
					t.Errorf("frozen: %v", left)
				}
			})
		})
	}
}

func TestThawIsTriedAgain(t *testing.T) {
	holding(t, nil, func(w *world) {
		w.backend.with(func(b *fakeBackend) { b.thawErr = errors.New("interrupted") })
		w.proc.exit(200)
		w.after(2 * turn)
		if !w.frozen(300) || w.waiting().Why != "it starts" {
			t.Errorf("got %+v", w.waiting())
		}
		w.backend.with(func(b *fakeBackend) { b.thawErr = nil })
		w.after(turn)
		if w.frozen(300) || len(w.snapshot().Queue) != 0 {
			t.Errorf("it still stands still:\n%s", w.timeline())
		}
		if n := strings.Count(w.log.String(), "level=ERROR"); n == 0 {
			t.Error("not a word of it in the log")
		}
		w.log.text.Reset()
	})
}

func TestRefusalThatFails(t *testing.T) {
	// What cannot be ended runs: it is not to stand still for ever.
	holding(t, func(o *Options) { o.Config.QueueTimeoutAction, o.Config.QueueTimeoutS = "refuse", 5 }, func(w *world) {
		w.backend.with(func(b *fakeBackend) { b.stopErr = errors.New("no cgroup.kill") })
		w.after(6 * turn)
		w.wantEvents("captured placed captured held placed refused failed changed")
		if w.frozen(300) {
			t.Error("it stands still")
		}
		jobs := w.snapshot().Jobs
		if len(jobs) != 2 || jobs[1].State != string(Running) || w.slots() != 2 {
			t.Errorf("got %+v", jobs)
		}
	})
}

func TestStopOfAHeldJobThatFails(t *testing.T) {
	holding(t, nil, func(w *world) {
		w.backend.with(func(b *fakeBackend) { b.stopErr, b.thawErr = errors.New("no cgroup.kill"), errors.New("interrupted") })
		if err := w.gov.StopJob(w.t.Context(), w.waiting().ID, 0); err == nil {
			t.Error("no error")
		}
		w.after(turn)
		w.backend.with(func(b *fakeBackend) { b.thawErr = nil })
		w.after(turn)
		if w.frozen(300) || len(w.snapshot().Jobs) != 2 {
			t.Errorf("it still stands still:\n%s", w.timeline())
		}
		w.forgive("let a job go")
	})
}

// TestStopWhileOneWaits: in the foreground what waits is let go at the end;
// a service manager's stop keeps it for the next governor, with its turn.
func TestStopWhileOneWaits(t *testing.T) {
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("keep %v", keep), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "held.json")
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, func(o *Options) { o.KeepHeld, o.HeldFile = keep, file })
				w.start()
				w.caught(200, "npm", "test")
				w.after(turn)
				w.caught(300, "make", "all")
				w.after(3 * turn)
				asked := w.waiting()
				w.stop()
				if got := w.frozen(300); got != keep {
					t.Errorf("frozen: %v", got)
				}
				last := w.ledger.of(journal.Stopped)[0].Reason
				if want := map[bool]string{true: "are left to the next", false: "that waited are let go"}[keep]; !strings.Contains(last, want) {
					t.Errorf("%q does not say %q", last, want)
				}
				text, err := os.ReadFile(file)
				var all heldJobs
				if err != nil || json.Unmarshal(text, &all) != nil || len(all.Jobs) != 1 || all.Jobs[0].Job != asked.ID {
					t.Fatalf("kept %q, %v", text, err)
				}
				if !keep {
					return
				}
				// The next governor: the same machine, the same file.
				next := newWorld(t, func(o *Options) {
					o.HeldFile = file
					b := o.Backend.(*fakeBackend)
					b.proc.add(fakeProcess{pid: 300, ppid: shell, pgid: 300, argv: []string{"make", "all"}, exe: "/usr/bin/make", cgroup: asked.Cgroup})
					b.left = []contain.Scope{{Unit: asked.Unit, Cgroup: asked.Cgroup, CgroupID: 7, MemoryController: true, MemoryMax: 64 << 20, Frozen: true}}
					b.proc.add(fakeProcess{pid: 200, ppid: shell, pgid: 200, argv: []string{"npm"}, exe: "/usr/bin/npm", cgroup: "/user.slice/headroom-npm-00000001.scope"})
					b.left = append(b.left, contain.Scope{Unit: "headroom-npm-00000001.scope", Cgroup: "/user.slice/headroom-npm-00000001.scope", CgroupID: 8})
				})
				next.start()
				next.after(turn / 2)
				got := next.waiting()
				if got.ID != asked.ID || !got.Since.Equal(asked.Since) || got.Command != "make all" || got.UID != 1000 || got.WaitS < asked.WaitS {
					t.Errorf("after the restart %+v, before %+v", got, asked)
				}
				next.proc.exit(200)
				next.after(turn)
				if next.frozen(300) {
					t.Error("it was not started")
				}
				next.stop()
			})
		})
	}
}

func TestStopInEachMomentOfAHold(t *testing.T) {
	// Every 10 ms from the catch of the second to after its start: nothing is
	// frozen after the governor has ended.
	for after := time.Duration(0); after < 900*time.Millisecond; after += 30 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, nil)
			w.start()
			w.caught(200, "npm", "test")
			w.after(100 * time.Millisecond)
			w.caught(300, "make", "all")
			w.fork(301, shell, 300, "cc1")
			w.tracer(301, false)
			time.AfterFunc(300*time.Millisecond, func() { w.proc.exit(200) })
			w.after(after)
			w.stop()
		})
	}
}
