package contain

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
)

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
	if got, err := ThawAll(f.cgroup); err != nil || len(got) != 0 {
		t.Errorf("once more: %q, %v", got, err)
	}
	if _, err := ThawAll(filepath.Join(f.cgroup, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no hierarchy: %v", err)
	}
}

func TestOwnTree(t *testing.T) {
	for _, c := range []struct {
		uid  int
		want string
	}{{0, "/c"}, {1000, "/c/user.slice/user-1000.slice/user@1000.service"}} {
		if got := OwnTree("/c", c.uid); got != c.want {
			t.Errorf("of %d: %q, want %q", c.uid, got, c.want)
		}
	}
}
