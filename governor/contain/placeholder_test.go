package contain

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// needsRoot skips a test that changes the user of its own children.
func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: starts placeholders as another user")
	}
}

func newTestKeeper(t *testing.T) *keeper {
	t.Helper()
	k, err := newKeeper(proc.FS{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.close)
	return k
}

func TestPlaceholder(t *testing.T) {
	needsRoot(t)
	k := newTestKeeper(t)
	// A pipe as a shell hands it down: not closed on exec.
	var pipe [2]int
	if err := unix.Pipe(pipe[:]); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	id, err := k.start(54321, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := proc.Exec{ID: id}
	if err := (proc.FS{}).ReadFacts(&x); err != nil {
		t.Fatal(err)
	}
	if x.UID != 54321 || x.EUID != 54321 || x.SID != id.PID || x.PGID != id.PID || x.TTY != 0 || x.Cwd != "/" {
		t.Errorf("facts %+v", x)
	}
	// The kernel tells of the exec a moment before the new argv is in place.
	var argv []string
	for end := time.Now().Add(5 * time.Second); len(argv) == 0 && time.Now().Before(end); {
		argv, _ = (proc.FS{}).Cmdline(id.PID)
	}
	if len(argv) != 2 || argv[0] != k.argv[0] || argv[1] != "604800" {
		t.Errorf("argv %q", argv)
	}
	dir := fmt.Sprintf("/proc/%d/fd", id.PID)
	fds, err := os.ReadDir(dir)
	for end := time.Now().Add(5 * time.Second); len(fds) > 3 && time.Now().Before(end); fds, err = os.ReadDir(dir) {
		time.Sleep(time.Millisecond) // its loader has the C library open
	}
	if err != nil || len(fds) != 3 {
		t.Errorf("%d descriptors, %v", len(fds), err)
	}
	for _, fd := range fds {
		if to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", id.PID, fd.Name())); to != os.DevNull {
			t.Errorf("descriptor %s is %q", fd.Name(), to)
		}
	}
	env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", id.PID))
	if len(env) != 0 {
		t.Errorf("environment %q", env)
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", id.PID))
	if !strings.Contains(string(status), "\nGroups:\t \n") && !strings.Contains(string(status), "\nGroups:\t\n") {
		t.Errorf("it has groups:\n%s", status)
	}
	if b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", id.PID)); strings.TrimSpace(string(b)) != "0" {
		t.Errorf("oom_score_adj %q", b)
	}
	k.stop(id)
	if _, err := (proc.FS{}).Stat(id.PID); !errors.Is(err, proc.ErrGone) {
		t.Errorf("after stop, not even a zombie should be there: %v", err)
	}
	k.stop(id) // of another's pid by now
}

func TestPlaceholderIsOurs(t *testing.T) {
	needsRoot(t)
	k := newTestKeeper(t)
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	k.stop(proc.ID{PID: cmd.Process.Pid})
	k.stop(proc.ID{})
	if st, err := (proc.FS{}).Stat(cmd.Process.Pid); err != nil || st.State == 'Z' {
		t.Errorf("a stranger was stopped: %v", err)
	}
}

func TestPlaceholderKilledByItsUser(t *testing.T) {
	needsRoot(t)
	k := newTestKeeper(t)
	id, err := k.start(54321, nil)
	if err != nil {
		t.Fatal(err)
	}
	unix.Kill(id.PID, unix.SIGKILL)
	var info unix.Siginfo
	unix.Waitid(unix.P_PID, id.PID, &info, unix.WEXITED|unix.WNOWAIT, nil)
	k.reap()
	if len(k.alive) != 0 {
		t.Errorf("still counted: %v", k.alive)
	}
	if _, err := (proc.FS{}).Stat(id.PID); !errors.Is(err, proc.ErrGone) {
		t.Errorf("not reaped: %v", err)
	}
}

func TestPlaceholderClose(t *testing.T) {
	needsRoot(t)
	k := newTestKeeper(t)
	var ids []proc.ID
	for range 3 {
		id, err := k.start(54321, nil)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	k.close()
	k.close()
	for _, id := range ids {
		if _, err := (proc.FS{}).Stat(id.PID); !errors.Is(err, proc.ErrGone) {
			t.Errorf("%v outlived close", id)
		}
	}
	if _, err := k.start(54321, nil); !errors.Is(err, errClosing) {
		t.Errorf("start after close: %v", err)
	}
}

func TestPlaceholderOfAnUnusualSleep(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "busybox"), []byte("#!/bin/sh\n"), 0o755)
	os.Symlink("busybox", filepath.Join(dir, "sleep"))
	t.Setenv("PATH", dir)
	k, err := newKeeper(proc.FS{})
	if err != nil || k.argv[0] != "sleep" || filepath.Base(k.sleep) != "busybox" {
		t.Errorf("%+v, %v", k, err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := newKeeper(proc.FS{}); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("no sleep: %v", err)
	}
}

// TestPlaceholderDiesWithUs kills a process that has placeholders: this very
// test, started once more.
func TestPlaceholderDiesWithUs(t *testing.T) {
	needsRoot(t)
	if os.Getenv("HEADROOM_PLACEHOLDER_CHILD") == "1" {
		k, err := newKeeper(proc.FS{})
		if err != nil {
			t.Fatal(err)
		}
		id, err := k.start(54321, nil)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("PLACEHOLDER %d %d\n", id.PID, id.Start)
		never := make(chan os.Signal, 1)
		signal.Notify(never, syscall.SIGTERM)
		<-never
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestPlaceholderDiesWithUs$")
	cmd.Env = append(os.Environ(), "HEADROOM_PLACEHOLDER_CHILD=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var id proc.ID
	_, err = fmt.Fscanf(out, "PLACEHOLDER %d %d\n", &id.PID, &id.Start)
	cmd.Process.Kill()
	cmd.Wait()
	if err != nil {
		t.Fatalf("its word: %v", err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		st, err := (proc.FS{}).Stat(id.PID)
		if errors.Is(err, proc.ErrGone) || err == nil && (st.ID != id || st.State == 'Z') {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("placeholder %v outlived a killed governor", id)
		}
	}
}
