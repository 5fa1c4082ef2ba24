package contain

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/headroomd/headroomd/loader/proc"
)

// fakeBox is a container's cgroup in a directory.
type fakeBox struct {
	t    *testing.T
	root string
	box  proc.Container
	file string
}

const mb = uint64(1 << 20)

func newFakeBox(t *testing.T) *fakeBox {
	t.Helper()
	f := &fakeBox{t: t, root: t.TempDir(), box: proc.Container{Engine: "docker", Name: "abc", Cgroup: "/docker/abc"}}
	f.file = filepath.Join(t.TempDir(), "containers.json")
	if err := os.MkdirAll(filepath.Join(f.root, f.box.Cgroup), 0o755); err != nil {
		t.Fatal(err)
	}
	f.put("memory.max", "max")
	f.put("memory.swap.max", "max")
	f.put("memory.swap.current", "0")
	f.put("memory.oom.group", "0")
	f.put("memory.events", "max 0\noom_kill 2")
	f.uses(300, 200)
	return f
}

// uses sets what is charged, and what of it cannot be dropped, in MB.
func (f *fakeBox) uses(current, anon uint64) {
	f.t.Helper()
	f.put("memory.current", strconv.FormatUint(current*mb, 10))
	f.put("memory.stat", "anon "+strconv.FormatUint(anon*mb, 10)+"\nkernel 0")
}

func (f *fakeBox) put(file, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.root, f.box.Cgroup, file), []byte(text+"\n"), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fakeBox) remove(file string) {
	f.t.Helper()
	if err := os.Remove(filepath.Join(f.root, f.box.Cgroup, file)); err != nil {
		f.t.Fatal(err)
	}
}

// want compares limits, in MB; 0 is "max".
func (f *fakeBox) want(what string, memory, swap uint64) {
	f.t.Helper()
	for file, want := range map[string]uint64{"memory.max": memory, "memory.swap.max": swap} {
		text := "max"
		if want != 0 {
			text = strconv.FormatUint(want*mb, 10)
		}
		got, err := os.ReadFile(filepath.Join(f.root, f.box.Cgroup, file))
		if err != nil || strings.TrimSpace(string(got)) != text {
			f.t.Errorf("%s: %s is %s, want %s (%v)", what, file, got, text, err)
		}
	}
}

func (f *fakeBox) open() *Containers {
	c := NewContainers(f.root, f.file, slog.New(slog.DiscardHandler))
	c.delegated = func(string) error { return nil }
	return c
}

// lower has a job of 400 MB and 256 MB of swap begin.
func (f *fakeBox) lower(c *Containers, job string) ContainerCap {
	f.t.Helper()
	got, err := c.Lower(job, f.box, Limits{MemoryMax: 400 * mb, MemorySwapMax: 256 * mb})
	if err != nil {
		f.t.Fatal(err)
	}
	return got
}

func TestContainerIsCappedAndGivenBack(t *testing.T) {
	for _, test := range []struct {
		name         string
		set          func(f *fakeBox)
		memory, swap uint64 // while the job runs; 0 max
		after        uint64 // memory.max
	}{
		{"what it uses counts", func(*fakeBox) {}, 600, 256, 0},
		{"what is cached may be dropped, but not by us", func(f *fakeBox) { f.uses(900, 200) }, 964, 256, 0},
		{"a higher limit", func(f *fakeBox) { f.put("memory.max", "838860800") }, 600, 256, 800},
		{"a lower limit stays", func(f *fakeBox) { f.put("memory.max", "524288000") }, 500, 256, 500},
		{"the same limit", func(f *fakeBox) { f.put("memory.max", "629145600") }, 600, 256, 600},
		{"it has swapped", func(f *fakeBox) { f.put("memory.swap.current", "104857600") }, 600, 356, 0},
		{"no working set", func(f *fakeBox) { f.remove("memory.stat") }, 700, 256, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFakeBox(t)
			test.set(f)
			c := f.open()
			got := f.lower(c, "a")
			f.want("capped", test.memory, test.swap)
			if got.MemoryMax != test.memory*mb || got.Lowered != (test.memory != test.after) {
				t.Errorf("told %+v", got)
			}
			if err := c.Restore("another", f.box.Cgroup); err != nil {
				t.Error(err)
			}
			f.want("another job has ended", test.memory, test.swap)
			if err := c.Restore("a", f.box.Cgroup); err != nil {
				t.Error(err)
			}
			f.want("given back", test.after, 0)
		})
	}
}

func TestContainerGrantChanges(t *testing.T) {
	f := newFakeBox(t)
	f.put("memory.max", strconv.FormatUint(1000*mb, 10))
	c := f.open()
	f.lower(c, "a")
	f.uses(500, 400) // of the job
	for _, grant := range []struct{ mb, want uint64 }{{500, 700}, {200, 564}, {900, 1000}, {300, 564}} {
		got, err := c.Lower("a", f.box, Limits{MemoryMax: grant.mb * mb, MemorySwapMax: 256 * mb})
		if err != nil {
			t.Fatal(err)
		}
		f.want("changed", grant.want, 256)
		if got.MemoryMax != grant.want*mb || got.MemoryWas != 1000*mb {
			t.Errorf("%d MB: %+v", grant.mb, got)
		}
	}
	// The next job counts what there is by then, and what the first has lowered
	// is not what is given back.
	f.lower(c, "b")
	f.want("the next job", 800, 256)
	if err := errors.Join(c.Restore("a", f.box.Cgroup), c.Restore("b", f.box.Cgroup)); err != nil {
		t.Error(err)
	}
	f.want("given back", 1000, 0)
}

func TestContainerIsNotCapped(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(f *fakeBox, c *Containers)
		want string
		is   error
	}{
		{"no cgroup of its own", func(f *fakeBox, _ *Containers) { f.box.Cgroup = "" }, "no cgroup of its own", ErrUncapped},
		{"gone", func(f *fakeBox, _ *Containers) { f.box.Cgroup = "/docker/other" }, "gone", proc.ErrGone},
		{"no controller", func(f *fakeBox, _ *Containers) { f.remove("memory.max") }, "no memory controller", ErrUncapped},
		{"killed as a whole", func(f *fakeBox, _ *Containers) { f.put("memory.oom.group", "1") }, "memory.oom.group", ErrUncapped},
		{"stopped as a whole", func(f *fakeBox, c *Containers) { f.box.Unit, c.delegated = "docker-abc.scope", delegated }, "not delegated", ErrUncapped},
		{"unread", func(f *fakeBox, _ *Containers) { f.remove("memory.current") }, "cannot be read", ErrUncapped},
		{"nowhere to keep it", func(f *fakeBox, c *Containers) { c.file = "/proc/none/x" }, "write down", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFakeBox(t)
			c := f.open()
			test.set(f, c)
			_, err := c.Lower("a", f.box, Limits{MemoryMax: 400 * mb})
			if err == nil || !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("Lower: %v", err)
			}
			if len(c.all) != 0 {
				t.Errorf("kept %v", c.all)
			}
		})
	}
}

func TestContainerIsChecked(t *testing.T) {
	for _, test := range []struct {
		name, put string // memory.max; "" as it is
		current   uint64
		change    string
		now       uint64 // MB
		after     uint64 // given back; 0 max
	}{
		{"as it was set", "", 300, "", 600, 0},
		{"a reload", "max", 300, "put back to max", 600, 0},
		{"a reload, and it grew meanwhile", "max", 650, "put back to max", 714, 0},
		{"raised by somebody", "2147483648", 300, "put back to 2147483648", 600, 2048},
		{"lowered by somebody", "419430400", 300, "lowered to 419430400 by somebody else", 400, 400},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFakeBox(t)
			c := f.open()
			f.lower(c, "a")
			if test.put != "" {
				f.put("memory.max", test.put)
			}
			f.uses(test.current, 200)
			f.put("memory.events", "oom_kill 3")
			got, change, err := c.Check(f.box.Cgroup)
			if err != nil || !strings.Contains(change, test.change) || (change == "") != (test.change == "") {
				t.Errorf("change %q, %v", change, err)
			}
			if got.OOMKills != 1 {
				t.Errorf("%d kills since it began, want 1", got.OOMKills)
			}
			f.want("checked", test.now, 256)
			if _, again, _ := c.Check(f.box.Cgroup); again != "" {
				t.Errorf("told again: %q", again)
			}
			if err := c.Restore("a", f.box.Cgroup); err != nil {
				t.Error(err)
			}
			f.want("given back", test.after, 0)
		})
	}
}

func TestContainerEndsWhileItIsCapped(t *testing.T) {
	f := newFakeBox(t)
	c := f.open()
	f.lower(c, "a")
	if err := os.RemoveAll(filepath.Join(f.root, f.box.Cgroup)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Check(f.box.Cgroup); !errors.Is(err, ErrNoScope) {
		t.Errorf("Check: %v", err)
	}
	if err := errors.Join(c.Restore("a", f.box.Cgroup), c.RestoreAll()); err != nil {
		t.Errorf("Restore: %v", err)
	}
	if now, change, err := c.Check("/never/seen"); now != (ContainerCap{}) || change != "" || err != nil {
		t.Errorf("of another: %+v %q %v", now, change, err)
	}
}
