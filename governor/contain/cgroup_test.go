package contain

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func TestCgroupReads(t *testing.T) {
	c := cgroups{t.TempDir()}
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(c.root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(c.root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("a/cgroup.procs", "12\n0\n7\nx\n")
	put("a/memory.max", "max\n")
	put("a/memory.swap.max", "4096\n")
	put("a/bad", "12q\n")
	put("a/cgroup.freeze", "0\n")
	put("cgroup.controllers", "cpu io memory\n")

	if got, err := c.procs("/a"); err != nil || !slices.Equal(got, []int{12, 7}) {
		t.Errorf("procs %v, %v", got, err)
	}
	for _, k := range []struct {
		file string
		want uint64
		ok   bool
	}{{"memory.max", Infinity, true}, {"memory.swap.max", 4096, true}, {"bad", 0, false}, {"none", 0, false}} {
		if got, err := c.limit("/a", k.file); got != k.want || (err == nil) != k.ok {
			t.Errorf("limit %s = %d, %v", k.file, got, err)
		}
	}
	if got := c.number("/a", "bad"); got != -1 {
		t.Errorf("no number: %d", got)
	}
	if got, err := c.controllers("/"); err != nil || !slices.Equal(got, []string{"cpu", "io", "memory"}) {
		t.Errorf("controllers %q, %v", got, err)
	}
	if err := c.freeze("/a", true); err != nil || !c.frozen("/a") {
		t.Errorf("freeze: %v, %v", err, c.frozen("/a"))
	}
	if err := c.freeze("/b", true); !gone(err) {
		t.Errorf("froze by making a file: %v", err)
	}
	if err := c.attach("/a", 0); err == nil {
		t.Error("attached pid 0, which is the writer itself")
	}
	if u := c.usage("/none"); !u.Gone {
		t.Errorf("usage of nothing: %+v", u)
	}
	if _, err := c.id("/none"); !gone(err) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("id of nothing: %v", err)
	}
	if got := c.dir("/../../etc"); got != filepath.Join(c.root, "etc") {
		t.Errorf("a path that climbs leads to %q", got)
	}
}

func TestWorking(t *testing.T) {
	for _, c := range []struct {
		name string
		stat string
		want int64
	}{
		{"5.18 and later", "anon 100\nfile 7\nkernel 30\nkernel_stack 20\nshmem 5\n", 135},
		{"before", "anon 100\nfile 7\nkernel_stack 20\npagetables 4\npercpu 1\nslab_reclaimable 50\nslab_unreclaimable 3\nshmem 5\n", 133},
		{"nothing", "", -1},
		{"no anon", "file 7\n", -1},
		{"damaged", "anon\nanon x\nanon 3\n\n", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := working(parseTable([]byte(c.stat))); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestGone(t *testing.T) {
	for _, err := range []error{unix.ENOENT, unix.ENODEV, unix.ESRCH, &fs.PathError{Op: "open", Err: unix.ENODEV}} {
		if !gone(err) {
			t.Errorf("%v is not gone", err)
		}
	}
	if gone(unix.EACCES) || gone(nil) {
		t.Error("what may not be read is not gone")
	}
}

func TestFindCgroupRoot(t *testing.T) {
	const (
		unified = "31 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
		v1      = "32 24 0:27 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n"
		named   = "33 24 0:28 / /sys/fs/cgroup/systemd rw shared:9 - cgroup cgroup rw,xattr,name=systemd\n"
	)
	for _, c := range []struct {
		name, text, want string
		missing          bool
	}{
		{"unified", "1 2 0:1 / / rw - ext4 /dev/x rw\n" + unified, "/sys/fs/cgroup", false},
		{"a controller in v1 beside it", unified + v1, "/sys/fs/cgroup", false},
		{"hybrid", "34 24 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n" + named, "", true},
		{"v1 alone", v1, "", true},
		{"nothing", "", "", true},
		{"a part of it alone", "31 24 0:26 /docker/1 /x rw - cgroup2 cgroup2 rw\n", "", true},
		{"a name with a space", "31 24 0:26 / /my\\040cgroup rw - cgroup2 cgroup2 rw\n", "/my cgroup", false},
		{"damaged", "31 24\n - cgroup2\nx - y\n" + unified, "/sys/fs/cgroup", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "mountinfo")
			os.WriteFile(file, []byte(c.text), 0o644)
			got, err := FindCgroupRoot(file)
			if got != c.want || errors.Is(err, errors.ErrUnsupported) != c.missing || (err != nil) != c.missing {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	if _, err := FindCgroupRoot(filepath.Join(t.TempDir(), "none")); err == nil || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("an unreadable file: %v", err)
	}
}
