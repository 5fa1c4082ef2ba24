package contain

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

func TestLook(t *testing.T) {
	for _, c := range []struct {
		name   string
		who    int // 0 session, 1 service, 2 user
		change func(f *fakeMachine, sys, usr *fakeBus)
		refuse string // a part; "" = may be moved
		partOf string
	}{
		{"session", 0, nil, "", "session-2.scope"},
		{"service", 1, nil, "", "ci.service"},
		{"user", 2, nil, "", "vte-spawn-1.scope"},
		{"a closing session", 0, func(_ *fakeMachine, sys, _ *fakeBus) {
			sys.props["session-2.scope/Unit"]["SubState"] = "abandoned"
		}, "", "session-2.scope"},
		{"a service whose children outlive it", 1, func(_ *fakeMachine, sys, _ *fakeBus) {
			sys.props["ci.service/Service"]["KillMode"] = "process"
		}, "", ""},
		{"mixed", 1, func(_ *fakeMachine, sys, _ *fakeBus) {
			sys.props["ci.service/Service"]["KillMode"] = "mixed"
		}, "", "ci.service"},
		{"main", 1, func(_ *fakeMachine, sys, _ *fakeBus) {
			sys.props["ci.service/Service"]["MainPID"] = uint32(600)
		}, "main process", ""},
		{"control", 1, func(_ *fakeMachine, sys, _ *fakeBus) {
			sys.props["ci.service/Service"]["ControlPID"] = uint32(600)
		}, "control process", ""},
		{"notify", 1, func(f *fakeMachine, _, _ *fakeBus) {
			f.write(filepath.Join(f.proc, "600/environ"), "A=b\x00NOTIFY_SOCKET=/run/systemd/notify\x00")
		}, "NOTIFY_SOCKET", ""},
		{"starting", 1, func(_ *fakeMachine, sys, _ *fakeBus) {
			sys.props["ci.service/Unit"]["ActiveState"] = "activating"
		}, "is activating", ""},
		{"a service that has exited", 1, func(_ *fakeMachine, sys, _ *fakeBus) {
			sys.props["ci.service/Unit"]["SubState"] = "exited"
		}, "not running", ""},
		{"boxed", 1, func(_ *fakeMachine, sys, _ *fakeBus) {
			sys.props["ci.service/Service"]["MemoryMax"] = uint64(1 << 30)
		}, "limits MemoryMax", ""},
		{"boxed session", 0, func(_ *fakeMachine, sys, _ *fakeBus) {
			sys.props["session-2.scope/Scope"]["DevicePolicy"] = "strict"
		}, "limits DevicePolicy", ""},
		{"boxed user", 2, func(_ *fakeMachine, sys, _ *fakeBus) {
			sys.props["user@1000.service/Service"]["IPAddressDeny"] = []any{1}
		}, "user@1000.service limits IPAddressDeny", ""},
		{"unit stops", 1, func(_ *fakeMachine, sys, _ *fakeBus) {
			sys.queue = []Job{{"ci.service", "stop"}}
		}, "ci.service is being stopped", ""},
		{"unit restarts", 1, func(_ *fakeMachine, sys, _ *fakeBus) {
			sys.queue = []Job{{"ci.service", "restart"}}
		}, "restart job", ""},
		{"unit reloads", 1, func(_ *fakeMachine, sys, _ *fakeBus) {
			sys.queue = []Job{{"ci.service", "reload"}, {"other.service", "stop"}}
		}, "", "ci.service"},
		{"slice stops", 0, func(_ *fakeMachine, sys, _ *fakeBus) {
			sys.queue = []Job{{"user-1000.slice", "stop"}}
		}, "user-1000.slice is being stopped", ""},
		{"slice of the user's manager stops", 2, func(_ *fakeMachine, _, usr *fakeBus) {
			usr.queue = []Job{{"app.slice", "stop"}}
		}, "app.slice is being stopped", ""},
		{"the user's manager stops, as pid 1 sees it", 2, func(_ *fakeMachine, sys, _ *fakeBus) {
			sys.queue = []Job{{"user@1000.service", "stop"}}
		}, "user@1000.service is being stopped", ""},
		{"the user's manager stops, as it sees it", 2, func(_ *fakeMachine, _, usr *fakeBus) {
			usr.queue = []Job{{"exit.target", "start"}}
		}, "going down", ""},
		{"shutdown begins", 0, func(_ *fakeMachine, sys, _ *fakeBus) {
			sys.queue = []Job{{"shutdown.target", "start"}}
		}, "going down", ""},
		{"shutdown goes on", 0, func(_ *fakeMachine, sys, _ *fakeBus) {
			sys.props["/Manager"]["SystemState"] = "stopping"
		}, "going down", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, x0, x1, x2 := inhabited(t)
			if c.change != nil {
				c.change(f, f.buses[SystemManager], f.buses["user-1000"])
			}
			o, err := f.systemd(t).Look(t.Context(), []proc.Exec{x0, x1, x2}[c.who])
			if err != nil {
				t.Fatal(err)
			}
			if (c.refuse == "") != (o.Refuse == "") || !strings.Contains(o.Refuse, c.refuse) {
				t.Errorf("refused with %q, want %q in it", o.Refuse, c.refuse)
			}
			if o.PartOf != c.partOf {
				t.Errorf("PartOf %q, want %q", o.PartOf, c.partOf)
			}
		})
	}
}

func TestLookWithoutAsking(t *testing.T) {
	f, _, _, _ := inhabited(t)
	s := f.systemd(t)
	before := f.buses[SystemManager].gets
	for _, c := range []struct {
		name, cgroup, kind, refuse string
	}{
		{"a container", "/system.slice/docker-1.scope", "container", "container"},
		{"the governor", "/system.slice/headroomd.service", "service", "governor itself"},
		{"a job", "/system.slice/headroom-make-0011aabb.scope", "job", ""},
	} {
		o, err := s.Look(t.Context(), f.process(800, 1, c.cgroup))
		if err != nil || o.Kind != c.kind || !strings.Contains(o.Refuse, c.refuse) {
			t.Errorf("%s: %+v, %v", c.name, o, err)
		}
	}
	if o, err := s.Look(t.Context(), proc.Exec{ID: proc.ID{PID: 1}}); o.Refuse == "" || err != nil {
		t.Errorf("pid 1: %+v, %v", o, err)
	}
	if got := f.buses[SystemManager].gets; got != before {
		t.Errorf("%d questions", got-before)
	}
}

func TestLookErrors(t *testing.T) {
	f, x, y, z := inhabited(t)
	s := f.systemd(t)
	if _, err := s.Look(t.Context(), proc.Exec{ID: proc.ID{PID: 4242}}); !errors.Is(err, proc.ErrGone) {
		t.Errorf("nobody: %v", err)
	}
	x.Cgroup = "/user.slice/user-1000.slice/session-9.scope"
	if _, err := s.Look(t.Context(), x); !errors.Is(err, proc.ErrGone) {
		t.Errorf("a session that has ended: %v", err)
	}
	delete(f.buses, "user-1000")
	if o, err := s.Look(t.Context(), z); err == nil {
		t.Errorf("a manager that does not answer: %+v", o)
	}
	delete(f.buses[SystemManager].props["ci.service/Service"], "MainPID")
	if o, err := s.Look(t.Context(), y); err == nil {
		t.Errorf("a service whose main process is not known: %+v", o)
	}
}

func TestLookAsksOnceAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _, x, _ := inhabited(t)
		s, sys := f.systemd(t), f.buses[SystemManager]
		look := func() (string, int) {
			before := sys.gets
			o, err := s.Look(t.Context(), x)
			if err != nil {
				t.Fatal(err)
			}
			return o.Refuse, sys.gets - before
		}
		_, first := look()
		sys.props["ci.service/Service"]["MemoryMax"] = uint64(1)
		refuse, second := look()
		if second >= first || refuse != "" {
			t.Errorf("asked %d, then %d times; %q", first, second, refuse)
		}
		sys.props["ci.service/Service"]["MainPID"] = uint32(600)
		if refuse, _ = look(); !strings.Contains(refuse, "main process") {
			t.Errorf("the main process is kept in mind: %q", refuse)
		}
		time.Sleep(factsKept)
		if refuse, _ = look(); !strings.Contains(refuse, "MemoryMax") {
			t.Errorf("after %v: %q", factsKept, refuse)
		}
		// A restarted unit has a new cgroup.
		sys.props["ci.service/Service"]["MemoryMax"] = Infinity
		os.Rename(filepath.Join(f.cgroup, inService), filepath.Join(f.cgroup, "old"))
		f.mkcgroup(inService)
		if refuse, _ = look(); strings.Contains(refuse, "MemoryMax") {
			t.Errorf("of a former incarnation: %q", refuse)
		}
	})
}

func TestLookConnectsAgain(t *testing.T) {
	f, x, _, _ := inhabited(t)
	s, sys := f.systemd(t), f.buses[SystemManager]
	sys.broken = 1
	if o, err := s.Look(t.Context(), x); err != nil || o.Refuse != "" {
		t.Errorf("after one break: %+v, %v", o, err)
	}
	if sys.dials != 2 || !sys.closed {
		t.Errorf("dialled %d times, closed %v", sys.dials, sys.closed)
	}
	sys.broken = 1000
	if _, err := s.Look(t.Context(), x); !errors.Is(err, errBusGone) {
		t.Errorf("after breaks without end: %v", err)
	}
}
