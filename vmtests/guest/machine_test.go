package guest

import (
	"os"
	"strings"
	"testing"
)

// TestInitMachine is what the other tests without systemd rest on.
func TestInitMachine(t *testing.T) {
	InVM(t)
	if comm, err := os.ReadFile("/proc/1/comm"); err != nil || strings.TrimSpace(string(comm)) != "busybox" {
		t.Errorf("pid 1 is %q, %v; want busybox", comm, err)
	}
	if _, err := os.Stat("/run/systemd/system"); err == nil {
		t.Error("systemd runs this machine")
	}
	for _, want := range []string{"memory", "pids", "cpu"} {
		data, err := os.ReadFile("/sys/fs/cgroup/cgroup.controllers")
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("cgroup.controllers is %q, %v: no %s", data, err, want)
		}
	}
	s := Login(t, "pi")
	if got := CgroupOf(s.PID); got != "/" {
		t.Errorf("the shell is in %s, want the root of the hierarchy", got)
	}
	if out := s.Must("id -un; sudo -n id -un"); out != "pi\nroot\n" {
		t.Errorf("the session says %q", out)
	}
}

// TestPiMachine is what the tests on a stock Raspberry Pi's kernel words rest on.
func TestPiMachine(t *testing.T) {
	InVM(t)
	data, err := os.ReadFile("/sys/fs/cgroup/cgroup.controllers")
	if err != nil || strings.Contains(string(data), "memory") || !strings.Contains(string(data), "pids") {
		t.Errorf("cgroup.controllers is %q, %v: want all but the memory controller", data, err)
	}
	if data, err := os.ReadFile("/proc/pressure/memory"); err == nil {
		t.Errorf("there is PSI: %q", data)
	}
}
