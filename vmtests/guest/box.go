package guest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Box is a container as far as the governor can tell: processes in a delegated
// scope that is named as an engine names it.
type Box struct {
	Cgroup Cgroup
	PID    int // of its first process, a shell

	t     testing.TB
	stdin io.WriteCloser
}

const (
	boxID   = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	boxUnit = "docker-" + boxID + ".scope"
	boxName = "docker 0123456789ab"
)

// StartBox starts a shell in a docker container's scope, until the end of the
// test.
func StartBox(t testing.TB) *Box {
	t.Helper()
	cmd := exec.Command("systemd-run", "--quiet", "--scope", "--collect", "--property=Delegate=yes", "--unit="+boxUnit, "sh")
	stdin, err := cmd.StdinPipe()
	if err == nil {
		cmd.Stderr = os.Stderr
		err = cmd.Start()
	}
	if err != nil {
		t.Fatalf("start a container: %v", err)
	}
	b := &Box{t: t, stdin: stdin, PID: cmd.Process.Pid} // systemd-run becomes the shell
	t.Cleanup(func() {
		exec.Command("systemctl", "kill", "--signal=KILL", boxUnit).Run()
		stdin.Close()
		cmd.Wait()
	})
	Eventually(t, patience, func() string {
		b.Cgroup = CgroupOf(b.PID)
		if b.Cgroup.Unit() != boxUnit {
			return fmt.Sprintf("the container's shell is in %q", b.Cgroup)
		}
		return ""
	})
	// The tests' own process is protected from the kernel.
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", b.PID), []byte("0"), 0); err != nil {
		t.Fatal(err)
	}
	return b
}

// Start runs a line in the background of the container's shell, and returns the
// pid of what it ran. It is killed at the end of the test.
func (b *Box) Start(line string) int {
	b.t.Helper()
	note, err := os.CreateTemp("", "box-")
	if err != nil {
		b.t.Fatal(err)
	}
	note.Close()
	defer os.Remove(note.Name())
	fmt.Fprintf(b.stdin, "%s & echo $! >%s\n", line, note.Name())
	pid := 0
	Eventually(b.t, patience, func() string {
		text, _ := os.ReadFile(note.Name())
		if n, _ := fmt.Sscan(string(text), &pid); n != 1 {
			return "the container's shell did not start " + line
		}
		return ""
	})
	start := startOf(pid)
	b.t.Cleanup(func() {
		if start != "" && startOf(pid) == start {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return pid
}

// wantMax waits until memory.max is what is wanted, as the file has it.
func (b *Box) wantMax(what, want string) {
	b.t.Helper()
	Eventually(b.t, patience, func() string {
		text, err := os.ReadFile(b.Cgroup.Dir() + "/memory.max")
		if got := strings.TrimSpace(string(text)); err != nil || got != want {
			return fmt.Sprintf("%s: memory.max is %s, want %s (%v)", what, got, want, err)
		}
		return ""
	})
}

// stays checks for a while that memory.max does not change.
func (b *Box) stays(what, want string, during time.Duration) {
	b.t.Helper()
	for end := time.Now().Add(during); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		text, err := os.ReadFile(b.Cgroup.Dir() + "/memory.max")
		if got := strings.TrimSpace(string(text)); err != nil || got != want {
			b.t.Fatalf("%s: memory.max is %s, want %s (%v)", what, got, want, err)
		}
	}
}
