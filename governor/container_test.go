package governor

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
)

// inBoxes is a world with a container in it, whose first process is 300.
func inBoxes(t *testing.T, setting string, set func(*Options), test func(w *world, f *fakeContainers)) {
	t.Helper()
	f := newFakeContainers(t)
	inWorld(t, func(o *Options) {
		o.Config.ContainContainers = setting
		o.Containers = f
		if set != nil {
			set(o)
		}
	}, func(w *world) {
		f.tell = w.act
		w.proc.add(fakeProcess{pid: 300, ppid: 1, pgid: 300, argv: []string{"sh"}, exe: "/bin/sh", cgroup: boxCgroup})
		test(w, f)
	})
	f.wantMB("the governor has stopped", 0)
}

// inContainer starts a command in the container.
func (w *world) inContainer(pid, ppid int, argv ...string) {
	w.t.Helper()
	w.fork(pid, ppid, pid, argv...)
	if c := w.tracer(pid, false); c != nil {
		w.t.Errorf("%d was stopped in its container", pid)
	}
	w.after(time.Millisecond)
}

func TestContainerIsCapped(t *testing.T) {
	inBoxes(t, "cap", nil, func(w *world, f *fakeContainers) {
		w.inContainer(310, 300, "npm", "test")
		f.wantMB("a job runs in it", 560) // 100 it had, 460 granted
		j := w.job()
		if j.Container != "docker 0123456789ab" || j.Cgroup != boxCgroup || j.MemoryCapMB != 560 || j.Isolated || j.Unit != "" ||
			!strings.Contains(j.Note, "docker 0123456789ab is held to 560 MB") {
			t.Errorf("status %+v", j)
		}
		w.inContainer(311, 310, "make") // its own
		w.inContainer(320, 300, "make") // beside it
		w.after(2 * time.Second)
		w.proc.exit(310)
		w.proc.exit(311)
		w.after(4 * time.Second)
		f.wantMB("another still runs", 560)
		w.proc.exit(320)
		w.after(4 * time.Second)
		f.wantMB("it may go on with the next", 560)
		w.inContainer(330, 300, "make")
		w.after(3 * time.Second)
		w.proc.exit(330)
		w.after(8 * time.Second)
		f.wantMB("the job has ended", 0)
		w.wantEvents("captured placed joined joined ended")
		for _, r := range w.ledger.told() {
			if r.Event != journal.Started && r.Container != "docker 0123456789ab" {
				t.Errorf("%s names container %q", r.Event, r.Container)
			}
		}
		if len(w.backend.placed) != 0 || w.slots() != 0 {
			t.Errorf("placed %v, %d slots", w.backend.placed, w.slots())
		}
	})
}

// Whatever goes on beside it, what runs in a container neither waits nor is
// moved, and its share follows the readings as that of a job does.
func TestContainerNeverWaits(t *testing.T) {
	inBoxes(t, "cap", nil, func(w *world, f *fakeContainers) {
		w.caught(200, "npm", "test")
		w.after(100 * time.Millisecond)
		w.inContainer(310, 300, "npm", "test")
		small := w.gov.job("docker")
		w.after(time.Second)
		if small == nil || small.state != Running || small.box.grant.MemoryMB >= 460 {
			t.Fatalf("the one in the container: %+v", small)
		}
		w.proc.exit(200)
		w.after(10 * time.Second)
		if small.box.grant.MemoryMB < 400 {
			t.Errorf("alone it is granted %d MB", small.box.grant.MemoryMB)
		}
		f.wantMB("alone", 100+small.box.grant.MemoryMB)
		if got := w.timeline(); strings.Contains(got, " held npm") || strings.Contains(got, "freeze") || strings.Contains(got, "place 310") {
			t.Errorf("it waited, or was moved:\n%s", got)
		}
		w.proc.exit(310)
		w.after(10 * time.Second)
	})
}

// job finds the job in a container of an engine.
func (g *Governor) job(engine string) *job {
	for _, j := range g.jobs {
		if j.box != nil && j.box.container.Engine == engine {
			return j
		}
	}
	return nil
}

func TestContainerIsOnlyTold(t *testing.T) {
	for _, test := range []struct {
		name, setting string
		set           func(*Options)
		events        string
	}{
		{"observe", "observe", nil, "left"},
		{"off", "off", nil, ""},
		{"cap, and the governor observes", "cap", func(o *Options) { o.Config.Mode = ModeObserve }, "left"},
		{"cap, and nothing is isolated", "cap", func(o *Options) { o.Config.Isolate = false }, "left"},
		{"cap, and no cgroups", "cap", func(o *Options) { o.Containers = nil }, "left"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBoxes(t, test.setting, test.set, func(w *world, f *fakeContainers) {
				w.inContainer(310, 300, "npm", "test")
				w.inContainer(320, 300, "npm", "test") // told a moment ago
				w.after(2 * time.Second)
				f.wantMB("it runs", 0)
				w.wantEvents(test.events)
				for _, r := range w.ledger.told() {
					if r.Event == journal.Left && (r.Container != "docker 0123456789ab" || !strings.Contains(r.Reason, "runs in a container (docker")) {
						t.Errorf("told %+v", r)
					}
				}
				if s := w.snapshot(); len(s.Jobs)+len(s.Queue) != 0 {
					t.Errorf("jobs %+v", s.Jobs)
				}
			})
		})
	}
}

func TestContainerIsLeftAlone(t *testing.T) {
	for _, test := range []struct {
		name, event, want string
		do                func(w *world, f *fakeContainers)
	}{
		{"a package manager's insides", "left", "inside apt", func(w *world, f *fakeContainers) {
			w.fork(305, 300, 305, "apt", "install")
			w.inContainer(310, 305, "make")
		}},
		{"an engine's monitor", "left", "not known", func(w *world, f *fakeContainers) {
			w.proc.change(300, func(p *fakeProcess) { p.cgroup = "/machine.slice/libpod-conmon-1.scope" })
			w.inContainer(310, 300, "make")
		}},
		{"it cannot be capped", "left", "no memory controller", func(w *world, f *fakeContainers) {
			f.err = fmt.Errorf("%w: its cgroup has no memory controller", contain.ErrUncapped)
			w.inContainer(310, 300, "make")
		}},
		{"it fails", "failed", "runs without a cap: no", func(w *world, f *fakeContainers) {
			f.err = errors.New("no")
			w.inContainer(310, 300, "make")
		}},
		{"a setuid program", "left", "setuid", func(w *world, f *fakeContainers) {
			w.proc.add(fakeProcess{pid: 310, ppid: 300, argv: []string{"make"}, exe: "/bin/make", cgroup: boxCgroup, secure: true})
			w.inContainerAgain(310)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBoxes(t, "cap", nil, func(w *world, f *fakeContainers) {
				test.do(w, f)
				w.after(2 * time.Second)
				f.wantMB("it runs", 0)
				all := w.ledger.told()
				if last := all[len(all)-1]; last.Event != test.event || !strings.Contains(last.Reason, test.want) {
					t.Errorf("told %+v", last)
				}
				if s := w.snapshot(); len(s.Jobs) != 0 || w.slots() != 0 {
					t.Errorf("jobs %+v, %d slots", s.Jobs, w.slots())
				}
			})
		})
	}
}

// inContainerAgain has the tracer look at a process.
func (w *world) inContainerAgain(pid int) {
	if c := w.tracer(pid, false); c != nil {
		w.t.Errorf("%d was stopped", pid)
	}
	w.after(time.Millisecond)
}

func TestContainerIsPutBackBySomebody(t *testing.T) {
	inBoxes(t, "cap", nil, func(w *world, f *fakeContainers) {
		w.inContainer(310, 300, "npm", "test")
		w.after(1500 * time.Millisecond)
		f.put("memory.max", "max") // systemctl daemon-reload
		w.after(time.Second)
		f.wantMB("a turn later", 560)
		f.put("memory.events", "oom_kill 1")
		w.after(time.Second)
		w.proc.exit(310)
		w.after(10 * time.Second)
		w.wantEvents("captured placed changed oom-kill ended")
		for _, r := range w.ledger.told() {
			switch r.Event {
			case journal.Changed:
				if !strings.Contains(r.Reason, "lowered to 587202560 again") || r.MemoryCapMB != 560 {
					t.Errorf("changed: %+v", r)
				}
			case journal.OOMKill:
				if r.OOMKills != 1 || !strings.Contains(r.Reason, "container docker 0123456789ab outgrew") {
					t.Errorf("killed: %+v", r)
				}
			}
		}
	})
}

func TestContainerSettingsAreReloaded(t *testing.T) {
	inBoxes(t, "cap", nil, func(w *world, f *fakeContainers) {
		w.inContainer(310, 300, "npm", "test")
		c := w.gov.o.Config
		c.ContainContainers = "observe"
		if err := w.gov.Reload(w.t.Context(), c, fakeRules{}); err != nil {
			t.Fatal(err)
		}
		w.after(2 * time.Second)
		f.wantMB("not capped any more", 0)
		w.wantEvents("captured placed reloaded ended")
	})
}

// A governor that died leaves its containers to the next.
func TestContainersAreRecoveredAtTheStart(t *testing.T) {
	f := newFakeContainers(t)
	box, _ := containerOfTest()
	if _, err := f.Lower("make-1", box, contain.Limits{MemoryMax: 100 << 20, MemorySwapMax: contain.Infinity}); err != nil {
		t.Fatal(err)
	}
	f.wantMB("the first has died", 200)
	f.Containers = f.again()
	inWorld(t, func(o *Options) { o.Containers = f }, func(w *world) {
		w.after(time.Second)
		f.wantMB("the second runs", 0)
		w.wantEvents("changed")
	})
}

// Neither somebody's word nor the watchdog ends what runs in a container.
func TestContainerJobCannotBeStopped(t *testing.T) {
	inBoxes(t, "cap", nil, func(w *world, f *fakeContainers) {
		w.inContainer(310, 300, "npm", "test")
		if err := w.gov.StopJob(w.t.Context(), w.job().ID, 0); !errors.Is(err, errNoScope) {
			t.Errorf("stop: %v", err)
		}
		var s suspect
		if err := w.gov.do(w.t.Context(), func() { s = w.gov.suspectOf(w.gov.job("docker"), survey{}, w.gov.sparing()) }); err != nil {
			t.Error(err)
		}
		if !strings.Contains(s.spare, "container (docker 0123456789ab)") {
			t.Errorf("to the watchdog it is %+v", s)
		}
	})
}

// A container that ends takes its job with it.
func TestContainerEnds(t *testing.T) {
	inBoxes(t, "cap", nil, func(w *world, f *fakeContainers) {
		w.inContainer(310, 300, "npm", "test")
		w.after(time.Second)
		w.proc.exit(310)
		f.move()
		w.after(2 * time.Second)
		w.wantEvents("captured placed ended")
		f.moveBack()
	})
}
