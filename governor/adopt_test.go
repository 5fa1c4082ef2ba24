package governor

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
)

const leftUnit = "headroom-node-test-0a1b2c3d.scope"

// leftBy makes a scope that an earlier run left, with npm (300) and its node
// (301) in it, and returns it.
func leftBy(w *world) contain.Scope {
	sc := contain.Scope{Unit: leftUnit, Cgroup: "/user.slice/user-1000.slice/" + leftUnit, CgroupID: 77,
		MemoryController: true, MemoryMax: 300 << 20, MemorySwapMax: contain.Infinity}
	w.proc.add(fakeProcess{pid: 301, ppid: 300, pgid: 300, start: 600, argv: []string{"node"}, exe: "/bin/node", uid: 1000, login: 1000, cgroup: sc.Cgroup, rssMB: 30})
	w.proc.add(fakeProcess{pid: 300, ppid: shell, pgid: 300, start: 500, argv: []string{"npm", "test"}, exe: "/bin/npm", cgroup: sc.Cgroup, rssMB: 10})
	w.backend.left = append(w.backend.left, sc)
	return sc
}

// inWorldWith is inWorld with something there before the governor starts.
func inWorldWith(t *testing.T, before func(w *world), test func(w *world)) {
	t.Helper()
	var early *world
	inWorld(t, func(o *Options) {
		early = &world{t: t, proc: o.Backend.(*fakeBackend).proc, backend: o.Backend.(*fakeBackend), memory: o.Memory.(*fakeMemory)}
		o.Config.JobMemoryMaxMB = 300 // caps stay as they were found
		before(early)
	}, test)
}

func TestAdopt(t *testing.T) {
	inWorldWith(t, func(w *world) { leftBy(w) }, func(w *world) {
		got := w.job()
		want := JobStatus{ID: "node-test-0a1b2c3d", PID: 300, UID: 1000, Command: "npm test", Family: "node-test", State: "running",
			Since: got.Since, Unit: leftUnit, Cgroup: "/user.slice/user-1000.slice/" + leftUnit, MemoryCapMB: 300, SwapCapMB: -1,
			MemoryMB: 40, PeakMB: 40, Isolated: true, Processes: 2, Lightened: []string{}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
		claims := w.gov.book.Holders()
		if len(claims) != 1 || claims[0].PromiseMB != 300 || claims[0].UsedMB != 40 {
			t.Errorf("claims %+v", claims)
		}
		if w.sight.ignored[77] == "" {
			t.Error("its execs are not dropped")
		}
		w.wantEvents("adopted")

		w.after(turn / 10)
		w.fork(302, shell, 300, "make") // its kin, wherever the job came from
		w.tracer(302, false)
		w.after(turn)
		w.wantEvents("adopted joined")
		for _, pid := range []int{300, 301, 302} {
			w.proc.exit(pid)
		}
		w.after(8 * turn)
		w.wantEvents("adopted joined ended")
		if w.slots() != 0 || len(w.sight.ignored) != 0 {
			t.Error("something of it is left")
		}
	})
}

func TestAdoptWhatCannotBeRead(t *testing.T) {
	tests := []struct {
		name   string
		before func(w *world)
		events string
		jobs   int
	}{
		{"nothing", func(*world) {}, "", 0},
		{"scopes cannot be looked for", func(w *world) { w.backend.adoptErr = errors.New("no cgroups") }, "failed", 0},
		{"some can", func(w *world) { leftBy(w); w.backend.adoptErr = errors.New("no cgroups") }, "failed adopted", 1},
		{"nothing runs in it", func(w *world) { leftBy(w); w.proc.exit(300); w.proc.exit(301) }, "adopted", 1},
		{"no controller", func(w *world) { leftBy(w); w.backend.noController = true }, "adopted", 1},
		{"no limit", func(w *world) { leftBy(w); w.backend.left[0].MemoryMax = contain.Infinity }, "adopted", 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorldWith(t, test.before, func(w *world) {
				w.wantEvents(test.events)
				jobs := w.snapshot().Jobs
				if len(jobs) != test.jobs {
					t.Fatalf("got %+v", jobs)
				}
				for _, j := range jobs {
					if j.MemoryCapMB < 0 || j.MemoryMB < -1 || j.OOMKills < 0 || j.Family != "node-test" {
						t.Errorf("got %+v", j)
					}
				}
			})
		})
	}
}

func TestAdoptedWithNobodyInItEnds(t *testing.T) {
	inWorldWith(t, func(w *world) { leftBy(w); w.proc.exit(300); w.proc.exit(301) }, func(w *world) {
		w.after(linger + 3*turn)
		w.wantEvents("adopted ended")
	})
}

func TestOnlyWhatEnforcesAdopts(t *testing.T) {
	for _, mode := range []string{ModeObserve, ModeOff} {
		var sc contain.Scope
		inWorld(t, func(o *Options) {
			o.Config.Mode = mode
			b := o.Backend.(*fakeBackend)
			sc = leftBy(&world{t: t, proc: b.proc, backend: b})
			b.left[0].Frozen = true
		}, func(w *world) {
			if n := len(w.snapshot().Jobs); n != 0 || w.sight.ignored[sc.CgroupID] != "" {
				t.Errorf("mode %s adopted %d", mode, n)
			}
			if w.backend.scopes[sc.Cgroup].frozen || len(w.backend.released) != 1 {
				t.Errorf("mode %s left it frozen", mode)
			}
		})
	}
}

func TestOldOOMKillsAreNotNews(t *testing.T) {
	inWorldWith(t, func(w *world) { leftBy(w); w.backend.oldOOM = 2 }, func(w *world) {
		w.after(3 * turn)
		w.wantEvents("adopted")
		if r := w.ledger.of(journal.Adopted)[0]; r.OOMKills != 2 || !strings.Contains(r.Reason, "when the governor started") {
			t.Errorf("got %+v", r)
		}
	})
}

func TestCutLast(t *testing.T) {
	tests := []struct {
		in, before, after string
		found             bool
	}{
		{"node-test-0a1b", "node-test", "0a1b", true},
		{"npm", "npm", "", false},
		{"-x", "", "x", true},
		{"", "", "", false},
	}
	for _, test := range tests {
		if b, a, ok := cutLast(test.in, "-"); b != test.before || a != test.after || ok != test.found {
			t.Errorf("%q: %q, %q, %v", test.in, b, a, ok)
		}
	}
}
