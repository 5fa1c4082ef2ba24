package contain

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headroomd/headroomd/loader/proc"
)

// TestCgroupfsLimited: what holds a process where it sits, told by the files of
// the cgroups alone.
func TestCgroupfsLimited(t *testing.T) {
	root := aHierarchy(t, map[string]string{
		"boxed/memory.max": "104857600", "boxed/headroom-rest/cgroup.procs": "",
		"swap/memory.swap.max": "0", "nodes/cpuset.mems": "0", "huge/hugetlb.2MB.max": "0", "free/hugetlb.2MB.max": "max",
		"stopped/cgroup.freeze": "1", "stopped/inner/cgroup.freeze": "0", "moving/cgroup.freeze": "0",
	})
	tests := []struct{ name, at, refuse string }{
		{"a name like the governor's own below a limit", "/boxed/headroom-rest", `"/boxed" limits memory.max`},
		{"no swap", "/swap", "limits memory.swap.max"},
		{"some memory nodes", "/nodes", "limits cpuset.mems"},
		{"no huge pages", "/huge", "limits hugetlb.2MB.max"},
		{"huge pages as wanted", "/free", ""},
		{"somebody froze it", "/stopped", "frozen"},
		{"somebody froze what it is in", "/stopped/inner", "frozen"},
		{"not frozen", "/moving", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, err := aCgroupfs(root, "/").Look(t.Context(), proc.Exec{ID: proc.ID{PID: 999}, Cgroup: tt.at})
			if err != nil {
				t.Fatal(err)
			}
			if (o.Refuse == "") != (tt.refuse == "") || !strings.Contains(o.Refuse, tt.refuse) {
				t.Errorf("refused for %q, want %q", o.Refuse, tt.refuse)
			}
		})
	}
}

// TestCgroupfsRelease: a cgroup that is not released stays, empty or not: its
// counters are not read yet, or its process is about to be moved into it.
func TestCgroupfsRelease(t *testing.T) {
	root := aHierarchy(t, map[string]string{"headroom/headroom-busy-01234567.scope/sub/x": ""})
	at := func(unit string) string { return filepath.Join(root, "headroom", unit) }
	const busy, over, other = "headroom-busy-01234567.scope", "headroom-over-01234567.scope", "headroom-other-01234567.scope"
	for _, unit := range []string{over, other} {
		if err := os.Mkdir(at(unit), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := aCgroupfs(root, "/")
	release := func(unit string) {
		t.Helper()
		if err := c.Release(t.Context(), Scope{Unit: unit, Cgroup: "/headroom/" + unit}); err != nil {
			t.Fatal(err)
		}
	}
	there := func(unit string, want bool) {
		t.Helper()
		if _, err := os.Stat(at(unit)); (err == nil) != want {
			t.Errorf("%s: there %v, want %v", unit, err == nil, want)
		}
	}
	release(busy)
	there(busy, true) // not empty yet
	if err := os.RemoveAll(filepath.Join(at(busy), "sub")); err != nil {
		t.Fatal(err)
	}
	release(over)
	there(over, false)
	there(busy, false) // tried again
	there(other, true) // nobody has released it
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	there(other, true)
}

// TestCgroupfsNamespace: the root of a container's cgroup namespace is a cgroup
// like any other, and hands nothing down beside processes.
func TestCgroupfsNamespace(t *testing.T) {
	files := map[string]string{
		"cgroup.procs": "1\n42", "cgroup.controllers": "memory", "cgroup.subtree_control": "",
		"headroom/cgroup.controllers": "memory", "headroom/cgroup.subtree_control": "",
	}
	for name, want := range map[string]string{"the machine's root": "", "a namespace's root": "/headroom-rest 1, /headroom-rest 42"} {
		t.Run(name, func(t *testing.T) {
			root := aHierarchy(t, files)
			if want != "" {
				if err := os.WriteFile(filepath.Join(root, "cgroup.type"), []byte("domain\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			c := aCgroupfs(root, "/")
			var moved []string
			c.move = func(to string, pid int) error {
				if moved = append(moved, fmt.Sprint(to, " ", pid)); len(moved) == 2 {
					os.WriteFile(filepath.Join(root, "cgroup.procs"), nil, 0o644)
				}
				return nil
			}
			if err := c.divide(); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(moved, ", "); got != want {
				t.Errorf("moved %q, want %q", got, want)
			}
		})
	}
}

// TestCgroupfsClearOthers: a user's governor does not move what is another's,
// and moves nothing at all then.
func TestCgroupfsClearOthers(t *testing.T) {
	root := aHierarchy(t, map[string]string{"mine/cgroup.procs": fmt.Sprint(os.Getpid())})
	c := aCgroupfs(root, "/mine")
	c.euid = os.Geteuid() + 1
	c.move = func(string, int) error { t.Error("moved"); return nil }
	if err := c.clear(); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "belongs to uid") {
		t.Errorf("got %v, want it unsupported", err)
	}
}

// TestCgroupfsPlaceNotGone: a cgroup that somebody removed is no ended process.
func TestCgroupfsPlaceNotGone(t *testing.T) {
	root := aHierarchy(t, map[string]string{"headroom/cgroup.controllers": ""})
	self, err := proc.NewFS("/proc").Stat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	c := aCgroupfs(root, "/")
	c.adjust = func(int) error { return nil }
	c.move = func(to string, _ int) error {
		if err := os.RemoveAll(filepath.Join(root, to)); err != nil {
			t.Fatal(err)
		}
		return os.ErrNotExist
	}
	_, err = c.Place(t.Context(), Spec{Unit: "headroom-make-01234567.scope", Exec: proc.Exec{ID: self.ID}, Origin: Origin{Cgroup: "/x", Kind: "cgroup"}})
	if err == nil || errors.Is(err, proc.ErrGone) {
		t.Errorf("got %v, want an error that is not ErrGone", err)
	}
}
