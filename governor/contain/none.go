package contain

import (
	"context"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// None is the tier that places nothing: no systemd, no rights, or not wanted.
// Its scopes have no cgroup, and their notes say what is not enforced.
type None struct {
	fs  proc.FS
	why string
}

// NewNone returns the tier without containment. why says why there is nothing
// better; it is shown as it stands.
func NewNone(fs proc.FS, why string) *None { return &None{fs: fs, why: why} }

// Look says where x sits. It refuses nothing: nothing will be moved.
func (n *None) Look(_ context.Context, x proc.Exec) (Origin, error) {
	o := ParseOrigin(x.Cgroup)
	o.Refuse, o.PartOf = "", ""
	return o, nil
}

// Place moves nothing and returns a Scope that says so. The kernel is told all
// the same which processes it is to take first.
func (n *None) Place(_ context.Context, spec Spec) (Scope, error) {
	sc := Scope{
		Main:  spec.Exec.ID,
		Notes: []string{"not contained: it has neither a memory cap nor a scope"},
	}
	if err := RaiseTree(n.fs, spec.Exec.ID); err != nil {
		sc.Notes = append(sc.Notes, err.Error())
	}
	return sc, nil
}

// Join moves nothing; what joins is no more worth to the kernel than the rest.
func (n *None) Join(_ context.Context, _ Scope, x proc.Exec, _ bool) (int, error) {
	return 0, RaiseTree(n.fs, x.ID)
}

// Usage knows the main process alone: whether it is still there.
func (n *None) Usage(sc Scope) Usage {
	u := noUsage()
	if st, err := n.fs.Stat(sc.Main.PID); err != nil || st.ID != sc.Main {
		u.Gone = true
	} else {
		u.Procs = []int{sc.Main.PID}
	}
	return u
}

// Check finds nothing: there is nothing to leave.
func (n *None) Check(context.Context, Scope) ([]int, string) { return nil, "" }

// Release has nothing to give back.
func (n *None) Release(context.Context, Scope) error { return nil }

// SetLimits enforces nothing.
func (n *None) SetLimits(_ context.Context, sc Scope, _ Limits) (Scope, error) { return sc, nil }

// Adopt finds nothing.
func (n *None) Adopt(context.Context, bool) ([]Scope, error) { return nil, nil }

// Freeze cannot; a process without a cgroup of its own is never stopped.
func (n *None) Freeze(Scope) error { return nil }

// Thaw has nothing to let go.
func (n *None) Thaw(Scope) error { return nil }

// Signals knows nothing: what is never frozen has no signal that waits.
func (n *None) Signals(Scope) Signals { return Signals{} }

// Stop stops nothing: without a cgroup nobody can say what belongs to a job.
func (n *None) Stop(context.Context, Scope, time.Duration) error { return nil }

// Describe says why nothing is contained.
func (n *None) Describe() string { return "none: " + n.why }

// MemoryController is false: no cap is enforced.
func (n *None) MemoryController() bool { return false }

// Close has nothing to close.
func (n *None) Close() error { return nil }
