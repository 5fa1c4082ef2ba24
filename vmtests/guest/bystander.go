package guest

import (
	"os"
	"path/filepath"
	"testing"
)

// Bystander is a service that must not notice anything.
type Bystander struct {
	t      testing.TB
	pid    int
	cgroup Cgroup
}

// StartBystander starts a service that runs until the end of the test.
func StartBystander(t testing.TB) *Bystander {
	t.Helper()
	b := &Bystander{t: t, pid: StartService(t, "bystander", nil, "sleep", "infinity")}
	b.cgroup = CgroupOf(b.pid)
	return b
}

// Check fails the test if the bystander was killed or the kernel killed in its
// cgroup.
func (b *Bystander) Check() {
	b.t.Helper()
	if !Alive(b.pid) || CgroupOf(b.pid) != b.cgroup {
		b.t.Errorf("the bystander is %q in %q, was in %q", ProcessState(b.pid), CgroupOf(b.pid), b.cgroup)
		return
	}
	if _, err := os.Stat(filepath.Join(b.cgroup.Dir(), "memory.events")); os.IsNotExist(err) {
		return // no memory controller here: that it lives is all that can be told
	}
	if n := b.cgroup.Field(b.t, "memory.events", "oom_kill"); n != 0 {
		b.t.Errorf("%d oom kills in the bystander's cgroup", n)
	}
}
