package governor

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/loader/proc"
)

// surveyTable is what a survey needs of the process table.
type surveyTable interface {
	processSizes
	ReadCommand(x *proc.Exec) error
	ReadFacts(x *proc.Exec) error
	Comm(pid int) (string, error)
	Descendants(pid int) ([]proc.ID, error)
	Ancestors(pid, max int) ([]proc.Stat, error)
}

// tree is what a user would stop: a process below a shell, a supervisor or a
// login, with all that it started.
type tree struct {
	exec    proc.Exec // of its root
	user    uint32    // who logged in
	grownMB int64
	usedMB  int64
	spare   string // why it is not to be touched; empty for one that may be
}

// survey is who grew since the machine was last calm. Sizes are in MB.
type survey struct {
	trees  []tree            // of no job, those that grew most first
	jobs   map[string]int64  // by how much jobs grew
	users  map[uint32]int64  // by how much users' processes grew, jobs and all
	lostMB int64             // what the machine lost since then; -1 unknown
	spared []string          // the largest that may not be touched, in words
	keep   map[string]string // jobs that must not be stopped, and why
	silent bool              // the process table did not answer
}

// members are the processes of jobs.
type members struct {
	jobs   map[int]string    // by pid
	scopes map[string]string // by cgroup
}

func membersOf(jobs []*job) members {
	m := members{jobs: make(map[int]string), scopes: make(map[string]string)}
	for _, j := range jobs {
		for _, pid := range j.members() {
			m.jobs[pid] = j.id
		}
		if j.scope.Cgroup != "" {
			m.scopes[j.scope.Cgroup] = j.id
		}
	}
	return m
}

// surveyor finds out who grew. It works off the loop, for to read the argv of a
// process that is being reclaimed may take a while.
type surveyor struct {
	fs    surveyTable
	spare *sparing
	seen  map[int]*seenProcess
}

type seenProcess struct {
	exec proc.Exec
	why  string // it is spared
	gone bool
}

// see reads a process, once a survey.
func (s *surveyor) see(pid int) *seenProcess {
	if p := s.seen[pid]; p != nil {
		return p
	}
	p := &seenProcess{exec: proc.Exec{ID: proc.ID{PID: pid}, Source: "bpf"}} // no waiting for an argv
	s.seen[pid] = p
	if s.fs.ReadFacts(&p.exec) != nil || s.fs.ReadCommand(&p.exec) != nil {
		p.gone = true
		return p
	}
	p.why = s.spare.why(&p.exec)
	return p
}

// look makes the survey.
func (s *surveyor) look(was, now sizes, of members) survey {
	s.seen = make(map[int]*seenProcess)
	v := survey{jobs: make(map[string]int64), users: make(map[uint32]int64), lostMB: -1, keep: s.kept(of)}
	if was.availableMB >= 0 && now.availableMB >= 0 && was.bytes != nil {
		v.lostMB = max(was.availableMB-now.availableMB, 0)
	}
	byRoot := make(map[proc.ID]int)
	for _, g := range now.since(was) {
		p := s.see(g.pid)
		if p.gone {
			continue
		}
		mb := g.by >> 20
		v.users[userOf(p.exec.LoginUID, p.exec.UID)] += mb
		job := of.jobs[g.pid]
		if scope, ok := scopeOf(p.exec.Cgroup); ok && job == "" {
			job = cmp.Or(of.scopes[scope], "?") // of a job that is over, or another governor's
		}
		if job != "" {
			v.jobs[job] += mb
			continue
		}
		root, why := s.rootOf(p)
		if i, known := byRoot[root.ID]; known {
			v.trees[i].grownMB += mb
			continue
		}
		byRoot[root.ID] = len(v.trees)
		t := tree{exec: root, user: userOf(root.LoginUID, root.UID), grownMB: mb, spare: why}
		t.usedMB = s.usedBy(root.ID, now)
		v.trees = append(v.trees, t)
	}
	slices.SortStableFunc(v.trees, func(a, b tree) int { return cmp.Compare(b.grownMB, a.grownMB) })
	v.spared = s.sparedLargest(now)
	return v
}

// kept are the jobs that have something in them which must not be interrupted:
// a make that has called apt. Package managers run as root under their own names.
func (s *surveyor) kept(of members) map[string]string {
	keep := make(map[string]string)
	for pid, job := range of.jobs {
		comm, err := s.fs.Comm(pid)
		if err != nil || !packageManagers[comm] {
			continue
		}
		if p := s.see(pid); !p.gone && (p.exec.UID == 0 || p.why == sparePackages) {
			keep[job] = fmt.Sprintf("%s (pid %d) runs in it, and %s", comm, pid, sparePackages)
		}
	}
	return keep
}

// rootOf is the root of the tree that a process is part of, and why that must
// not be touched. The walk ends below what is spared, and below what sits in
// another place or group or is another user's: it only started this, as a
// desktop's panel does.
func (s *surveyor) rootOf(p *seenProcess) (root proc.Exec, why string) {
	root = p.exec
	if p.why != "" {
		return root, p.why
	}
	up, err := s.fs.Ancestors(p.exec.ID.PID, maxAncestors)
	if err != nil {
		return root, "what started it cannot be read"
	}
	climbing, people := true, ofUnit(p.exec.Cgroup)
	for _, a := range up {
		q := s.see(a.ID.PID)
		if q.gone || q.exec.ID != a.ID {
			climbing = false
			continue
		}
		if q.why == sparePackages || packageManagers[a.Comm] && q.exec.UID == 0 {
			return root, "it runs inside a package manager"
		}
		people = people || q.why != "" && a.ID.PID > 1
		climbing = climbing && q.why == "" && q.exec.UID == root.UID && q.exec.Cgroup == root.Cgroup && q.exec.PGID == root.PGID
		if climbing {
			root = q.exec
		}
	}
	if !people {
		// Without systemd nothing but this tells a service from what people run.
		return root, "no login and no supervisor started it: it is taken for a service"
	}
	if why := s.holdsOthers(root.ID); why != "" && root.ID != p.exec.ID {
		root = p.exec
	}
	return root, s.holdsOthers(root.ID)
}

// ofUnit reports whether the cgroup tells a session or an application of a
// user's; then its services are told by it, too.
func ofUnit(cgroup string) bool { return cgroup != "" && cgroup != "/" }

// mostBelow bounds how many processes of a tree are looked at.
const mostBelow = 512

// holdsOthers says what is in a tree that must not be stopped with it.
func (s *surveyor) holdsOthers(root proc.ID) string {
	below, err := s.fs.Descendants(root.PID)
	if err != nil {
		return "" // it has ended
	}
	if len(below) > mostBelow {
		below = below[:mostBelow]
	}
	for _, id := range below {
		q := s.see(id.PID)
		if _, job := scopeOf(q.exec.Cgroup); q.gone || job {
			continue // a job is left alone when its parent is stopped
		}
		if !goesWithTree(&q.exec, q.why) {
			return fmt.Sprintf("process %d runs below it: %s", id.PID, cmp.Or(q.why, "it leads a session"))
		}
		if q.exec.SID == id.PID && q.exec.TTY != 0 {
			return fmt.Sprintf("process %d, which has a terminal of its own, runs below it", id.PID)
		}
	}
	return ""
}

// usedBy is what a tree has, in MB.
func (s *surveyor) usedBy(root proc.ID, now sizes) int64 {
	sum := now.bytes[root.PID]
	if below, err := s.fs.Descendants(root.PID); err == nil {
		for _, id := range below {
			sum += now.bytes[id.PID]
		}
	}
	return sum >> 20
}

const (
	toldSpared = 4
	sparedFrom = 16 << 20
)

// sparedLargest are the largest processes that may not be touched, in words.
func (s *surveyor) sparedLargest(now sizes) []string {
	all := now.since(sizes{})
	slices.SortFunc(all, func(a, b grown) int { return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.pid, b.pid)) })
	words := []string{}
	for _, g := range all[:min(len(all), 4*toldSpared)] {
		if g.bytes < sparedFrom || len(words) == toldSpared {
			break
		}
		p := s.see(g.pid)
		if p.gone {
			continue
		}
		why := p.why
		if why == "" {
			if _, job := scopeOf(p.exec.Cgroup); job {
				continue
			}
			_, why = s.rootOf(p)
		}
		words = append(words, fmt.Sprintf("%s (pid %d) has %d MB: %s", journal.Escape(programOf(p.exec.Argv), 40), g.pid, g.bytes>>20,
			cmp.Or(why, "it did not grow")))
	}
	return words
}
