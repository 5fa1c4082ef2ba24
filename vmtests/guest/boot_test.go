package guest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMachine is what all others rest on: without it their failures would say
// nothing about the daemon. It is in the first file by name, so it runs first,
// on a machine on which nothing has failed yet.
func TestMachine(t *testing.T) {
	InVM(t)
	t.Run("SystemdRuns", func(t *testing.T) {
		Eventually(t, patience, func() string {
			out, _ := exec.Command("systemctl", "is-system-running").Output()
			if state := strings.TrimSpace(string(out)); state != "running" {
				failed, _ := exec.Command("systemctl", "list-units", "--failed", "--no-legend").Output()
				return "systemd is " + state + "\n" + string(failed)
			}
			return ""
		})
	})
	t.Run("MemoryController", func(t *testing.T) {
		data, err := os.ReadFile("/sys/fs/cgroup/cgroup.controllers")
		if err != nil || !strings.Contains(string(data), "memory") {
			t.Errorf("cgroup.controllers is %q, %v: no memory controller", data, err)
		}
	})
	t.Run("NoSwap", func(t *testing.T) {
		data, err := os.ReadFile("/proc/swaps")
		if err != nil || strings.Count(string(data), "\n") != 1 {
			t.Errorf("swaps are %q, %v", data, err)
		}
	})
	t.Run("Session", func(t *testing.T) {
		s := Login(t, "pi")
		if got := CgroupOf(s.PID); !strings.HasPrefix(got.Unit(), "session-") || got.Slice() != "user-1000.slice" {
			t.Errorf("the shell is in %s, want a session of user-1000.slice", got)
		}
		if out, status := s.Run(`echo "$-"`); status != 0 || !strings.Contains(out, "i") || !strings.Contains(out, "m") {
			t.Errorf("the shell's flags are %q, want i (interactive) and m (job control)", out)
		}
		if out, status := s.Run("echo hello; (exit 7)"); out != "hello\n" || status != 7 {
			t.Errorf("got %q and status %d, want hello and 7", out, status)
		}
		s.Send("sleep 1000\n")
		Eventually(t, patience, func() string {
			if len(FindProcesses("sleep 1000")) == 0 {
				return "sleep did not start"
			}
			return ""
		})
		s.Send("\x03")
		if _, status := s.Wait(patience); status != 130 {
			t.Errorf("Ctrl-C left status %d, want 130", status)
		}
		if out := s.Must("sudo -n id -u"); strings.TrimSpace(out) != "0" {
			t.Errorf("sudo gives uid %q", out)
		}
	})
	t.Run("Tools", func(t *testing.T) {
		for _, tool := range []string{"npm", "node", "gcc", "make", "pytest-3", "strace", "gdb", "tmux"} {
			if _, err := exec.LookPath(tool); err != nil {
				t.Error(err)
			}
		}
	})
}
