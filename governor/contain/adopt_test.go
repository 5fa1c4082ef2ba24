package contain

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAdopt(t *testing.T) {
	f, _, _, _ := inhabited(t)
	sys, usr := f.buses[SystemManager], f.buses["user-1000"]
	const (
		ofSession = "/user.slice/user-1000.slice/headroom-npm-00000001.scope"
		ofUser    = "/user.slice/user-1000.slice/user@1000.service/app.slice/headroom-make-00000002.scope"
		empty     = "/system.slice/headroom-gcc-00000003.scope"
		waning    = "/system.slice/headroom-gcc-00000004.scope"
	)
	f.process(811, 810, ofSession)
	f.process(810, 1, ofSession)
	f.process(820, 1, ofUser)
	f.mkcgroup(empty)
	f.process(830, 1, waning)
	f.write(filepath.Join(f.proc, "830/cmdline"), placeholderName+"\x00604800\x00")
	f.file(ofSession, "cgroup.freeze", "1\n")
	f.file(ofSession, "memory.max", "67108864\n")
	sys.unit("headroom-npm-00000001.scope", map[string]any{"OOMPolicy": "continue"})
	sys.props["headroom-npm-00000001.scope/Unit"]["PartOf"] = []string{"session-2.scope"}
	usr.unit("headroom-make-00000002.scope", nil)

	s := f.systemd(t)
	all, err := s.Adopt(t.Context(), false)
	if err != nil || len(all) != 2 {
		t.Fatalf("Adopt = %+v, %v", all, err)
	}
	got := all[0]
	if got.Cgroup != ofSession || got.Main.PID != 810 || got.Moved != 2 || got.MemoryMax != 64<<20 || !got.OOMPolicy || got.Manager != "system" || !got.MemoryController {
		t.Errorf("of the session: %+v", got)
	}
	if s.cg.frozen(ofSession) || !strings.Contains(strings.Join(got.Notes, ""), "frozen") {
		t.Errorf("still frozen, or not told: %q", got.Notes)
	}
	if at, _ := f.fs().Cgroup(got.Placeholder.PID); at != ofSession {
		t.Errorf("placeholder in %q", at)
	}
	if at, _ := f.fs().Cgroup(got.OriginHolder.PID); at != inSession {
		t.Errorf("the session's placeholder in %q", at)
	}
	if got = all[1]; got.Cgroup != ofUser || got.Manager != "user-1000" || got.OOMPolicy || got.OriginHolder.PID != 0 || got.MemoryMax != Infinity {
		t.Errorf("of the user: %+v", got)
	}
	if f.holder.left() != 3 {
		t.Errorf("%d placeholders", f.holder.left())
	}
}

func TestAdoptBounds(t *testing.T) {
	f, _, _, _ := inhabited(t)
	for i := range adoptPerManager + 5 {
		f.process(1000+i, 1, "/user.slice/user-1000.slice/user@1000.service/"+UnitName("x"))
	}
	f.process(2000, 1, "/a/b/c/d/e/f/g/h/i/j/k/"+UnitName("deep"))
	f.process(2001, 1, "/system.slice/"+UnitName("ok"))
	s := f.systemd(t)
	all, err := s.Adopt(t.Context(), false)
	if err != nil || len(all) != adoptPerManager+1 {
		t.Errorf("adopted %d, %v", len(all), err)
	}
}

func TestAdoptWithoutPlaceholder(t *testing.T) {
	f, _, _, _ := inhabited(t)
	f.process(800, 1, "/system.slice/headroom-a-00000001.scope")
	s := f.systemd(t)
	f.holder.refuse = errSome
	all, err := s.Adopt(t.Context(), false)
	if err != nil || len(all) != 1 || all[0].Placeholder.PID != 0 || len(all[0].Notes) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	f.holder.refuse = nil
	s.move = func(string, int) error { return errSome }
	all, err = s.Adopt(t.Context(), false)
	if err != nil || len(all) != 1 || all[0].Placeholder.PID != 0 || f.holder.left() != 0 {
		t.Errorf("%+v, %v, %d placeholders", all, err, f.holder.left())
	}
}

func TestThawAll(t *testing.T) {
	f, _, _, _ := inhabited(t)
	for i, frozen := range []string{"1\n", "0\n", "1\n"} {
		at := "/system.slice/headroom-a-0000000" + string(rune('0'+i)) + ".scope"
		f.mkcgroup(at)
		f.file(at, "cgroup.freeze", frozen)
	}
	f.file("/system.slice/other.service", "cgroup.freeze", "1\n")
	got, err := ThawAll(f.cgroup)
	want := []string{"/system.slice/headroom-a-00000000.scope", "/system.slice/headroom-a-00000002.scope"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("ThawAll = %q, %v", got, err)
	}
	c := cgroups{f.cgroup}
	if c.frozen(want[0]) || c.frozen(want[1]) || !c.frozen("/system.slice/other.service") {
		t.Error("thawed the wrong ones")
	}
	if _, err := ThawAll(filepath.Join(f.cgroup, "none")); !os.IsNotExist(errUnwrap(err)) {
		t.Errorf("no hierarchy: %v", err)
	}
}

func errUnwrap(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok || os.IsNotExist(err) {
			return err
		}
		err = u.Unwrap()
	}
}
