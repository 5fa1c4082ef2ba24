package guest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Frozen are the cgroups that stand still by their own cgroup.freeze, anywhere
// in the hierarchy.
func Frozen() []Cgroup {
	var frozen []Cgroup
	filepath.WalkDir("/sys/fs/cgroup", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != "cgroup.freeze" {
			return nil
		}
		if data, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(data)) == "1" {
			frozen = append(frozen, Cgroup(strings.TrimPrefix(filepath.Dir(path), "/sys/fs/cgroup")))
		}
		return nil
	})
	return frozen
}

// AwaitNothingFrozen waits until no cgroup of the machine stands still: what
// was held has been let go or is over.
func AwaitNothingFrozen(t testing.TB) {
	t.Helper()
	Eventually(t, patience, func() string {
		if f := Frozen(); len(f) > 0 {
			return fmt.Sprintf("still frozen: %q", f)
		}
		return ""
	})
}

// AwaitHeld waits until a command has been put on hold since the first skip
// events, and stands still.
func (d *Daemon) AwaitHeld(what string, skip int) Event {
	d.t.Helper()
	held := d.Await(what+" is held", skip, func(e Event) bool { return e.Event == "held" && strings.Contains(e.Command, what) })
	Eventually(d.t, patience, func() string {
		for _, c := range Frozen() {
			if CgroupOf(held.PID) == c {
				return ""
			}
		}
		return fmt.Sprintf("%s (pid %d) is in %s and not frozen; frozen are %q", what, held.PID, CgroupOf(held.PID), Frozen())
	})
	return held
}

// AwaitRunning waits until a command of these words is placed and runs.
func (d *Daemon) AwaitRunning(what string, skip int) Event {
	d.t.Helper()
	return d.Await(what+" was placed", skip, func(e Event) bool {
		return e.Event == "placed" && strings.Contains(e.Command, what)
	})
}

// AwaitIdle waits until no job and no waiter is left, and every scope is gone.
func (d *Daemon) AwaitIdle() {
	d.t.Helper()
	AwaitNothingFrozen(d.t)
	Eventually(d.t, patience, func() string {
		s := d.Status()
		if len(s.Queue) > 0 {
			return fmt.Sprintf("%d still wait", len(s.Queue))
		}
		for _, j := range s.Jobs {
			if j.State != "lingering" {
				return fmt.Sprintf("job %s is %s", j.ID, j.State)
			}
		}
		return ""
	})
}
