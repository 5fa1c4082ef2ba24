package contain

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headroomd/headroomd/loader/proc"
)

// aHierarchy is a directory with the files of cgroups, by their path.
func aHierarchy(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func aCgroupfs(root, base string) *Cgroupfs {
	return &Cgroupfs{scopes: newScopes(proc.NewFS("/proc"), root, slog.New(slog.DiscardHandler), noPlaceholders{}), base: base}
}

func TestCgroupfsLook(t *testing.T) {
	root := aHierarchy(t, map[string]string{
		"free/memory.max": "max", "free/pids.max": "max", "free/cpu.max": "max 100000", "free/io.max": "", "free/cpuset.cpus": "",
		"boxed/memory.max": "104857600", "boxed/inner/memory.max": "max",
		"slow/cpu.max": "50000 100000", "pinned/cpuset.cpus": "0-1", "plain/cgroup.procs": "",
	})
	tests := []struct {
		name, base, at string
		refuse         string // "" if it may be moved
		kind           string
	}{
		{"the root", "/", "/", "", "cgroup"},
		{"without limits", "/", "/free", "", "cgroup"},
		{"without controllers", "/", "/plain", "", "cgroup"},
		{"a memory limit", "/", "/boxed", "limits memory.max", "cgroup"},
		{"below a memory limit", "/", "/boxed/inner", `"/boxed" limits memory.max`, "cgroup"},
		{"a share of the CPU", "/", "/slow", "limits cpu.max", "cgroup"},
		{"some CPUs", "/", "/pinned", "limits cpuset.cpus", "cgroup"},
		{"a job", "/", "/headroom/headroom-x-01234567.scope/sub", "", "job"},
		{"a container", "/", "/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "container (docker", "container"},
		{"what was delegated", "/boxed", "/boxed/headroom-rest", "", "cgroup"},
		{"outside of it", "/boxed", "/free", "outside the cgroup", "cgroup"},
		{"of a name like it", "/boxed", "/boxed2", "outside the cgroup", "cgroup"},
		{"another namespace", "/", "/../x", "namespace", "cgroup"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, err := aCgroupfs(root, tt.base).Look(t.Context(), proc.Exec{ID: proc.ID{PID: 999}, Cgroup: tt.at})
			if err != nil {
				t.Fatal(err)
			}
			if (o.Refuse == "") != (tt.refuse == "") || !strings.Contains(o.Refuse, tt.refuse) || o.Kind != tt.kind {
				t.Errorf("got %q, refused for %q; want %q, %q", o.Kind, o.Refuse, tt.kind, tt.refuse)
			}
		})
	}
	if o, err := aCgroupfs(root, "/").Look(t.Context(), proc.Exec{ID: proc.ID{PID: 1}}); err != nil || o.Refuse == "" {
		t.Errorf("pid 1: %+v, %v", o, err)
	}
}

func TestCgroupfsBase(t *testing.T) {
	root := aHierarchy(t, map[string]string{"mine/cgroup.procs": "", "mine/cgroup.subtree_control": ""})
	tests := []struct {
		name   string
		euid   int
		booted bool
		own    string
		base   string
		fails  string
	}{
		{"root without systemd", 0, false, "/mine", "/", ""},
		{"a cgroup of the user's own", 1000, false, "/mine", "/mine", ""},
		{"one that an earlier governor divided", 1000, false, "/mine/headroom-rest", "/mine", ""},
		{"a user in the root", 1000, false, "/", "", "may not divide the root"},
		{"systemd's", 0, true, "/mine", "", "has not delegated"},
		{"one that is not there", 1000, false, "/gone", "", "not uid 1000's to divide"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := aCgroupfs(root, "")
			c.euid = tt.euid
			err := c.findBase(tt.own, tt.booted)
			if tt.fails == "" && (err != nil || c.base != tt.base) {
				t.Errorf("got %q, %v; want %q", c.base, err, tt.base)
			}
			if tt.fails != "" && (!errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), tt.fails)) {
				t.Errorf("got %v, want it unsupported: %q", err, tt.fails)
			}
		})
	}
}

// TestCgroupfsDivide: the controllers that there are are handed down, and what
// sits in a delegated cgroup itself is moved out of the way.
func TestCgroupfsDivide(t *testing.T) {
	root := aHierarchy(t, map[string]string{
		"mine/cgroup.procs": "41\n42", "mine/cgroup.controllers": "cpu pids", "mine/cgroup.subtree_control": "",
		"mine/headroom/cgroup.controllers": "cpu pids", "mine/headroom/cgroup.subtree_control": "",
	})
	c := aCgroupfs(root, "/mine")
	var moved []string
	c.move = func(to string, pid int) error {
		moved = append(moved, fmt.Sprint(to, " ", pid))
		if len(moved) == 2 {
			os.WriteFile(filepath.Join(root, "mine/cgroup.procs"), nil, 0o644)
		}
		return nil
	}
	if err := c.divide(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(moved, ", "); got != "/mine/headroom-rest 41, /mine/headroom-rest 42" {
		t.Errorf("moved were %s", got)
	}
	if text, _ := os.ReadFile(filepath.Join(root, "mine/cgroup.subtree_control")); string(text) != "+cpu" { // the last that was written
		t.Errorf("handed down was %q", text)
	}
	if c.MemoryController() || !strings.Contains(c.Describe(), "no memory controller") {
		t.Errorf("without the memory controller it says %q", c.Describe())
	}
}

func TestCgroupfsPlace(t *testing.T) {
	root := aHierarchy(t, map[string]string{"headroom/cgroup.controllers": ""})
	self, err := proc.NewFS("/proc").Stat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	spec := Spec{Unit: "headroom-make-01234567.scope", Exec: proc.Exec{ID: self.ID}, Origin: Origin{Cgroup: "/x", Kind: "cgroup"},
		Limits: Limits{MemoryMax: 64 << 20}}
	at := filepath.Join(root, "headroom", spec.Unit)
	c := aCgroupfs(root, "/")
	c.adjust = func(int) error { return nil }
	c.move = func(to string, pid int) error {
		return os.WriteFile(filepath.Join(root, to, "cgroup.procs"), fmt.Appendln(nil, pid), 0o644)
	}
	forced := ""
	spec.InForce = func(sc Scope) { forced = sc.Cgroup }
	sc, err := c.Place(t.Context(), spec)
	if err != nil || sc.Cgroup != "/headroom/"+spec.Unit || sc.Moved != 1 || sc.MemoryController || forced != sc.Cgroup {
		t.Errorf("placed as %+v, %v; in force was %q", sc, err, forced)
	}
	os.RemoveAll(at)

	c.move = func(to string, _ int) error {
		if to == "/x" {
			return nil
		}
		return errors.New("refused")
	}
	if _, err := c.Place(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("a move that is refused: %v", err)
	}
	if _, err := os.Stat(at); !os.IsNotExist(err) {
		t.Errorf("it left a cgroup: %v", err)
	}
	for name, change := range map[string]func(*Spec){
		"pid 1":         func(s *Spec) { s.Exec.ID = proc.ID{PID: 1} },
		"a bad name":    func(s *Spec) { s.Unit = "../x.scope" },
		"refused":       func(s *Spec) { s.Origin.Refuse = "no" },
		"in a job":      func(s *Spec) { s.Origin.Kind = "job" },
		"another start": func(s *Spec) { s.Exec.ID.Start++ },
	} {
		other := spec
		change(&other)
		if _, err := c.Place(t.Context(), other); err == nil {
			t.Errorf("%s: placed", name)
		}
	}
}

// TestCgroupfsAdopt: what a former governor left is found; what is empty is
// removed.
func TestCgroupfsAdopt(t *testing.T) {
	const running, empty = "headroom/headroom-a-01234567.scope", "headroom/headroom-b-01234567.scope"
	root := aHierarchy(t, map[string]string{running + "/cgroup.procs": fmt.Sprint(os.Getpid()), running + "/cgroup.freeze": "1"})
	if err := os.Mkdir(filepath.Join(root, empty), 0o755); err != nil {
		t.Fatal(err)
	}
	c := aCgroupfs(root, "/")
	found, err := c.Adopt(t.Context(), false)
	if err != nil || len(found) != 1 || found[0].Main.PID != os.Getpid() || found[0].Frozen {
		t.Fatalf("found %+v, %v; want the one that runs, let go", found, err)
	}
	if c.cg.frozen("/" + running) {
		t.Error("it stays frozen")
	}
	if _, err := os.Stat(filepath.Join(root, empty)); !os.IsNotExist(err) {
		t.Errorf("what is empty stays: %v", err)
	}
	if err := c.cg.freeze("/"+running, true); err != nil {
		t.Fatal(err)
	}
	if found, err = c.Adopt(t.Context(), true); err != nil || len(found) != 1 || !found[0].Frozen || !c.cg.frozen("/"+running) {
		t.Errorf("kept: %+v, %v", found, err)
	}
}

func TestDelegatedTree(t *testing.T) {
	if got := DelegatedTree("/sys/fs/cgroup", "/mine/headroom-rest"); got != "/sys/fs/cgroup/mine" {
		t.Errorf("got %q", got)
	}
	if got := DelegatedTree("/sys/fs/cgroup", "/user.slice/session-1.scope"); got != "" {
		t.Errorf("got %q for a governor that was given nothing", got)
	}
}
