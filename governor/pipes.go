package governor

import (
	"slices"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// A command that is held while a job waits for its output (or it for the
// job's) holds the job up, and itself: `timeout 60 cargo build | timeout 60 xz`,
// where each timeout makes a process group of its own. So what shares a pipe
// with a job is no stranger to it.
//
// The loop asks before it makes a job of a command that is kin to none:
//
//	if l, ok := linkedJob(x.ID.PID, members, pids, g.o.FS); ok {
//		// join l.job if it has the same login; a stranger's job is not
//		// joined, but then the command must never be held
//	}
//
// with the pids of all live, held and lingering jobs as members and FS.List's
// as pids. It costs nothing where no job lives or none of the descriptors 0, 1
// and 2 is a pipe. What waits through another channel (a socket, a high
// descriptor, a file) is not found; the rule that an idle holder yields to who
// waits bounds that.

// linkTable is what linkedJob needs of the process table.
type linkTable interface {
	Links(pid int) ([]proc.Link, error)
}

// jobMembers are the processes of one job.
type jobMembers struct {
	job  string
	pids []int
}

// linkage says how a command is linked to a job.
type linkage struct {
	job    string
	member int   // pid of the job's process at the end
	via    []int // pids of the light processes between, from the command's side
}

const (
	maxLinkReads = 512                   // processes whose descriptors are read: 10 µs each
	maxLinkTime  = 20 * time.Millisecond // in all; what is not read by then is as if it were not there
	maxLinkPeers = 16                    // light processes on the way; real pipelines have 1 to 5
)

// linkedJob looks for a job that x shares a pipe with, directly or through
// light processes: one has the end that is written to, the other the end that
// is read. Two commands that have the same end wait for nobody: it is how a
// shell or an agent collects the output of several. pids may be those of the
// whole machine; the nearest numbers are looked at first, as a pipeline's are
// given out together.
func linkedJob(x int, jobs []jobMembers, pids []int, table linkTable) (linkage, bool) {
	s := linkSearch{table: table, until: time.Now().Add(maxLinkTime), ends: make(map[proc.PipeID][]pipeEnd),
		links: make(map[int][]proc.Link), member: make(map[int]string)}
	if len(jobs) == 0 || !s.read(x) || len(s.links[x]) == 0 {
		return linkage{}, false
	}
	var members []int
	for _, j := range jobs {
		for _, pid := range j.pids {
			if pid != x {
				s.member[pid] = j.job
				members = append(members, pid)
			}
		}
	}
	if len(members) == 0 {
		return linkage{}, false
	}
	// Half of what may be read is kept for those between.
	members = nearestTo(x, members)
	for _, pid := range members[:min(len(members), maxLinkReads/2)] {
		if !s.read(pid) {
			break
		}
	}
	if l, ok := s.walk(x); ok {
		return l, true
	}
	for _, pid := range nearestTo(x, pids) {
		if s.member[pid] == "" && !s.read(pid) {
			break
		}
	}
	return s.walk(x)
}

// linkSearch is the part of the machine's pipes that was read.
type linkSearch struct {
	table  linkTable
	until  time.Time
	links  map[int][]proc.Link
	ends   map[proc.PipeID][]pipeEnd
	member map[int]string // job, by pid
}

// pipeEnd is a descriptor of a process that leads into a pipe.
type pipeEnd struct {
	pid  int
	link proc.Link
}

// read reads the links of a process, once; false when enough was read. One
// that is gone has none.
func (s *linkSearch) read(pid int) bool {
	if _, done := s.links[pid]; done {
		return true
	}
	if len(s.links) >= maxLinkReads || time.Now().After(s.until) {
		return false
	}
	links, err := s.table.Links(pid)
	if err != nil {
		links = nil
	}
	s.links[pid] = links
	for _, l := range links {
		s.ends[l.Pipe] = append(s.ends[l.Pipe], pipeEnd{pid, l})
	}
	return true
}

// visit is a process that was come to, and the pipe that led there.
type visit struct {
	pid    int
	pipe   proc.PipeID
	before *visit
}

// walk goes from pipe to pipe, breadth first. It leaves a process through
// another pipe than it came in by: the second writer of what a `tee` reads
// waits for nothing that the first one does.
func (s *linkSearch) walk(x int) (linkage, bool) {
	type arrival struct {
		pid  int
		pipe proc.PipeID
	}
	seen := make(map[arrival]bool)
	peers := map[int]bool{x: true}
	for queue := []*visit{{pid: x}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, l := range s.links[at.pid] {
			if at.before != nil && l.Pipe == at.pipe {
				continue
			}
			for _, end := range s.ends[l.Pipe] {
				to := arrival{end.pid, l.Pipe}
				if end.pid == at.pid || end.pid == x || seen[to] || !opposite(l, end.link) {
					continue
				}
				seen[to] = true
				if job := s.member[end.pid]; job != "" {
					return linkage{job: job, member: end.pid, via: at.path()}, true
				}
				if !peers[end.pid] && len(peers) > maxLinkPeers {
					continue
				}
				peers[end.pid] = true
				queue = append(queue, &visit{end.pid, l.Pipe, at})
			}
		}
	}
	return linkage{}, false
}

// opposite reports whether what one writes the other reads.
func opposite(a, b proc.Link) bool { return a.Writes && b.Reads || a.Reads && b.Writes }

// path is the pids from the first after x up to v.
func (v *visit) path() []int {
	var pids []int
	for ; v.before != nil; v = v.before {
		pids = append(pids, v.pid)
	}
	slices.Reverse(pids)
	return pids
}

// nearestTo sorts pids by their distance from x.
func nearestTo(x int, pids []int) []int {
	sorted := slices.Clone(pids)
	distance := func(pid int) int { return max(pid-x, x-pid) }
	slices.SortFunc(sorted, func(a, b int) int { return distance(a) - distance(b) })
	return sorted
}
