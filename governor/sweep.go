package governor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor/journal"
)

// orphanGrace is how long a job is an orphan before it is swept: what only
// finishes its last step is over by then.
const orphanGrace = 30 * time.Second

// maxSwept bounds how many members of an orphan are looked at. One with more
// is kept: it was not looked at whole.
const maxSwept = 256

// sweep ends the jobs that nobody waits for any more. What may have been meant
// to stay is kept: a command that is left too long costs a slot that it gives
// back when it is quiet, one that is ended wrongly costs somebody's work.
func (g *Governor) sweep(now time.Time) {
	if g.o.Config.Orphans != "sweep" || !g.enforces() {
		return
	}
	for _, j := range g.inOrder() {
		if j.state != Running && j.state != Quiet || !j.isolated || j.late || j.stopped || j.busy != "" || j.kept {
			continue
		}
		why := g.orphaned(j)
		switch {
		case why == "":
			j.orphan = time.Time{}
		case j.orphan.IsZero():
			j.orphan = now
		case now.Sub(j.orphan) >= orphanGrace:
			g.sweepJob(j, why)
		}
	}
}

// orphaned says why nobody waits for the job any more; empty where somebody
// may.
func (g *Governor) orphaned(j *job) string {
	why, agent := "", false
	switch {
	case j.agent.PID != 0 && g.isGone(j.agent):
		agent = true
		why = fmt.Sprintf("the agent that started it (pid %d) is gone", j.agent.PID)
	case j.root.PID != 0 && j.caller.PID != 0 && g.isGone(j.root) && !j.adopted:
		why = fmt.Sprintf("its first process (pid %d) is gone", j.root.PID)
	}
	if why == "" || !g.fatherless(j, agent) {
		return ""
	}
	return why
}

// fatherless reports whether every process of the job that is not another's
// child there has been left to init: nobody will ask how it ended. A script
// that runs one heavy command after the other has them in one job, whose first
// process is gone while the script waits for the next. The shell in which an
// agent that is gone ran it may still be there: it is left to init, too.
func (g *Governor) fatherless(j *job, agent bool) bool {
	left := func(pid int) bool { return pid == 1 || isManager(pid, g.o.FS) }
	if len(j.pids) == 0 || len(j.pids) > maxSwept {
		return false
	}
	for _, pid := range j.pids {
		st, err := g.o.FS.Stat(pid)
		if err != nil {
			continue // it ended meanwhile
		}
		if left(st.PPID) || slices.Contains(j.pids, st.PPID) {
			continue
		}
		above, err := g.o.FS.Stat(st.PPID)
		if !agent || err != nil || !isShell(above.Comm) || !left(above.PPID) {
			return false
		}
	}
	return true
}

func (g *Governor) sweepJob(j *job, why string) {
	if keep := g.meantToStay(j); keep != "" {
		j.kept = true // what a process is meant for does not change
		g.o.Log.Debug("an orphan is kept", "job", j.id, "orphan", why, "kept", keep)
		return
	}
	r := g.about(j)
	r.Event, r.PeakMB, r.AgeS = journal.Swept, j.peakMB, time.Since(j.since).Seconds()
	r.Reason = fmt.Sprintf("%s for %.0f s, and what is left of it hangs on what it came from", why, time.Since(j.orphan).Seconds())
	g.record(r)
	j.endedReason = "swept: " + why
	g.end(j)
}

// meantToStay says why the orphan may have been meant to outlive its caller;
// empty when nothing speaks for that.
func (g *Governor) meantToStay(j *job) string {
	switch {
	case j.kind.Has(classifier.Daemon):
		return "its rule says that it stays"
	case j.kind.Has(classifier.PackageManager):
		return "package managers are not interrupted"
	case len(j.pids) == 0 || len(j.pids) > maxSwept:
		return "not all of it can be looked at"
	}
	for _, pid := range j.pids {
		st, err := g.o.FS.Stat(pid)
		if err != nil {
			continue
		}
		if j.sid != 0 && st.SID != j.sid {
			return fmt.Sprintf("process %d has a session of its own (setsid)", pid)
		}
		if s, err := g.o.FS.Signals(pid); err != nil || s.HangupIgnored() {
			return fmt.Sprintf("process %d ignores SIGHUP (nohup)", pid)
		}
		if argv, err := g.o.FS.Cmdline(pid); err == nil && len(argv) > 0 {
			exe, _ := g.o.FS.Exe(pid) // unreadable is unknown, which the rules allow for
			k := g.o.Rules.Argv(classifier.Command{Argv: argv, Exe: exe, Comm: st.Comm}).Kind
			if k.Has(classifier.Daemon) || k.Has(classifier.Supervisor) || packageManagers[st.Comm] {
				return fmt.Sprintf("process %d (%q) is one that stays", pid, st.Comm)
			}
		}
		if !g.attached(pid) {
			return fmt.Sprintf("process %d reads from nowhere: it was put in the background", pid)
		}
	}
	return ""
}

// attached reports whether a process reads from where its caller may write. A
// shell gives what it starts in the background /dev/null to read.
func (g *Governor) attached(pid int) bool {
	to, err := os.Readlink(filepath.Join(g.o.FS.Root(), strconv.Itoa(pid), "fd", "0"))
	return err == nil && to != "/dev/null"
}
