package governor

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/loader/proc"
)

// running is a world with one job in its scope, 0.1 s after a tick.
func running(t *testing.T, set func(*Options), test func(w *world)) {
	t.Helper()
	inWorld(t, set, func(w *world) {
		w.after(turn / 10)
		w.caught(200, "npm", "test")
		w.after(turn)
		test(w)
	})
}

func TestPeakIsWhatWasSampled(t *testing.T) {
	running(t, nil, func(w *world) {
		for _, mb := range []float64{10, 90, 40} {
			w.proc.change(200, func(n *fakeProcess) { n.rssMB = mb })
			w.after(turn)
		}
		if j := w.job(); j.MemoryMB != 40 || j.PeakMB != 90 {
			t.Errorf("memory %d, peak %d", j.MemoryMB, j.PeakMB)
		}
		claims := w.gov.book.Holders()
		if len(claims) != 1 || claims[0].UsedMB != 40 {
			t.Errorf("claims %+v", claims)
		}
	})
}

func TestOOMKill(t *testing.T) {
	running(t, nil, func(w *world) {
		hit := func(kills, peak int64) {
			w.scopeOf(200, func(s *fakeScope) { s.oom, s.peakMB = kills, peak })
			w.after(turn)
		}
		hit(0, 300) // page cache: no peak of the job
		if j := w.job(); j.PeakMB != 0 {
			t.Errorf("peak %d before any kill", j.PeakMB)
		}
		hit(1, 460)
		w.after(3 * turn) // told once
		hit(3, 460)
		got := w.ledger.of(journal.OOMKill)
		if len(got) != 2 {
			t.Fatalf("got %+v, want two records", got)
		}
		for i, kills := range []int64{1, 3} {
			r := got[i]
			if r.OOMKills != kills || r.PeakMB != 460 || r.MemoryCapMB != 460 || len(r.Notes) != 1 || r.Job == "" || r.Unit == "" {
				t.Errorf("record %d: %+v", i, r)
			}
		}
		if j := w.job(); j.OOMKills != 3 || j.PeakMB != 460 {
			t.Errorf("got %+v", j)
		}
	})
}

func TestOOMKillAtTheVeryEnd(t *testing.T) {
	// Between the last sample and the release; the reading before the release has it.
	running(t, nil, func(w *world) {
		w.proc.exit(200)
		w.after(2 * turn)
		w.backend.with(func(b *fakeBackend) {
			for _, s := range b.scopes {
				s.oom, s.peakMB = 1, 460
			}
		})
		w.after(linger)
		w.wantEvents("captured placed oom-kill ended")
		if r := w.ledger.of(journal.Ended); len(r) != 1 || r[0].OOMKills != 1 || r[0].PeakMB != 460 || r[0].AgeS < 5 {
			t.Errorf("got %+v", r)
		}
	})
}

func TestScopeRemoved(t *testing.T) {
	tests := []struct {
		name string
		wait time.Duration
	}{
		{"while it runs", 0},
		{"while it lingers", 2 * turn},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			running(t, nil, func(w *world) {
				cgroup := w.job().Cgroup
				w.proc.exit(200)
				w.after(test.wait)
				w.backend.with(func(b *fakeBackend) { b.scopes[cgroup].gone = true })
				w.after(2 * turn)
				w.wantEvents("captured placed ended")
				if r := w.ledger.of(journal.Ended)[0]; r.ExitReason != "its scope was removed" {
					t.Errorf("got %+v", r)
				}
				if w.slots() != 0 || len(w.sight.ignored) != 0 || len(w.backend.released) != 1 {
					t.Error("something of it is left")
				}
			})
		})
	}
}

func TestChanged(t *testing.T) {
	running(t, nil, func(w *world) {
		w.backend.with(func(b *fakeBackend) { b.changed = "memory.max is 9 MB now" })
		w.after(3 * checkEvery)
		got := w.ledger.of(journal.Changed)
		if len(got) != 1 || got[0].Reason != "memory.max is 9 MB now" || w.job().Note != got[0].Reason {
			t.Errorf("got %+v, want it told once", got)
		}
		if n := w.backend.checks; n < 3 || n > 4 {
			t.Errorf("read back %d times in %v", n, 3*checkEvery)
		}
	})
}

func TestReadingsDoNotPileUp(t *testing.T) {
	running(t, nil, func(w *world) {
		w.backend.with(func(b *fakeBackend) { b.usageTakes = 5 * turn })
		for range 12 {
			w.after(turn)
			if n := w.backend.reading.Load(); n > 1 {
				t.Fatalf("%d readings at once", n)
			}
		}
		w.backend.with(func(b *fakeBackend) { b.usageTakes = 0 })
	})
}

func TestTreeWithoutScope(t *testing.T) {
	p := newFakeProc(t)
	s := &sampler{fs: p.fs()}
	root := p.add(fakeProcess{pid: 200, ppid: 1, argv: []string{"make"}, uid: 1000, rssMB: 10})
	p.add(fakeProcess{pid: 201, ppid: 200, argv: []string{"cc1"}, rssMB: 20})
	p.add(fakeProcess{pid: 202, ppid: 201, argv: []string{"as"}, rssMB: 5})
	p.add(fakeProcess{pid: 300, ppid: 1, argv: []string{"other"}, rssMB: 99})
	if u := s.tree(root); len(u.Procs) != 3 || u.Working != 35<<20 || u.OOMKills != -1 || u.CPUUsec != 0 {
		t.Errorf("got %+v", u)
	}
	tests := []struct {
		name string
		root proc.ID
		do   func()
	}{
		{"another's pid", proc.ID{PID: 200, Start: root.Start + 1}, func() {}},
		{"zombie", root, func() { p.change(200, func(n *fakeProcess) { n.state = 'Z' }) }},
		{"gone", root, func() { p.exit(200) }},
	}
	for _, test := range tests {
		test.do()
		if u := s.tree(test.root); len(u.Procs) != 0 || u.Working != -1 {
			t.Errorf("%s: got %+v, want nothing known", test.name, u)
		}
	}
}

func TestReadingUnderWayAtTheEnd(t *testing.T) {
	// What is closed after the loop must not be read any more.
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.start()
		w.after(turn / 10)
		w.caught(200, "npm", "test")
		w.after(turn / 2)
		w.backend.with(func(b *fakeBackend) { b.usageTakes = 700 * time.Millisecond })
		w.after(turn / 2)
		w.stop()
		if n := w.backend.reading.Load(); n != 0 {
			t.Errorf("%d readings are under way", n)
		}
	})
}

func TestAboutSaysWhose(t *testing.T) {
	running(t, nil, func(w *world) {
		for _, r := range w.ledger.of(journal.Placed) {
			if r.UID == nil || *r.UID != 1000 || r.Unit == "" || r.Origin != session || !strings.HasPrefix(r.Unit, "headroom-"+r.Job) {
				t.Errorf("got %+v", r)
			}
		}
	})
}
