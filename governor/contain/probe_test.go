package contain

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProbe(t *testing.T) {
	for _, c := range []struct {
		name                    string
		booted                  bool
		euid                    int
		mounted                 bool
		controllers             string // "-" = no such file
		systemd, unified, limit string // parts of the errors; "" = nil
	}{
		{"all", true, 0, true, "cpu memory", "", "", ""},
		{"a stock Raspberry Pi", true, 0, true, "cpu io pids", "", "", "cgroup_enable=memory"},
		{"no systemd", false, 0, true, "cpu memory", "systemd is not running", "", ""},
		{"not root", true, 1000, true, "memory", "uid 1000", "", ""},
		{"no hierarchy", true, 0, false, "-", "", "no cgroup2", "unified hierarchy"},
		{"no controllers file", true, 0, true, "-", "", "", "no cgroup.controllers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			m := places{mountinfo: filepath.Join(dir, "mountinfo"), booted: filepath.Join(dir, "systemd"), euid: c.euid}
			root := filepath.Join(dir, "cgroup")
			os.Mkdir(root, 0o755)
			if c.booted {
				os.Mkdir(m.booted, 0o755)
			}
			var mounts string
			if c.mounted {
				mounts = "31 24 0:26 / " + root + " rw - cgroup2 cgroup2 rw\n"
			}
			os.WriteFile(m.mountinfo, []byte(mounts), 0o644)
			if c.controllers != "-" {
				os.WriteFile(filepath.Join(root, "cgroup.controllers"), []byte(c.controllers+"\n"), 0o644)
			}
			p := m.probe("")
			for _, e := range []struct {
				what string
				err  error
				want string
			}{{"systemd", p.Systemd, c.systemd}, {"unified", p.Unified, c.unified}, {"memory", p.MemoryController, c.limit}} {
				if (e.want == "") != (e.err == nil) || e.err != nil && (!strings.Contains(e.err.Error(), e.want) || !errors.Is(e.err, errors.ErrUnsupported)) {
					t.Errorf("%s: %v, want %q", e.what, e.err, e.want)
				}
			}
			if c.mounted && p.CgroupRoot != root {
				t.Errorf("root %q", p.CgroupRoot)
			}
		})
	}
}

func TestProbeThirdAnswer(t *testing.T) {
	dir := t.TempDir()
	// A file where a directory is expected: neither yes nor no.
	os.WriteFile(filepath.Join(dir, "f"), nil, 0o644)
	m := places{mountinfo: filepath.Join(dir, "none"), booted: filepath.Join(dir, "f", "systemd")}
	p := m.probe("")
	for name, err := range map[string]error{"systemd": p.Systemd, "unified": p.Unified} {
		if err == nil || errors.Is(err, errors.ErrUnsupported) && name == "unified" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNewSystemdSaysWhatIsMissing(t *testing.T) {
	if thisMachine().probe("").Systemd == nil {
		t.Skip("this machine has systemd as pid 1: the refusal is tested where it has not")
	}
	s, err := NewSystemd(t.Context(), SystemdOptions{})
	if s != nil || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("NewSystemd = %v, %v", s, err)
	}
}

func TestNewSystemdThatDoesNotAnswer(t *testing.T) {
	f := newFakeMachine(t)
	_, err := NewSystemd(t.Context(), SystemdOptions{FS: f.fs(), CgroupRoot: f.cgroup,
		Dial: func(context.Context, string) (Bus, error) { return nil, errSome }})
	if !errors.Is(err, errSome) || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("NewSystemd: %v", err)
	}
}
