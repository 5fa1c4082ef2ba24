package governor

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// patience is how long a caught command is kept waiting at most.
type patience struct {
	limit time.Duration
	why   string // what it comes from
	agent bool   // a coding agent is among its ancestors
}

// agentPatience is what a command may wait under a coding agent: their shells
// give up after 2 to 10 minutes, and the command still has to do its work.
const agentPatience = 60 * time.Second

// leastPatience is what is left where a timeout is nearly over: then to wait
// helps nobody.
const leastPatience = 250 * time.Millisecond

// patienceTable is what patienceOf needs of the process table.
type patienceTable interface {
	agentTable
	Comm(pid int) (string, error)
	Stat(pid int) (proc.Stat, error)
	Ancestors(pid, max int) ([]proc.Stat, error)
}

// patienceOf is the least of: the queue's own timeout, a quarter of what is
// left of each `timeout N` that the command runs under, and a minute under a
// coding agent. So nobody's command is killed for having waited. now is
// TicksNow().
//
// The loop asks once, before it makes a waiter, and gives patience.limit to
// admission.Waiter.Patience. It reads the argv of at most 32 ancestors, some
// 0.3 ms in all.
func patienceOf(pid int, queueTimeout time.Duration, table patienceTable, rules Rules, now uint64) patience {
	p := patience{limit: queueTimeout, why: "queue_timeout_s"}
	up, err := table.Ancestors(pid, maxAncestors)
	if err != nil {
		return p // it is gone, or of what is above it no more is known
	}
	within := func(id proc.ID, whole time.Duration) {
		left := whole - age(id, now)
		if quarter := max(left/4, leastPatience); quarter < p.limit {
			p.limit = quarter
			p.why = fmt.Sprintf("a quarter of what is left of timeout %v (pid %d)", whole, id.PID)
		}
	}
	for _, a := range up {
		if !mayBeTimeout(a.Comm) {
			continue
		}
		argv, err := table.Cmdline(a.ID.PID)
		if err != nil {
			continue
		}
		if whole, _, ok := timeoutOf(argv); ok {
			within(a.ID, whole)
		}
	}
	for i := range min(len(up)+1, maxWatched) {
		watched := pid
		if i > 0 {
			watched = up[i-1].ID.PID
		}
		if id, whole, ok := busyboxTimeout(watched, table); ok {
			within(id, whole)
		}
	}
	if a, ok := agentAmong(up, table, rules); ok {
		p.agent = true
		if agentPatience < p.limit {
			p.limit, p.why = agentPatience, fmt.Sprintf("a coding agent waits for it (pid %d)", a.ID.PID)
		}
	}
	return p
}

// age is for how long a process has run; 0 where the clock is not known.
func age(id proc.ID, now uint64) time.Duration {
	if now <= id.Start {
		return 0
	}
	return time.Duration(now-id.Start) * (time.Second / clockTicks)
}

func mayBeTimeout(comm string) bool {
	return comm == "timeout" || comm == "gtimeout" || comm == "busybox" || comm == "toybox" || comm == "coreutils"
}

// Busybox's timeout becomes the command, and a grandchild of it that belongs to
// pid 1 watches the time. It was started right after, so it is among the next
// few pids, and its argv ends with the command's. Looked for next to the command
// and its nearest ancestors (`timeout 60 sh -c …`).
const (
	maxWatched = 4
	watcherGap = 8 // pids; 2 where nothing else starts meanwhile
)

func busyboxTimeout(watched int, table patienceTable) (proc.ID, time.Duration, bool) {
	for pid := watched + 1; pid <= watched+watcherGap; pid++ {
		comm, err := table.Comm(pid)
		if err != nil || !mayBeTimeout(comm) {
			continue
		}
		argv, err := table.Cmdline(pid)
		if err != nil {
			continue
		}
		whole, command, ok := timeoutOf(argv)
		if !ok || len(command) == 0 {
			continue
		}
		if runs, err := table.Cmdline(watched); err != nil || !endsWith(runs, command) {
			continue
		}
		if st, err := table.Stat(pid); err == nil {
			return st.ID, whole, true
		}
	}
	return proc.ID{}, 0, false
}

// endsWith reports whether argv is the command, or that of its interpreter
// (`node /usr/bin/npm test` for `npm test`).
func endsWith(argv, command []string) bool {
	from := len(argv) - len(command)
	return from >= 0 && path.Base(argv[from]) == path.Base(command[0]) && slices.Equal(argv[from+1:], command[1:])
}

// timeoutOf is the duration in the argv of a timeout, and the command that it
// runs; false where it is none or never ends (0). Options as GNU's, which ends
// them at the first operand, and busybox's old `-t SECS`.
func timeoutOf(argv []string) (d time.Duration, command []string, ok bool) {
	none := func() (time.Duration, []string, bool) { return 0, nil, false }
	if len(argv) == 0 {
		return none()
	}
	switch path.Base(argv[0]) {
	case "busybox", "toybox", "coreutils":
		argv = argv[1:]
	}
	if len(argv) == 0 {
		return none()
	}
	if name := path.Base(argv[0]); name != "timeout" && name != "gtimeout" {
		return none()
	}
	for args := argv[1:]; len(args) > 0; {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--":
			if len(args) == 0 {
				return none()
			}
			d, ok := duration(args[0])
			return d, args[1:], ok
		case strings.HasPrefix(arg, "--"):
			// The long ones may be cut short: --kill, --sig.
			name, _, hasValue := strings.Cut(arg[2:], "=")
			if !hasValue && name != "" && (strings.HasPrefix("kill-after", name) || strings.HasPrefix("signal", name)) && len(args) > 0 {
				args = args[1:]
			}
		case len(arg) > 1 && arg[0] == '-':
			i := strings.IndexAny(arg, "kst")
			if i < 0 {
				continue
			}
			value := arg[i+1:]
			if value == "" {
				if len(args) == 0 {
					return none()
				}
				value, args = args[0], args[1:]
			}
			if arg[i] == 't' {
				d, ok := duration(value)
				return d, args, ok
			}
		default:
			d, ok := duration(arg)
			return d, args, ok
		}
	}
	return none()
}

// duration reads GNU's floating number with one of the suffixes s m h d.
func duration(text string) (time.Duration, bool) {
	unit := time.Second
	if n := len(text); n > 0 {
		switch text[n-1] {
		case 's':
			text = text[:n-1]
		case 'm':
			unit, text = time.Minute, text[:n-1]
		case 'h':
			unit, text = time.Hour, text[:n-1]
		case 'd':
			unit, text = 24*time.Hour, text[:n-1]
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	// A year is for ever; NaN is no number.
	if err != nil || !(n > 0) || n*float64(unit) > float64(365*24*time.Hour) {
		return 0, false
	}
	return time.Duration(n * float64(unit)), true
}
