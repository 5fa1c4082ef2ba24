package contain

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	f := newFakeMachine(t)
	s := f.systemd(t)
	if got := s.Describe(); !strings.Contains(got, "systemd 257") || !strings.Contains(got, f.cgroup) || !s.MemoryController() {
		t.Errorf("%q, %v", got, s.MemoryController())
	}
}

func TestCloseEndsAll(t *testing.T) {
	f, s, sc := placed(t)
	if err := s.Close(); err != nil || f.holder.left() != 0 || !f.buses[SystemManager].closed {
		t.Errorf("Close = %v, %d placeholders, closed %v", err, f.holder.left(), f.buses[SystemManager].closed)
	}
	if at, _ := f.fs().Cgroup(500); at != sc.Cgroup {
		t.Errorf("the job is in %q", at)
	}
}

func TestRaiseOOMScore(t *testing.T) {
	needsRoot(t)
	for _, c := range []struct{ have, want string }{{"-500", "900"}, {"0", "900"}, {"899", "900"}, {"900", "900"}, {"1000", "1000"}} {
		cmd := exec.Command("sleep", "60")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		file := "/proc/" + strconv.Itoa(cmd.Process.Pid) + "/oom_score_adj"
		if err := os.WriteFile(file, []byte(c.have), 0); errors.Is(err, os.ErrPermission) && c.have[0] == '-' {
			t.Logf("%s: root without CAP_SYS_RESOURCE cannot set up this case", c.have)
			cmd.Process.Kill()
			cmd.Wait()
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		err := raiseOOMScore(cmd.Process.Pid)
		got, _ := os.ReadFile(file)
		if err != nil || strings.TrimSpace(string(got)) != c.want {
			t.Errorf("from %s to %q, want %s (%v)", c.have, got, c.want, err)
		}
		cmd.Process.Kill()
		cmd.Wait()
		if err := raiseOOMScore(cmd.Process.Pid); !gone(err) {
			t.Errorf("of a process that has ended: %v", err)
		}
	}
}
