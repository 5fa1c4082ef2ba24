//go:build linux && (amd64 || arm64 || loong64 || mips64le || ppc64le || riscv64)

package loader

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// cgroup makes a cgroup of our own, empty but for what the test starts there.
func cgroup(t *testing.T, parent, name string) (dir string, id uint64) {
	t.Helper()
	dir = filepath.Join(parent, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("cannot make a cgroup: %v", err)
	}
	t.Cleanup(func() {
		// It is empty when its processes have ended, which may take a moment.
		for range 200 {
			if err := os.Remove(dir); err == nil || os.IsNotExist(err) {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%s remains", dir)
	})
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, info.Sys().(*syscall.Stat_t).Ino
}

// unified finds where the unified hierarchy is mounted.
func unified(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		before, after, _ := strings.Cut(line, " - ")
		if f := strings.Fields(before); strings.HasPrefix(after, "cgroup2 ") && len(f) > 4 {
			return f[4]
		}
	}
	t.Skip("no cgroup2 is mounted")
	return ""
}

// startIn starts a program that is in a cgroup before its exec.
func startIn(t *testing.T, dir, path string) *exec.Cmd {
	t.Helper()
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	return start(t, path, func(c *exec.Cmd) {
		c.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(d.Fd())}
	})
}

// dropped says whether the execs in dir are: an exec outside, after one inside,
// tells when to stop waiting.
func dropped(t *testing.T, b *bpf, dir, path string) bool {
	t.Helper()
	inside := startIn(t, dir, path)
	outside := start(t, path, nil)
	reported := false
	if !until(t, b, 5*time.Second, func(x *proc.Exec) bool {
		reported = reported || x.ID.PID == inside.Process.Pid
		return x.ID.PID == outside.Process.Pid
	}) {
		t.Fatal("the exec outside was not reported")
	}
	return !reported
}

func TestIgnoreCgroup(t *testing.T) {
	b := openedBPF(t, Options{Names: map[string]uint32{"hr-in-a-job": 1}})
	path := named(t, "hr-in-a-job")
	job, id := cgroup(t, unified(t), fmt.Sprintf("headroomd-test-%d", os.Getpid()))
	nested, _ := cgroup(t, job, "nested")

	expect := func(what string, inJob, inNested bool) {
		t.Helper()
		if got := dropped(t, b, job, path); got != inJob {
			t.Errorf("%s: dropped in the job %v, want %v", what, got, inJob)
		}
		if got := dropped(t, b, nested, path); got != inNested {
			t.Errorf("%s: dropped below the job %v, want %v", what, got, inNested)
		}
	}
	expect("at first", false, false)
	if err := b.Ignore(id, ""); err != nil {
		t.Fatal(err)
	}
	expect("ignored by its id", true, false)
	for range 2 { // twice is once
		if err := b.Ignore(id, job); err != nil {
			t.Fatal(err)
		}
	}
	if b.settings.Cgroups != 1 {
		t.Errorf("%d places in use, want 1", b.settings.Cgroups)
	}
	expect("ignored with what is below", true, true)
	if n := b.Counters(); n.Reported >= n.Seen {
		t.Errorf("counters %+v: what is dropped is seen, not reported", n)
	}
	for range 2 {
		if err := b.Attend(id); err != nil {
			t.Fatal(err)
		}
	}
	if b.settings.Cgroups != 0 {
		t.Errorf("%d places in use, want none", b.settings.Cgroups)
	}
	expect("attended to", false, false)
}

func TestIgnoreManyCgroups(t *testing.T) {
	b := openedBPF(t, Options{})
	root := unified(t)
	// More than there are places: by their ids alone, and no error.
	for id := uint64(1); id <= maxCgroups+10; id++ {
		if err := b.Ignore(1<<60+id, root); err != nil {
			t.Fatal(err)
		}
	}
	if b.settings.Cgroups != maxCgroups {
		t.Errorf("%d places in use, want %d", b.settings.Cgroups, maxCgroups)
	}
	for id := uint64(1); id <= maxCgroups+10; id++ {
		if err := b.Attend(1<<60 + id); err != nil {
			t.Fatal(err)
		}
	}
	if b.settings.Cgroups != 0 {
		t.Errorf("%d places in use, want none", b.settings.Cgroups)
	}
	if err := b.Ignore(1<<60, filepath.Join(root, "headroomd-test-none")); err == nil {
		t.Error("a cgroup that is not there, and no error")
	}
	if err := b.jobs.Lookup(uint64(1<<60), new(uint8)); err == nil {
		t.Error("a cgroup that could not be ignored is in the map")
	}
	if err := b.Ignore(0, ""); err == nil {
		t.Error("no cgroup, and no error")
	}
	for id := uint64(1); id <= 1024; id++ {
		if err := b.Ignore(1<<60+id, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Ignore(1<<61, ""); err == nil {
		t.Error("the map is full, and no error")
	}
}
