package governor

import (
	"strings"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/loader/proc"
)

// agentTable is what agentAmong needs of the process table.
type agentTable interface {
	Cmdline(pid int) ([]string, error)
	Exe(pid int) (string, error)
}

// agentAmong finds the nearest coding agent among a command's ancestors. It
// matters in two ways: an agent's tool call times out after some minutes, and
// what its commands write into a pipe is read by it, a note included. The walk
// ends at the first one; an ancestor costs some 10 µs, a shell nothing.
//
// The loop takes it from patienceOf, which walks anyway; patience.agent goes
// into note.Note.Agent.
func agentAmong(ancestors []proc.Stat, table agentTable, rules Rules) (proc.Stat, bool) {
	for _, a := range ancestors {
		if a.ID.PID <= 1 || plainAncestor(a.Comm) {
			continue
		}
		argv, err := table.Cmdline(a.ID.PID)
		if err != nil || len(argv) == 0 {
			continue
		}
		exe, _ := table.Exe(a.ID.PID) // unreadable is unknown, which the rules allow for
		if isAgent(rules.Argv(classifier.Command{Argv: argv, Exe: exe, Comm: a.Comm})) {
			return a, true
		}
	}
	return proc.Stat{}, false
}

// isAgent tells a coding agent from the other supervisors that share its
// family: multiplexers and CI runners are daemons, and patient.
func isAgent(v classifier.Verdict) bool {
	return v.Family == "agent" && v.Kind.Has(classifier.Supervisor) && !v.Kind.Has(classifier.Daemon)
}

// plainAncestor knows what is between an agent and its commands, and above it,
// by a name that no agent has: an agent's script has the script's name.
func plainAncestor(comm string) bool {
	switch comm {
	case "systemd", "sshd", "sshd-session", "login", "sudo", "su", "timeout", "tmux: server":
		return true
	}
	return isShell(comm) && !strings.HasPrefix(comm, "busybox")
}
