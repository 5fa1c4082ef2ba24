package contain

import (
	"context"
	"errors"
	"path/filepath"
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

// What an earlier governor held stays held for this one, and what it cannot
// have is let go.
func TestAdoptKeepsFrozen(t *testing.T) {
	f, _, _, _ := inhabited(t)
	const (
		held    = "/system.slice/headroom-npm-00000001.scope"
		running = "/system.slice/headroom-npm-00000002.scope"
		empty   = "/system.slice/headroom-npm-00000003.scope"
		foreign = "/system.slice/x.service/headroom-npm-00000004.scope/headroom-npm-00000005.scope"
		user    = "/user.slice/user-1000.slice/user@1000.service/"
	)
	f.process(810, 1, held)
	f.process(820, 1, running)
	f.mkcgroup(empty)
	f.process(830, 1, foreign)
	all := []string{held, empty, filepath.Dir(foreign)}
	f.mkcgroup(filepath.Dir(foreign))
	for i := range adoptPerManager + 3 {
		at := user + UnitName("x")
		f.process(1000+i, 1, at)
		all = append(all, at)
	}
	for _, at := range all {
		f.file(at, "cgroup.freeze", "1\n")
	}
	s := f.systemd(t)
	got, err := s.Adopt(t.Context(), true)
	if err != nil || len(got) != 2+adoptPerManager {
		t.Fatalf("Adopt = %d, %v", len(got), err)
	}
	for _, sc := range got {
		if sc.Frozen != s.cg.frozen(sc.Cgroup) || sc.Frozen == (sc.Cgroup == running) || len(sc.Notes) != 0 {
			t.Errorf("%+v", sc)
		}
		if at, _ := f.fs().Cgroup(sc.Placeholder.PID); at != sc.Cgroup {
			t.Errorf("placeholder of %s in %q", sc.Unit, at)
		}
	}
	if left, err := FrozenScopes(f.cgroup); err != nil || len(left) != 1+adoptPerManager {
		t.Errorf("%d are frozen, %v", len(left), err)
	}
	if got, err = s.Adopt(t.Context(), false); err != nil || len(got) != 2+adoptPerManager {
		t.Errorf("Adopt = %d, %v", len(got), err)
	}
	if left, _ := FrozenScopes(f.cgroup); len(left) != 0 {
		t.Errorf("%d are still frozen", len(left))
	}
}

// A governor that is told to end while it takes over keeps nothing.
func TestAdoptCutShort(t *testing.T) {
	f, _, _, _ := inhabited(t)
	const held = "/system.slice/headroom-npm-00000001.scope"
	f.process(810, 1, held)
	f.file(held, "cgroup.freeze", "1\n")
	s := f.systemd(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := s.Adopt(ctx, true); len(got) != 0 || !errors.Is(err, context.Canceled) || s.cg.frozen(held) {
		t.Errorf("Adopt = %+v, %v, frozen %v", got, err, s.cg.frozen(held))
	}
}
