package contain

import (
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
