package governor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/journal"
)

// asker is one who asks to run a command, and what it is told.
type asker struct {
	mu   sync.Mutex
	told []RunUpdate
	err  error
	done chan struct{}
}

// asks has process pid-1 ask for its child.
func (w *world) asks(ctx context.Context, pid int, argv ...string) *asker {
	w.t.Helper()
	w.fork(pid-1, shell, pid-1, "headroomd", "run")
	id := w.proc.add(fakeProcess{pid: pid, ppid: pid - 1, pgid: pid - 1, argv: []string{"headroomd", "run"}, exe: "/usr/bin/headroomd"})
	a := &asker{done: make(chan struct{})}
	r := RunRequest{PID: pid, Start: id.Start, Argv: argv, Family: argv[0], Asker: pid - 1, UID: 1000,
		Lightened: []string{"one worker", "a\x1b[2Jb"}, Remedy: "less"}
	go func() {
		defer close(a.done)
		a.err = w.gov.Admit(ctx, r, func(u RunUpdate) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.told = append(a.told, u)
		})
	}()
	synctest.Wait()
	return a
}

// states are the states that it was told, without repetitions.
func (a *asker) states() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var words []string
	for _, u := range a.told {
		if len(words) == 0 || words[len(words)-1] != u.State {
			words = append(words, u.State)
		}
	}
	return strings.Join(words, " ")
}

func (a *asker) over() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

func (a *asker) last() RunUpdate {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.told) == 0 {
		return RunUpdate{}
	}
	return a.told[len(a.told)-1]
}

func TestAskedRunsToItsEnd(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		a := w.asks(w.t.Context(), 201, "npm", "test")
		w.after(turn / 5)
		j := w.job()
		if j.Command != "npm test" || len(j.Lightened) != 2 || strings.Contains(j.Lightened[1], "\x1b") || !j.Isolated {
			t.Errorf("job %+v", j)
		}
		w.proc.change(201, func(n *fakeProcess) { n.rssMB = 90 })
		w.after(2 * turn)
		w.proc.exit(201)
		w.after(turn / 2) // and not after it lingered
		if !a.over() || a.err != nil || a.states() != "placed ended" || a.last().PeakMB != 90 || !a.last().Isolated {
			t.Errorf("told %+v, %v", a.told, a.err)
		}
	})
}

func TestAskedWhatCannotBePlaced(t *testing.T) {
	tests := []struct {
		name string
		set  func(w *world)
		want string
		why  string
	}{
		{"it may not be moved", func(w *world) { w.backend.with(func(b *fakeBackend) { b.refuse = "boxed" }) }, "placed", "boxed"},
		{"the manager will not", func(w *world) { w.backend.with(func(b *fakeBackend) { b.placeErr = errors.New("no bus") }) }, "placed", "no bus"},
		{"no scopes", func(w *world) { w.backend.with(func(b *fakeBackend) { b.noScopes = true }) }, "placed", ""},
		{"observed", func(w *world) { w.gov.o.Config.Mode = ModeObserve }, "placed", "observes"},
		{"off", func(w *world) { w.gov.o.Config.Mode = ModeOff }, "placed", "observes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, nil, func(w *world) {
				_ = w.gov.do(w.t.Context(), func() { test.set(w) })
				a := w.asks(w.t.Context(), 201, "npm", "test")
				w.after(turn)
				if a.states() != test.want || a.last().Isolated || !strings.Contains(a.last().Why, test.why) {
					t.Errorf("told %+v", a.told)
				}
				w.proc.exit(201)
				w.after(2 * turn)
				if !a.over() || a.err != nil || w.slots() != 0 {
					t.Errorf("over %v, err %v, %d slots", a.over(), a.err, w.slots())
				}
			})
		})
	}
}

func TestAskedFromInsideAJobNeverWaits(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.caught(300, "npm", "test")
		w.after(turn / 2)
		cgroup := w.job().Cgroup
		w.fork(200, 300, 300, "headroomd", "run")
		id := w.proc.add(fakeProcess{pid: 201, ppid: 200, argv: []string{"headroomd"}, cgroup: cgroup})
		var got []RunUpdate
		err := w.gov.Admit(w.t.Context(), RunRequest{PID: 201, Start: id.Start, Argv: []string{"make"}, Family: "make", Asker: 200, UID: 1000},
			func(u RunUpdate) { got = append(got, u) })
		if err != nil || len(got) != 1 || got[0].State != RunPlaced || !got[0].Isolated {
			t.Errorf("told %+v, %v", got, err)
		}
	})
}

// Without cgroups what descends from a job is that job.
func TestAskedFromBelowAJobWithoutAScope(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.backend.with(func(b *fakeBackend) { b.noScopes = true })
		outer := w.asks(w.t.Context(), 201, "npm", "test")
		w.after(turn)
		if outer.last().State != RunPlaced {
			t.Fatalf("the outer one is told %+v", outer.told)
		}
		w.proc.add(fakeProcess{pid: 300, ppid: 201, pgid: 200, argv: []string{"headroomd", "run"}})
		id := w.proc.add(fakeProcess{pid: 301, ppid: 300, pgid: 200, argv: []string{"headroomd"}})
		var got []RunUpdate
		err := w.gov.Admit(w.t.Context(), RunRequest{PID: 301, Start: id.Start, Argv: []string{"make"}, Family: "make", Asker: 300, UID: 1000},
			func(u RunUpdate) { got = append(got, u) })
		if err != nil || len(got) != 1 || got[0].State != RunPlaced {
			t.Errorf("told %+v, %v", got, err)
		}
	})
}

func TestAskedForAStranger(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.spawn(200, "npm", "test")
		err := w.gov.Admit(w.t.Context(), RunRequest{PID: 200, Start: 5, Argv: []string{"npm"}, Family: "npm", Asker: 999, UID: 1000}, func(RunUpdate) {})
		if !errors.Is(err, ErrNotChild) || len(w.snapshot().Jobs) != 0 {
			t.Errorf("got %v", err)
		}
	})
}

func TestAskersGoWhileTheyWait(t *testing.T) {
	tests := []struct {
		name string
		do   func(w *world, cancel context.CancelFunc)
		err  error
		want string
	}{
		{"it withdraws", func(w *world, cancel context.CancelFunc) { cancel() }, context.Canceled, "waiting"},
		{"its child dies", func(w *world, _ context.CancelFunc) { w.proc.exit(201) }, nil, "waiting ended"},
		{"the governor stops", func(w *world, _ context.CancelFunc) { w.cancel() }, ErrStopped, "waiting"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, nil, func(w *world) {
				w.caught(300, "npm", "test")
				w.after(turn)
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				a := w.asks(ctx, 201, "make")
				w.after(turn / 2)
				test.do(w, cancel)
				w.after(turn)
				if !a.over() || !errors.Is(a.err, test.err) || a.states() != test.want {
					t.Errorf("told %q, %v, want %q, %v", a.states(), a.err, test.want, test.err)
				}
				if w.gov.book.Waiting() != 0 && !errors.Is(test.err, ErrStopped) {
					t.Error("its place is not free")
				}
			})
		})
	}
}

func TestAPlacedOneRunsOnWithoutItsAsker(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		ctx, cancel := context.WithCancel(context.Background())
		w.asks(ctx, 201, "make")
		w.after(turn)
		cancel()
		w.after(turn)
		if j := w.job(); j.State != string(Running) || !w.proc.has(201) {
			t.Errorf("got %+v", j)
		}
	})
}

func TestStopJob(t *testing.T) {
	tests := []struct {
		name string
		job  func(w *world) string
		by   uint32
		want error
	}{
		{"none", func(*world) string { return "npm-00000000" }, 0, ErrNoJob},
		{"another user's", func(w *world) string { return w.job().ID }, 1001, ErrNotYours},
		{"his own", func(w *world) string { return w.job().ID }, 1000, nil},
		{"root's word", func(w *world) string { return w.job().ID }, 0, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			running(t, nil, func(w *world) {
				err := w.gov.StopJob(w.t.Context(), test.job(w), test.by)
				if !errors.Is(err, test.want) {
					t.Fatalf("got %v, want %v", err, test.want)
				}
				w.after(2 * turn)
				if w.proc.has(200) == (test.want == nil) {
					t.Errorf("it runs: %v", w.proc.has(200))
				}
				if n := len(w.ledger.of(journal.Stopped)); (n == 1) != (test.want == nil) {
					t.Errorf("%d records", n)
				}
			})
		})
	}
}

// TestStopJobThatIsBeingPlaced: it is ended once it is in its scope.
func TestStopJobThatIsBeingPlaced(t *testing.T) {
	tests := []struct {
		name string
		set  func(b *fakeBackend)
		want error
		runs bool
	}{
		{"placed", func(*fakeBackend) {}, nil, false},
		{"not to be moved", func(b *fakeBackend) { b.placeErr = errors.New("no bus") }, errNoScope, true},
		{"without a scope", func(b *fakeBackend) { b.noScopes = true }, errNoScope, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, nil, func(w *world) {
				w.backend.with(test.set)
				w.caught(200, "npm", "test")
				w.after(10 * time.Millisecond)
				if err := w.gov.StopJob(w.t.Context(), w.job().ID, 1000); !errors.Is(err, test.want) {
					t.Errorf("got %v, want %v", err, test.want)
				}
				w.after(turn)
				if w.proc.has(200) != test.runs {
					t.Errorf("it runs: %v", w.proc.has(200))
				}
			})
		})
	}
}

func TestStopJobThatWillNot(t *testing.T) {
	running(t, nil, func(w *world) {
		w.backend.with(func(b *fakeBackend) { b.stopErr = errors.New("no cgroup.kill") })
		if err := w.gov.StopJob(w.t.Context(), w.job().ID, 0); err == nil || !strings.Contains(err.Error(), "no cgroup.kill") {
			t.Errorf("got %v", err)
		}
		w.wantEvents("captured placed stopped failed")
	})
}

func TestPeaksAreKeptAndDecide(t *testing.T) {
	file := filepath.Join(t.TempDir(), "peaks.json")
	set := func(o *Options) { o.PeakFile = file }
	inWorld(t, set, func(w *world) {
		w.caught(200, "npm", "test")
		w.after(turn)
		w.proc.change(200, func(n *fakeProcess) { n.rssMB = 300 })
		w.after(2 * turn)
		w.proc.exit(200)
		w.after(linger + 3*turn)
	})
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "300") {
		t.Fatalf("kept %q, %v", text, err)
	}
	inWorld(t, set, func(w *world) {
		w.caught(200, "npm", "test")
		w.after(turn)
		if j := w.job(); j.LearnedPeakMB != 300 || j.LearnedRuns != 1 {
			t.Errorf("got %+v", j)
		}
	})
}

func TestWhatEndedEarlyTeachesNothing(t *testing.T) {
	tests := []struct {
		name string
		end  func(w *world)
	}{
		{"stopped", func(w *world) { _ = w.gov.StopJob(w.t.Context(), w.job().ID, 0) }},
		{"others were put into it", func(w *world) {
			_ = w.gov.do(w.t.Context(), func() {
				for _, j := range w.gov.jobs {
					j.mixed = true
				}
			})
			w.proc.exit(200)
		}},
		{"lost a process to its cap", func(w *world) {
			w.scopeOf(200, func(s *fakeScope) { s.oom, s.peakMB = 1, 460 })
			w.after(turn)
			w.proc.exit(200)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			running(t, nil, func(w *world) {
				w.proc.change(200, func(n *fakeProcess) { n.rssMB = 50 })
				w.after(turn)
				test.end(w)
				w.after(linger + 3*turn)
				if _, _, known := w.gov.peaks.Peak(recentKey(w), time.Now()); known {
					t.Error("its peak was learned")
				}
			})
		})
	}
}

// recentKey is what the commands of these tests are remembered by.
func recentKey(w *world) admission.PeakKey {
	return admission.PeakKey{UID: 1000, Dir: "/home/u", Signature: admission.Signature([]string{"npm", "test"})}
}
