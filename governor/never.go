package governor

import (
	"github.com/headroomd/headroomd/loader/proc"
)

// lateAge is how long a command has run that is not held any more when it is
// found: by then it has its memory, and to stop it frees nothing.
const lateAge = 3 * clockTicks

// neverHeld says why a command must not be made to wait; empty for an
// ordinary one.
func (g *Governor) neverHeld(x *proc.Exec) string {
	if now := TicksNow(); x.Late && now > x.ID.Start+lateAge {
		return "it had been running for seconds when it was found"
	}
	return lockHeld(x.ID.PID, g.o.FS)
}

// linked is the job that a command shares a pipe with; never says why it must
// not be held where it is not to be joined.
func (g *Governor) linked(x *proc.Exec) (j *job, never string) {
	if len(g.jobs) == 0 {
		return nil, ""
	}
	if links, err := g.o.FS.Links(x.ID.PID); err != nil || len(links) == 0 {
		return nil, "" // nothing is listed for that
	}
	members := make([]jobMembers, 0, len(g.jobs))
	for _, j := range g.jobs {
		if j.late {
			continue // it never waits, and its cap is no place for another
		}
		members = append(members, jobMembers{j.id, j.members()})
	}
	pids, err := g.o.FS.List()
	if err != nil {
		return nil, ""
	}
	l, ok := linkedJob(x.ID.PID, members, pids, g.o.FS)
	if !ok {
		return nil, ""
	}
	j = g.jobs[l.job]
	if j.kin.loginUID == x.LoginUID && j.uid == x.UID && (j.origin == x.Cgroup || j.adopted) && (j.run == nil || !j.stands()) {
		return j, ""
	}
	return nil, "it shares a pipe with " + j.id + ": to hold it could have the two wait for each other"
}

// members are the processes of a job as of its last reading.
func (j *job) members() []int {
	if len(j.pids) == 0 {
		return []int{j.root.PID}
	}
	return j.pids
}
