package governor

import (
	"path"
	"strings"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/loader/proc"
)

// kin is what makes two commands one job: the process group and the login, and
// where the group says nothing, the shell that both came from. A pipeline,
// `xargs -P`, a script with `a & b & wait`, 200 compilers in a row are one
// group; a queue or a slot between their members could deadlock them.
type kin struct {
	pgid     int
	loginUID uint32
	uid      uint32
	// shell is the nearest shell below a group leader that starts unrelated
	// commands in its own group (an agent, a service's main process). Zero
	// where the group itself speaks.
	shell proc.ID
	// mute: the leader is such a process and there is no shell between: the
	// command is nobody's kin.
	mute bool
}

// same reports whether a command of kin k belongs to a job of kin o.
func (k kin) same(o kin) bool {
	return k.pgid != 0 && !k.mute && !o.mute &&
		k.pgid == o.pgid && k.loginUID == o.loginUID && k.uid == o.uid && k.shell == o.shell
}

// ancestors is what kinOf needs of the process table.
type processTable interface {
	Stat(pid int) (proc.Stat, error)
	Cmdline(pid int) ([]string, error)
	Exe(pid int) (string, error)
	Cgroup(pid int) (string, error)
	Ancestors(pid, max int) ([]proc.Stat, error)
}

// maxAncestors bounds the walk towards pid 1: real chains (shell, tmux, agent,
// npm, sh, node) stay under 20.
const maxAncestors = 32

// kinOf finds a command's kin. A process that goes away meanwhile leaves the
// group as the answer.
func kinOf(x *proc.Exec, table processTable, rules Rules) kin {
	k := kin{pgid: x.PGID, loginUID: x.LoginUID, uid: x.UID}
	if x.PGID == x.ID.PID || !leaderSaysNothing(x, table, rules) {
		return k
	}
	k.mute = true
	up, err := table.Ancestors(x.ID.PID, maxAncestors)
	if err != nil {
		return k
	}
	for _, a := range up {
		if a.ID.PID == x.PGID {
			break
		}
		if isShell(a.Comm) {
			k.shell, k.mute = a.ID, false
			break
		}
	}
	return k
}

// leaderSaysNothing reports whether the leader of the group is a supervisor or
// the main process of a service: what these start in their own group has
// nothing else in common.
func leaderSaysNothing(x *proc.Exec, table processTable, rules Rules) bool {
	argv, err := table.Cmdline(x.PGID)
	if err != nil || len(argv) == 0 {
		return false
	}
	exe, _ := table.Exe(x.PGID) // unreadable is unknown, which the rules allow for
	if rules.Argv(classifier.Command{Argv: argv, Exe: exe}).Kind.Has(classifier.Supervisor) {
		return true
	}
	if !strings.HasSuffix(path.Base(x.Cgroup), ".service") {
		return false
	}
	up, err := table.Stat(x.PGID)
	return err == nil && up.PPID <= 1 || err == nil && isManager(up.PPID, table)
}

// isManager reports whether the process is a service manager: pid 1 or a
// user's systemd, whose children are the main processes of services.
func isManager(pid int, table processTable) bool {
	st, err := table.Stat(pid)
	return err == nil && (pid == 1 || st.Comm == "systemd")
}

func isShell(comm string) bool {
	switch strings.TrimPrefix(comm, "-") {
	case "sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "ash", "busybox", "tcsh", "csh":
		return true
	}
	return false
}
