package contain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestContainersAreRecovered(t *testing.T) {
	for _, test := range []struct {
		name     string
		die      func(t *testing.T, f *fakeBox, c *Containers) // the governor dies after that
		memory   uint64                                        // MB; 0 max
		swap     uint64
		restored int
	}{
		{"while a job runs", func(*testing.T, *fakeBox, *Containers) {}, 0, 0, 1},
		{"after the cap changed", func(t *testing.T, f *fakeBox, c *Containers) {
			if _, err := c.Lower("a", f.box, Limits{MemoryMax: 700 * mb, MemorySwapMax: 100 * mb}); err != nil {
				t.Fatal(err)
			}
		}, 0, 0, 1},
		{"before the cap was written that it had kept", func(_ *testing.T, f *fakeBox, c *Containers) {
			f.put("memory.max", "max")
			f.put("memory.swap.max", "max")
		}, 0, 0, 0},
		{"between the two writes", func(_ *testing.T, f *fakeBox, c *Containers) { f.put("memory.swap.max", "max") }, 0, 0, 1},
		{"somebody set another limit since", func(_ *testing.T, f *fakeBox, c *Containers) {
			f.put("memory.max", "524288000")
		}, 500, 0, 1},
		{"at its end", func(t *testing.T, f *fakeBox, c *Containers) {
			if err := c.RestoreAll(); err != nil {
				t.Error(err)
			}
		}, 0, 0, 0},
		{"the container is another by now", func(t *testing.T, f *fakeBox, c *Containers) {
			dir := filepath.Join(f.root, f.box.Cgroup)
			if err := os.Rename(dir, dir+".old"); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			f.put("memory.max", "629145600")
			f.put("memory.swap.max", "268435456")
		}, 600, 256, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFakeBox(t)
			c := f.open()
			f.lower(c, "a")
			test.die(t, f, c)
			restored, err := f.open().Recover()
			if err != nil || len(restored) != test.restored {
				t.Errorf("restored %q, %v", restored, err)
			}
			f.want("recovered", test.memory, test.swap)
			if text, err := os.ReadFile(f.file); err != nil || strings.Contains(string(text), f.box.Cgroup) {
				t.Errorf("still kept: %s %v", text, err)
			}
		})
	}
}

// A limit that is changed twice and not written the second time is what is
// given back as well.
func TestContainersKeepBeforeTheyWrite(t *testing.T) {
	f := newFakeBox(t)
	c := f.open()
	f.lower(c, "a")
	l := c.all[f.box.Cgroup]
	l.Memory.Next = 700 * mb
	if err := c.keep(); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"629145600", "734003200"} { // 600 and 700 MB
		f.put("memory.max", at)
		if restored, err := RestoreContainers(f.root, f.file); err != nil || len(restored) != 1 {
			t.Errorf("at %s: %q, %v", at, restored, err)
		}
		f.want("given back from "+at, 0, 0)
	}
}

func TestRestoreContainersReadsNoRubbish(t *testing.T) {
	dir := t.TempDir()
	if restored, err := RestoreContainers(dir, filepath.Join(dir, "none")); restored != nil || err != nil {
		t.Errorf("no file: %q, %v", restored, err)
	}
	for name, text := range map[string]string{
		"empty": "", "other version": `{"version":9}`, "half": `{"version":1,"containers":[{"cgr`,
		"null": `{"version":1,"containers":[null]}`, "climbs": `{"version":1,"containers":[{"cgroup":"/../../etc","cgroup_id":1}]}`,
		"nowhere": `{"version":1,"containers":[{"cgroup":"/x"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if restored, err := RestoreContainers(dir, file); len(restored) != 0 || err == nil {
				t.Errorf("%q, %v", restored, err)
			}
		})
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/etc/hostname", link); err != nil {
		t.Fatal(err)
	}
	if _, err := RestoreContainers(dir, link); err == nil {
		t.Error("a link was followed")
	}
}
