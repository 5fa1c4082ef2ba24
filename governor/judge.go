package governor

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/loader/proc"
)

// Finding is a heavy exec that the governor would take.
type Finding struct {
	Exec    proc.Exec
	Verdict classifier.Verdict
	// Leave says why it must not even be stopped; empty for an ordinary one.
	Leave string
	// Container is where it runs, if that is why; nil for all others.
	Container *proc.Container
}

// Judge finds what is heavy among the execs that a source tells of. It is
// asked on the tracer's thread, so it reads no more of a light exec than its
// argv, and asks nobody but /proc.
type Judge struct {
	fs    proc.FS
	self  int
	above map[proc.ID]bool // what started the governor: a make, a shell
	rules atomic.Pointer[Rules]
	quiet atomic.Pointer[map[string]bool] // cgroups of quiet jobs: what runs in them is looked at

	only *uint32 // whose processes are looked at; nil: everybody's

	light  atomic.Uint64 // execs looked at and found light
	inside atomic.Uint64 // heavy execs that ran in a job already
}

// NewJudge makes a judge by the given rules; self is the governor's own pid.
func NewJudge(fs proc.FS, rules Rules, self int) *Judge {
	j := &Judge{fs: fs, self: self, above: make(map[proc.ID]bool)}
	if up, err := fs.Ancestors(self, maxAncestors); err == nil {
		for _, a := range up {
			j.above[a.ID] = true
		}
	}
	j.rules.Store(&rules)
	return j
}

// Only has the judge look at the processes of one user: a governor without root
// can do nothing about anybody else's. To be called before the first Look.
func (j *Judge) Only(uid uint32) { j.only = &uid }

// SetRules changes the rules, from any goroutine.
func (j *Judge) SetRules(rules Rules) { j.rules.Store(&rules) }

// Look completes x and reports what was found. A process that is gone, is
// light, is not to be captured by its own exec, or runs in a job is no finding.
func (j *Judge) Look(x *proc.Exec) (Finding, bool) {
	if x.ID.PID <= 1 || x.ID.PID == j.self {
		return Finding{}, false
	}
	if err := j.fs.ReadCommand(x); err != nil || len(x.Argv) == 0 {
		return Finding{}, false
	}
	rules := *j.rules.Load()
	v := rules.Argv(classifier.Command{Argv: x.Argv, Exe: x.Exe, Comm: x.Comm, AtExec: true})
	if v.Class != classifier.Heavy || !v.Capture {
		j.light.Add(1)
		return Finding{}, false
	}
	if err := j.fs.ReadFacts(x); err != nil {
		return Finding{}, false
	}
	if j.only != nil && x.UID != *j.only {
		return Finding{}, false
	}
	if j.above[x.ID] || x.PPID == j.self {
		// To cap what the governor runs below would be to cap the governor; its
		// own children are waited for by it.
		return Finding{}, false
	}
	if scope, ok := scopeOf(x.Cgroup); ok && !j.inQuiet(scope) {
		j.inside.Add(1)
		return Finding{}, false
	}
	f := Finding{Exec: *x, Verdict: v, Leave: untouchable(x)}
	if f.Leave == "" {
		if c, ok := proc.ContainerOf(x.Cgroup); ok {
			f.Container, f.Leave = &c, fmt.Sprintf("it runs in a container (%s)", c)
		}
	}
	return f, true
}

// setQuiet says which jobs are quiet, from any goroutine.
func (j *Judge) setQuiet(cgroups map[string]bool) { j.quiet.Store(&cgroups) }

func (j *Judge) inQuiet(scope string) bool {
	quiet := j.quiet.Load()
	return quiet != nil && (*quiet)[scope]
}

// scopeOf is the cgroup of the job's scope that the cgroup is, or is below.
func scopeOf(cgroup string) (scope string, ok bool) {
	for at := 0; at < len(cgroup); {
		end := len(cgroup)
		if i := strings.IndexByte(cgroup[at+1:], '/'); i >= 0 {
			end = at + 1 + i
		}
		if contain.IsScopeName(cgroup[at+1 : end]) {
			return cgroup[:end], true
		}
		at = end
	}
	return "", false
}

// jobCgroup reports whether the cgroup is, or is below, a job's scope.
func jobCgroup(cgroup string) bool {
	_, ok := scopeOf(cgroup)
	return ok
}

// untouchable says why a process must be left alone, as far as the process
// itself tells. What its unit says about it is asked later, off this thread.
func untouchable(x *proc.Exec) string {
	switch {
	case x.Secure || x.UID != x.EUID:
		return "it runs with more rights than its caller has (setuid): to stop it would be to lend root's hand"
	case x.Exe == "" && x.UID == 0:
		return "its binary cannot be read"
	case strings.HasPrefix(x.Comm, "kworker"):
		return "kernel thread"
	}
	return ""
}
