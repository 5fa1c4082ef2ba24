package governor

import (
	"fmt"
	"path"
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
	Ancestors(pid, max int) ([]proc.Stat, error)
}

// patienceOf is the least of: the queue's own timeout, a quarter of what is
// left of each `timeout N` that the command runs under, and a minute under a
// coding agent. So nobody's command is killed for having waited. now is
// TicksNow().
//
// The loop asks once, before it makes a waiter, and gives patience.limit to
// admission.Waiter.Patience. It reads the argv of at most 32 ancestors.
func patienceOf(pid int, queueTimeout time.Duration, table patienceTable, rules Rules, now uint64) patience {
	p := patience{limit: queueTimeout, why: "queue_timeout_s"}
	up, err := table.Ancestors(pid, maxAncestors)
	if err != nil {
		return p // it is gone, or of what is above it no more is known
	}
	for _, a := range up {
		if !mayBeTimeout(a.Comm) {
			continue
		}
		argv, err := table.Cmdline(a.ID.PID)
		if err != nil {
			continue
		}
		whole, ok := timeoutOf(argv)
		if !ok {
			continue
		}
		left := whole - age(a.ID, now)
		if quarter := max(left/4, leastPatience); quarter < p.limit {
			p.limit = quarter
			p.why = fmt.Sprintf("a quarter of what is left of timeout %v (pid %d)", whole, a.ID.PID)
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

// timeoutOf is the duration in the argv of a timeout; false where it is none
// or never ends (0). Options as GNU's, which ends them at the first operand,
// and busybox's old `-t SECS`. A busybox that becomes the command it runs is
// no ancestor, and so not seen.
func timeoutOf(argv []string) (time.Duration, bool) {
	if len(argv) == 0 {
		return 0, false
	}
	switch path.Base(argv[0]) {
	case "busybox", "toybox", "coreutils":
		argv = argv[1:]
	}
	if len(argv) == 0 {
		return 0, false
	}
	if name := path.Base(argv[0]); name != "timeout" && name != "gtimeout" {
		return 0, false
	}
	for args := argv[1:]; len(args) > 0; {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--":
			if len(args) == 0 {
				return 0, false
			}
			return duration(args[0])
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
					return 0, false
				}
				value, args = args[0], args[1:]
			}
			if arg[i] == 't' {
				return duration(value)
			}
		default:
			return duration(arg)
		}
	}
	return 0, false
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
