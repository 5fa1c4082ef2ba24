package loader

import (
	"errors"
	"hash/maphash"
	"path"
	"strings"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// looks are when a new process is looked at again, since it was found or last
// changed: a shell forks first and execs after, which gives out no new pid, and
// a script's interpreter execs once or twice more.
var looks = [...]time.Duration{50 * time.Millisecond, 250 * time.Millisecond, time.Second}

// sweepEvery bounds how long an exec of an old process goes unseen. A sweep of
// 242 processes takes some 2 ms.
const sweepEvery = 2 * time.Second

// blindEvery is how often /proc is listed where loadavg's newest pid stands
// still although there are new ones, in ticks. (Some sandboxes show a made-up
// loadavg.)
const blindEvery = 5

// table is what polling knows of the processes. It does not know the time: a
// tick is told it.
type table struct {
	names
	tally
	fs     proc.FS
	known  map[int]*process
	fresh  []*process // those that have looks due
	pids   []int      // of the last list; kept for its memory
	round  uint       // of lists
	newest int
	swept  time.Time
	blind  bool
	ticks  uint
}

// process is one as it was when last looked at. An exec changes one of the
// three, save that of the very same command line.
type process struct {
	pid   int
	comm  string
	exe   string
	argv  uint64 // of one that is reported: a hash of its argv; 0 of others
	since time.Time
	look  int  // the next of looks; past the end: none
	fresh bool // it is in table.fresh
	round uint // the list it was last in
}

var argvSeed = maphash.MakeSeed()

// begin takes in what runs, reporting nothing.
func (t *table) begin(now time.Time) (err error) {
	if t.newest, err = t.fs.NewestPID(); err != nil {
		return err
	}
	t.swept = now
	if _, err := t.list(now, func(int, string, uint32) {}); err != nil {
		return err
	}
	for _, s := range t.known {
		s.look, s.fresh = len(looks), false
	}
	t.fresh = nil
	t.reset()
	return nil
}

// tick compares /proc with the table. While no pid is given out it reads one
// file, and looks at what is due.
func (t *table) tick(now time.Time, report func(pid int, comm string, tag uint32)) error {
	newest, err := t.fs.NewestPID()
	if err != nil {
		return err
	}
	t.ticks++
	sweep := now.Sub(t.swept) >= sweepEvery
	still := newest == t.newest
	t.newest = newest
	if !still || sweep || t.blind && t.ticks%blindEvery == 0 {
		found, err := t.list(now, report)
		if err != nil {
			return err
		}
		if still && found > 0 && !t.blind {
			again, err := t.fs.NewestPID()
			t.blind = err == nil && again == newest
		}
	}
	if sweep {
		t.swept = now
		for _, pid := range t.pids {
			if s := t.known[pid]; s != nil {
				t.look(s, now, report)
			}
		}
	}
	t.lookAgain(now, report)
	return nil
}

// list reads which processes there are, looks at the new ones and forgets those
// that have ended.
func (t *table) list(now time.Time, report func(int, string, uint32)) (found int, err error) {
	if t.pids, err = t.fs.AppendList(t.pids[:0]); err != nil {
		return 0, err
	}
	t.round++
	for _, pid := range t.pids {
		s := t.known[pid]
		if s == nil {
			found++
			s = &process{pid: pid, since: now, fresh: true}
			t.known[pid] = s
			t.fresh = append(t.fresh, s)
			t.look(s, now, report)
		}
		s.round = t.round
	}
	if len(t.known) > len(t.pids) {
		for pid, s := range t.known {
			if s.round != t.round {
				delete(t.known, pid)
			}
		}
	}
	return found, nil
}

// lookAgain looks at the fresh processes that are due.
func (t *table) lookAgain(now time.Time, report func(int, string, uint32)) {
	kept := t.fresh[:0]
	for _, s := range t.fresh {
		if t.known[s.pid] != s {
			continue // it has ended, and its pid may be another's
		}
		if now.Sub(s.since) >= looks[s.look] {
			s.look++
			t.look(s, now, report)
		}
		if s.fresh = s.look < len(looks); s.fresh {
			kept = append(kept, s)
		}
	}
	t.fresh = kept
}

// look compares one process with what was seen of it, and reports it if it has
// changed and its name is one of those wanted.
func (t *table) look(s *process, now time.Time, report func(int, string, uint32)) {
	comm, err := t.fs.Comm(s.pid)
	if err != nil {
		return // it has ended, or may not be seen
	}
	exe, err := t.fs.Exe(s.pid)
	if errors.Is(err, proc.ErrGone) {
		return // a zombie or a kernel thread
	}
	tag, wanted := t.matchLate(comm, exe)
	var argv uint64
	if wanted {
		argv = t.hashArgv(s.pid)
	}
	if comm == s.comm && exe == s.exe && argv == s.argv {
		return
	}
	if s.comm != "" { // not the first look: begin anew with the looks
		s.since, s.look = now, 0
		if !s.fresh {
			s.fresh = true
			t.fresh = append(t.fresh, s)
		}
	}
	s.comm, s.exe, s.argv = comm, exe, argv
	t.seen.Add(1)
	if wanted {
		t.reported.Add(1)
		report(s.pid, comm, tag)
	}
}

// matchLate matches a process that may have renamed itself since its exec: npm
// calls itself "npm test". Its binary's name stays.
func (t *table) matchLate(comm, exe string) (tag uint32, ok bool) {
	first, _, _ := strings.Cut(comm, " ")
	return t.matchFirst(comm, first, path.Base(exe))
}

// hashArgv tells the exec of a program by itself (python3 runs python3) from no
// exec at all. That of an argv that cannot be read is 0.
func (t *table) hashArgv(pid int) uint64 {
	argv, err := t.fs.Cmdline(pid)
	if err != nil || len(argv) == 0 {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(argvSeed)
	for _, arg := range argv {
		h.WriteString(arg)
		h.WriteByte(0)
	}
	return h.Sum64()
}
