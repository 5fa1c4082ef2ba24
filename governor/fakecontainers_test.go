package governor

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/loader/proc"
)

const (
	boxName   = "docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope"
	boxCgroup = "/system.slice/" + boxName
)

// fakeContainers are containers whose limits are in files, lowered by what
// lowers them on a real machine.
type fakeContainers struct {
	*contain.Containers
	t    testing.TB
	root string
	file string
	tell func(format string, args ...any)
	err  error // of Lower
}

func newFakeContainers(t testing.TB) *fakeContainers {
	f := &fakeContainers{t: t, root: t.TempDir(), file: filepath.Join(t.TempDir(), "boxes.json"), tell: func(string, ...any) {}}
	f.Containers = f.again()
	if err := os.MkdirAll(filepath.Join(f.root, boxCgroup), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"memory.max": "max", "memory.swap.max": "max", "memory.swap.current": "0",
		"memory.current": "104857600", "memory.stat": "anon 104857600\nkernel 0", "memory.events": "oom_kill 0"} {
		f.put(name, text)
	}
	return f
}

func (f *fakeContainers) put(file, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.root, boxCgroup, file), []byte(text+"\n"), 0o644); err != nil {
		f.t.Error(err)
	}
}

func (f *fakeContainers) get(file string) string {
	f.t.Helper()
	text, err := os.ReadFile(filepath.Join(f.root, boxCgroup, file))
	if err != nil {
		f.t.Error(err)
	}
	return strings.TrimSpace(string(text))
}

// wantMB compares memory.max, in MB; 0 is "max".
func (f *fakeContainers) wantMB(what string, mb int64) {
	f.t.Helper()
	want := "max"
	if mb != 0 {
		want = strconv.FormatInt(mb<<20, 10)
	}
	if got := f.get("memory.max"); got != want {
		f.t.Errorf("%s: memory.max is %s, want %s", what, got, want)
	}
}

func (f *fakeContainers) Lower(job string, box proc.Container, grant contain.Limits) (contain.ContainerCap, error) {
	f.tell("let %s have %d MB more", box, grant.MemoryMax>>20)
	if f.err != nil {
		return contain.ContainerCap{}, f.err
	}
	box.Unit = "" // a directory has no mark of systemd's
	return f.Containers.Lower(job, box, grant)
}

func containerOfTest() (proc.Container, bool) { return proc.ContainerOf(boxCgroup) }

// again is what the next governor has.
func (f *fakeContainers) again() *contain.Containers {
	return contain.NewContainers(f.root, f.file, newLog(&logLines{}))
}

// move takes the container's cgroup away.
func (f *fakeContainers) move() { f.rename(boxCgroup, "/away") }

func (f *fakeContainers) moveBack() {
	f.rename("/away", boxCgroup)
	f.put("memory.max", "max") // nobody gives anything back to what has ended
}

func (f *fakeContainers) rename(from, to string) {
	f.t.Helper()
	if err := os.Rename(filepath.Join(f.root, from), filepath.Join(f.root, to)); err != nil {
		f.t.Error(err)
	}
}

// told are all records so far.
func (l *fakeLedger) told() []journal.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]journal.Record(nil), l.all...)
}
