package contain

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// Signals is what waits for the members of a scope, and how they stand. The
// placeholder is none of them. What cannot be read is not claimed.
type Signals struct {
	// StopPending: a SIGTSTP, SIGSTOP, SIGTTIN or SIGTTOU waits. A thawed
	// process stops before it runs an instruction, and its shell is told; only
	// a member of an orphaned group, whom nobody would continue, runs on.
	StopPending bool
	// EndPending: a SIGHUP, SIGINT, SIGQUIT or SIGTERM waits, which only a thawed
	// process acts on. Without a handler it ends a frozen process at once; but one
	// that was sent to a stopped process still waits after SIGCONT.
	EndPending bool
	Stopped    bool // all that live are stopped (state T), whether frozen or not
	Empty      bool // no member lives, or the scope is gone
	Frozen     bool // the cgroup is told to freeze; a user may thaw his own
}

// signalsOf bounds the members that are looked at. What is held has not begun,
// or was caught late with what it had started by then.
const signalsOf = 256

var endSignals = proc.SetOf(unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM)

// Signals reads what waits for the members of a scope: 2 files of /proc for
// each. Ctrl-Z and kill address a process as a whole; what somebody sends to
// one thread of many is seen for the first thread alone.
func (s *scopes) Signals(sc Scope) Signals {
	if err := s.sameCgroup(sc); err != nil {
		return Signals{Empty: errors.Is(err, ErrNoScope)}
	}
	members, err := s.members(sc)
	if err != nil {
		return Signals{Empty: gone(err)}
	}
	got := Signals{Frozen: s.cg.frozen(sc.Cgroup)}
	live, stopped := 0, 0
	for _, pid := range members[:min(len(members), signalsOf)] {
		st, err := s.fs.Stat(pid)
		if err != nil || st.State == 'Z' || st.State == 'X' {
			continue
		}
		live++
		if st.State == 'T' {
			// What comes for it waits for SIGCONT, as it would without us.
			stopped++
			continue
		}
		sig, err := s.fs.Signals(pid)
		if err != nil {
			continue
		}
		coming := sig.Pending &^ sig.Blocked &^ sig.Ignored
		got.StopPending = got.StopPending || coming&proc.StopSignals != 0
		got.EndPending = got.EndPending || coming&endSignals != 0
	}
	got.Empty = live == 0 && len(members) <= signalsOf
	got.Stopped = live > 0 && stopped == live && len(members) <= signalsOf
	return got
}

// members lists the processes of a scope and of what is below it, without the
// placeholder, and never the governor itself.
func (s *scopes) members(sc Scope) ([]int, error) {
	procs, err := s.cg.allProcs(sc.Cgroup)
	return without(without(procs, sc.Placeholder.PID), os.Getpid()), err
}
