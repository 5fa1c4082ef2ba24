package contain

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// order looks at x and makes the order to place it.
func order(t testing.TB, s *Systemd, x proc.Exec) Spec {
	t.Helper()
	o, err := s.Look(t.Context(), x)
	if err != nil || o.Refuse != "" {
		t.Fatalf("Look = %+v, %v", o, err)
	}
	return Spec{Unit: "headroom-npm-0011aabb.scope", Description: "npm test", Exec: x, Origin: o,
		Limits: Limits{MemoryMax: 64<<20 + 5, MemorySwapMax: 4096, TasksMax: 50}}
}

func TestPlace(t *testing.T) {
	for _, c := range []struct {
		name, slice, cgroup, partOf string
		who                         int
	}{
		{"session", "user-1000.slice", "/user.slice/user-1000.slice/headroom-npm-0011aabb.scope", "session-2.scope", 0},
		{"service", "system.slice", "/system.slice/headroom-npm-0011aabb.scope", "ci.service", 1},
		{"user", "app.slice", path.Dir(inUser) + "/headroom-npm-0011aabb.scope", "vte-spawn-1.scope", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, x0, x1, x2 := inhabited(t)
			s := f.systemd(t)
			x := []proc.Exec{x0, x1, x2}[c.who]
			spec := order(t, s, x)
			sc, err := s.Place(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			id, _ := s.cg.id(c.cgroup)
			want := Scope{Unit: spec.Unit, Main: x.ID, Manager: spec.Origin.Manager, Cgroup: c.cgroup, CgroupID: id, MemoryMax: 64 << 20,
				MemorySwapMax: 4096, MemoryController: true, OOMPolicy: true, Moved: 1,
				Placeholder: sc.Placeholder, OriginHolder: sc.OriginHolder, Took: sc.Took}
			if !reflect.DeepEqual(sc, want) {
				t.Errorf("got  %+v\nwant %+v", sc, want)
			}
			if at, _ := f.fs().Cgroup(sc.Placeholder.PID); at != c.cgroup {
				t.Errorf("the placeholder is in %q", at)
			}
			at, _ := f.fs().Cgroup(sc.OriginHolder.PID)
			if c.who == 0 && at != inSession || c.who != 0 && sc.OriginHolder.PID != 0 {
				t.Errorf("left behind: %v in %q", sc.OriginHolder, at)
			}
			got := f.buses[spec.Origin.Manager].started[0]
			unit := []string{c.partOf}
			wantProps := props{"unit": spec.Unit, "mode": "fail", "Description": "npm test", "Slice": c.slice,
				"PIDs": []uint32{uint32(x.ID.PID), uint32(sc.Placeholder.PID)}, "MemoryMax": uint64(64<<20 + 5), "MemorySwapMax": uint64(4096),
				"TasksMax": uint64(50), "OOMPolicy": "continue", "CollectMode": "inactive-or-failed", "TimeoutStopUSec": uint64(8e6),
				"PartOf": unit, "Requisite": unit, "After": unit}
			if c.who == 1 {
				wantProps["StopPropagatedFrom"] = unit
			}
			if !reflect.DeepEqual(got, wantProps) {
				t.Errorf("asked for %v\nwant      %v", got, wantProps)
			}
			if !slices.Equal(f.holder.adjusted, []int{x.ID.PID}) {
				t.Errorf("raised %v", f.holder.adjusted)
			}
			if err := s.Release(t.Context(), sc); err != nil || f.holder.left() != 0 {
				t.Errorf("Release = %v, %d placeholders left", err, f.holder.left())
			}
		})
	}
}

func TestProperties(t *testing.T) {
	for _, c := range []struct {
		name string
		spec Spec
		want map[string]any // nil value: not asked for
	}{
		{"no limits, from a session", Spec{Origin: Origin{Kind: "session"}}, map[string]any{"MemoryMax": nil, "MemorySwapMax": nil, "TasksMax": Infinity}},
		{"no limits, from a service", Spec{Origin: Origin{Kind: "service"}}, map[string]any{"MemoryMax": nil, "TasksMax": nil, "PartOf": nil, "Requisite": nil, "After": nil}},
		{"no swap", Spec{Limits: Limits{MemoryMax: 1}}, map[string]any{"MemoryMax": uint64(1), "MemorySwapMax": uint64(0)}},
		{"any", Spec{Origin: Origin{PartOf: "a.service"}}, map[string]any{"BindsTo": nil, "Requires": nil, "MemoryHigh": nil, "OOMPolicy": nil}},
		{"an old systemd", Spec{Origin: Origin{Kind: "service", PartOf: "a.service"}}, map[string]any{"StopPropagatedFrom": nil, "OOMPolicy": nil}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := asProps("", "", properties(c.spec, c.spec.Origin, []int{1}, abilities{}))
			for name, want := range c.want {
				if v, ok := got[name]; ok != (want != nil) || ok && v != want {
					t.Errorf("%s is %v, want %v", name, got[name], want)
				}
			}
		})
	}
}

func TestPlaceRefuses(t *testing.T) {
	f, x, _, _ := inhabited(t)
	s := f.systemd(t)
	good := order(t, s, x)
	for _, c := range []struct {
		name string
		edit func(*Spec)
		as   error
	}{
		{"pid 0", func(s *Spec) { s.Exec.ID.PID = 0 }, nil},
		{"pid 1", func(s *Spec) { s.Exec.ID.PID = 1 }, nil},
		{"another's pid", func(s *Spec) { s.Exec.ID.Start++ }, proc.ErrGone},
		{"nobody", func(s *Spec) { s.Exec.ID.PID = 4242 }, proc.ErrGone},
		{"a foreign name", func(s *Spec) { s.Unit = "ssh.service" }, nil},
		{"a name that climbs", func(s *Spec) { s.Unit = "headroom-../x-0011aabb.scope" }, nil},
		{"refused", func(s *Spec) { s.Origin.Refuse = "boxed" }, new(RefusedError)},
		{"a job", func(s *Spec) { s.Origin.Kind = "job" }, nil},
		{"not looked at", func(s *Spec) { s.Origin = Origin{} }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := good
			c.edit(&spec)
			sc, err := s.Place(t.Context(), spec)
			var refused *RefusedError
			switch {
			case err == nil:
				t.Fatalf("placed: %+v", sc)
			case c.as == proc.ErrGone && !errors.Is(err, proc.ErrGone), c.as != nil && c.as != proc.ErrGone && !errors.As(err, &refused):
				t.Errorf("error %v", err)
			}
		})
	}
	if n := len(f.buses[SystemManager].started); n != 0 || f.holder.left() != 0 {
		t.Errorf("%d starts, %d placeholders", n, f.holder.left())
	}
}

func TestPlaceFails(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(f *fakeMachine, sys *fakeBus)
		starts int
		err    string // a part; "" = placed after all
		note   string
	}{
		{"refused once", func(_ *fakeMachine, sys *fakeBus) {
			sys.refuse = func(props) error {
				if len(sys.started) == 1 {
					return errRefused
				}
				return nil
			}
		}, 2, "", ""},
		{"refused for good", func(_ *fakeMachine, sys *fakeBus) {
			sys.refuse = func(props) error { return errRefused }
		}, 2, "place pid 500", ""},
		{"refused, and the fresh look knows why", func(_ *fakeMachine, sys *fakeBus) {
			sys.refuse = func(props) error {
				sys.queue = []Job{{"session-2.scope", "stop"}}
				return errRefused
			}
		}, 1, "being stopped", ""},
		{"the job fails", func(_ *fakeMachine, sys *fakeBus) { sys.result = "dependency" }, 2, `ended as "dependency"`, ""},
		{"an old systemd", func(_ *fakeMachine, sys *fakeBus) {
			sys.refuse = func(p props) error {
				if p["OOMPolicy"] != nil {
					return dbus.NewError("org.freedesktop.DBus.Error.PropertyReadOnly", nil)
				}
				return nil
			}
		}, 2, "", "knows no OOMPolicy="},
		{"an old systemd that says so", func(_ *fakeMachine, sys *fakeBus) {
			sys.props["/Manager"]["Version"] = "249.11-0ubuntu3"
		}, 1, "", "knows no OOMPolicy="},
		{"the word is lost, the process is there", func(_ *fakeMachine, sys *fakeBus) { sys.after = errLost }, 1, "", "did not arrive"},
		{"the connection breaks before", func(_ *fakeMachine, sys *fakeBus) { sys.onStart = func() { sys.broken = 2 - len(sys.started) } }, 2, "", ""},
		{"it ends meanwhile", func(f *fakeMachine, sys *fakeBus) { sys.onStart = func() { f.kill(500) } }, 1, "gone", ""},
		{"done, but elsewhere", func(f *fakeMachine, sys *fakeBus) { sys.put = "/system.slice/other.service" }, 1, "the manager said done", ""},
		{"done, in another slice", func(f *fakeMachine, sys *fakeBus) { sys.put = "/app.slice/headroom-npm-0011aabb.scope" }, 1, "", "asked for below user-1000.slice"},
		{"no placeholder", func(f *fakeMachine, sys *fakeBus) { f.holder.refuse = errSome }, 1, "", "no placeholder"},
		{"a frozen session", func(f *fakeMachine, sys *fakeBus) { f.file(inSession, "cgroup.freeze", "1\n") }, 1, "", "is frozen"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, x, _, _ := inhabited(t)
			sys := f.buses[SystemManager]
			if c.name == "an old systemd that says so" {
				c.change(f, sys)
			}
			s := f.systemd(t)
			spec := order(t, s, x)
			c.change(f, sys)
			sc, err := s.Place(t.Context(), spec)
			if len(sys.started) != c.starts {
				t.Errorf("%d starts, want %d", len(sys.started), c.starts)
			}
			if (c.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if notes := strings.Join(sc.Notes, "; "); (c.note == "") != (notes == "") || !strings.Contains(notes, c.note) {
				t.Errorf("notes %q, want %q", notes, c.note)
			}
			if err != nil && f.holder.left() != 0 {
				t.Errorf("%d placeholders left after an error", f.holder.left())
			}
			if c.starts == 2 && err == nil && sc.Unit == spec.Unit {
				t.Errorf("the second start took the first one's name %q", sc.Unit)
			}
		})
	}
}

func TestPlaceWithoutMemoryController(t *testing.T) {
	f, x, _, _ := inhabited(t)
	f.file("/", "cgroup.controllers", "cpu pids\n")
	s := f.systemd(t)
	spec := order(t, s, x)
	at := "/user.slice/user-1000.slice/" + spec.Unit
	f.file(at, "cgroup.procs", "")
	sc, err := s.Place(t.Context(), spec)
	if err != nil || sc.MemoryController || sc.MemoryMax != 0 || len(sc.Notes) != 1 || !strings.Contains(sc.Notes[0], "not enforced") {
		t.Errorf("%+v, %v", sc, err)
	}
	if u := s.Usage(sc); u.Gone || u.Current != -1 || u.Working != -1 || u.OOMKills != -1 || u.Peak != -1 || u.Swap != -1 {
		t.Errorf("usage %+v", u)
	}
	if s.MemoryController() || !strings.Contains(s.Describe(), "no memory controller") {
		t.Errorf("%v %q", s.MemoryController(), s.Describe())
	}
}

func TestPlaceTree(t *testing.T) {
	f, x, _, _ := inhabited(t)
	f.process(501, 500, inSession)
	f.process(502, 501, inSession)
	f.process(503, 502, "/system.slice/docker-1.scope") // put there on purpose
	f.process(510, 1, inSession)                        // a stranger
	s := f.systemd(t)
	spec := order(t, s, x)
	spec.Tree = true
	// A child that is born while the scope starts.
	f.buses[SystemManager].onStart = func() { f.process(504, 502, inSession) }
	sc, err := s.Place(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	got := f.buses[SystemManager].started[0]["PIDs"].([]uint32)
	if want := []uint32{500, 501, 502, uint32(sc.Placeholder.PID)}; !slices.Equal(got, want) {
		t.Errorf("PIDs %v, want %v", got, want)
	}
	for _, pid := range []int{503, 510} {
		if at, _ := f.fs().Cgroup(pid); at == sc.Cgroup {
			t.Errorf("%d was moved", pid)
		}
	}
	if at, _ := f.fs().Cgroup(504); at != sc.Cgroup || sc.Moved != 4 || len(sc.Notes) != 0 {
		t.Errorf("the late child is in %q; %+v", at, sc)
	}
	if !slices.Contains(f.holder.adjusted, 502) || !slices.Contains(f.holder.adjusted, 504) {
		t.Errorf("raised %v", f.holder.adjusted)
	}
}

func TestJoin(t *testing.T) {
	f, x, _, _ := inhabited(t)
	s := f.systemd(t)
	sc, err := s.Place(t.Context(), order(t, s, x))
	if err != nil {
		t.Fatal(err)
	}
	y := f.process(520, 1, inSession)
	if n, err := s.Join(t.Context(), sc, y, false); n != 1 || err != nil {
		t.Errorf("Join = %d, %v", n, err)
	}
	if at, _ := f.fs().Cgroup(520); at != sc.Cgroup || !slices.Contains(f.holder.adjusted, 520) {
		t.Errorf("it is in %q, raised %v", at, f.holder.adjusted)
	}
	if n, err := s.Join(t.Context(), sc, y, true); n != 0 || err != nil {
		t.Errorf("a member: Join = %d, %v", n, err)
	}
	z := f.process(530, 1, inSession)
	f.process(531, 530, inSession)
	f.process(532, 531, inService)
	if n, err := s.Join(t.Context(), sc, z, true); n != 2 || err != nil {
		t.Errorf("a tree: Join = %d, %v", n, err)
	}
	s.move = func(string, int) error { return unix.ESRCH }
	if n, err := s.Join(t.Context(), sc, f.process(540, 1, inSession), false); n != 0 || err != nil {
		t.Errorf("ended meanwhile: Join = %d, %v", n, err)
	}
	s.move = func(string, int) error { return unix.EBUSY }
	if n, err := s.Join(t.Context(), sc, f.process(541, 1, inSession), false); n != 0 || !errors.Is(err, unix.EBUSY) {
		t.Errorf("not taken: Join = %d, %v", n, err)
	}
	y.ID.Start++
	if _, err := s.Join(t.Context(), sc, y, false); !errors.Is(err, proc.ErrGone) {
		t.Errorf("another's pid: %v", err)
	}
	if _, err := s.Join(t.Context(), sc, proc.Exec{}, false); err == nil {
		t.Error("pid 0 joined")
	}
	bad := sc
	bad.Cgroup = inService
	if _, err := s.Join(t.Context(), bad, x, false); err == nil {
		t.Error("joined what is no job")
	}
	bad = sc
	bad.CgroupID++
	if _, err := s.Join(t.Context(), bad, x, false); !errors.Is(err, ErrNoScope) {
		t.Errorf("another scope of the name: %v", err)
	}
	bad.Cgroup = filepath.Join("/system.slice", sc.Unit)
	if _, err := s.Join(t.Context(), bad, x, false); !errors.Is(err, ErrNoScope) {
		t.Errorf("no scope: %v", err)
	}
}

func TestUnitName(t *testing.T) {
	for _, c := range []struct{ family, prefix string }{
		{"npm", "headroom-npm-"}, {"", "headroom-job-"}, {"a/../b c%n", "headroom-a_.._b_c_n-"},
		{strings.Repeat("x", 99), "headroom-" + strings.Repeat("x", 40) + "-"}, {"ü", "headroom-_-"},
	} {
		got := UnitName(c.family)
		if !strings.HasPrefix(got, c.prefix) || !unitName.MatchString(got) || !IsScopeName(got) {
			t.Errorf("UnitName(%q) = %q", c.family, got)
		}
		if other := renamed(got); other == got || !strings.HasPrefix(other, c.prefix) {
			t.Errorf("renamed(%q) = %q", got, other)
		}
	}
}

func TestPlaceGivesUp(t *testing.T) {
	f, x, _, _ := inhabited(t)
	s := f.systemd(t)
	spec := order(t, s, x)
	ctx, cancel := context.WithCancel(t.Context())
	f.buses[SystemManager].refuse = func(props) error { cancel(); return ctx.Err() }
	if _, err := s.Place(ctx, spec); !errors.Is(err, context.Canceled) || len(f.buses[SystemManager].started) != 1 {
		t.Errorf("error %v, %d starts", err, len(f.buses[SystemManager].started))
	}
}
