package governor

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/headroomd/headroomd/loader/proc"
)

// fakeProcess is one process of a fake /proc.
type fakeProcess struct {
	pid, ppid, pgid int
	start           uint64
	comm            string
	state           byte // 0 is S
	argv            []string
	exe             string // "" unreadable
	uid, euid       uint32
	login           uint32
	secure          bool
	cgroup          string
	rssMB           float64
	elsewhereMB     float64 // of it, what was charged to the cgroup that it came from
	idle            bool    // uses no CPU; others use a whole one
	lock            bool    // descriptor 9 is locked
	ignored         uint64  // signals, the first in bit 0
	stdin           string  // what descriptor 0 leads to; "" unknown
	in, out         int     // pipes that descriptors 0 and 1 lead into; 0 none
}

// fakeProc is a /proc in a directory. A file is replaced by a rename, as its
// readers must never see half of one.
type fakeProc struct {
	t    testing.TB
	root string

	mu   sync.Mutex
	all  map[int]*fakeProcess
	next uint64 // start time of the next process
	made int    // names of replaced files
}

func newFakeProc(t testing.TB) *fakeProc {
	p := &fakeProc{t: t, root: t.TempDir(), all: make(map[int]*fakeProcess), next: 1000}
	for _, dir := range []string{"proc", "away"} {
		if err := os.Mkdir(filepath.Join(p.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *fakeProc) fs() proc.FS { return proc.NewFS(filepath.Join(p.root, "proc")) }

// add makes a process; what is not said is taken from its parent.
func (p *fakeProc) add(n fakeProcess) proc.ID {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	up := p.all[n.ppid]
	if up == nil {
		up = &fakeProcess{login: proc.NoLoginUID, cgroup: "/init.scope", pgid: n.pid}
	}
	if n.pgid == 0 {
		n.pgid = up.pgid
	}
	if n.uid == 0 {
		n.uid = up.uid
	}
	if n.euid == 0 && !n.secure {
		n.euid = n.uid
	}
	if n.login == 0 {
		n.login = up.login
	}
	if n.cgroup == "" {
		n.cgroup = up.cgroup
	}
	if n.start == 0 {
		n.start = p.next
		p.next += 10
	}
	if n.comm == "" && len(n.argv) > 0 {
		n.comm = filepath.Base(n.argv[0])
	}
	p.all[n.pid] = &n
	p.write(&n)
	return proc.ID{PID: n.pid, Start: n.start}
}

// change changes a process that is there.
func (p *fakeProc) change(pid int, do func(*fakeProcess)) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.all[pid]
	if n == nil {
		p.t.Errorf("no fake process %d", pid)
		return
	}
	do(n)
	p.write(n)
}

// exec is what exec does to a process.
func (p *fakeProc) exec(pid int, argv ...string) {
	p.t.Helper()
	p.change(pid, func(n *fakeProcess) {
		n.argv, n.comm, n.exe = argv, filepath.Base(argv[0]), "/usr/bin/"+filepath.Base(argv[0])
	})
}

// exit takes a process away; its children are pid 1's from then on.
func (p *fakeProc) exit(pid int) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, pid)
	p.made++
	if err := os.Rename(p.dir(pid), filepath.Join(p.root, "away", strconv.Itoa(p.made))); err != nil {
		p.t.Error(err)
	}
	for _, n := range p.all {
		if n.ppid == pid {
			n.ppid = 1
			p.write(n)
		}
	}
}

// in are the processes of a cgroup, and what it is charged for them.
func (p *fakeProc) in(cgroup string) (pids []int, mb float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for pid, n := range p.all {
		if n.cgroup == cgroup || strings.HasPrefix(n.cgroup, cgroup+"/") {
			pids, mb = append(pids, pid), mb+n.rssMB-n.elsewhereMB
		}
	}
	return pids, mb
}

func (p *fakeProc) has(pid int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[pid] != nil
}

func (p *fakeProc) dir(pid int) string { return filepath.Join(p.root, "proc", strconv.Itoa(pid)) }

func (p *fakeProc) write(n *fakeProcess) {
	p.t.Helper()
	if n.state == 0 {
		n.state = 'S'
	}
	kb := int(n.rssMB * 1024)
	auxv := make([]byte, 32)
	binary.NativeEndian.PutUint64(auxv, 23) // AT_SECURE
	if n.secure {
		auxv[8] = 1
	}
	login := strconv.FormatUint(uint64(n.login), 10)
	files := map[string]string{
		"stat": fmt.Sprintf("%d (%s) %c %d %d %d 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0\n",
			n.pid, n.comm, n.state, n.ppid, n.pgid, n.pgid, n.start),
		"status": fmt.Sprintf("Name:\t%s\nUid:\t%d\t%d\t%d\t%d\nRssAnon:\t%d kB\nRssFile:\t0 kB\nRssShmem:\t0 kB\n"+
			"SigPnd:\t0\nShdPnd:\t0\nSigBlk:\t0\nSigIgn:\t%x\nSigCgt:\t0\n",
			n.comm, n.uid, n.euid, n.euid, n.euid, kb, n.ignored),
		"comm":     n.comm + "\n",
		"statm":    fmt.Sprintf("%d %d 0 0 0 0 0\n", kb*1024/os.Getpagesize(), kb*1024/os.Getpagesize()),
		"cmdline":  strings.Join(append(n.argv, ""), "\x00"),
		"cgroup":   "0::" + n.cgroup + "\n",
		"loginuid": login,
		"auxv":     string(auxv),
	}
	if err := os.MkdirAll(p.dir(n.pid), 0o755); err != nil {
		p.t.Fatal(err)
	}
	for name, text := range files {
		p.replace(n.pid, name, func(path string) error { return os.WriteFile(path, []byte(text), 0o644) })
	}
	if n.exe != "" {
		p.replace(n.pid, "exe", func(path string) error { return os.Symlink(n.exe, path) })
	}
	p.writeDescriptors(n)
	p.replace(n.pid, "cwd", func(path string) error { return os.Symlink("/home/u", path) })
}

// writeDescriptors gives a process its pipes and its lock.
func (p *fakeProc) writeDescriptors(n *fakeProcess) {
	p.t.Helper()
	if n.in == 0 && n.out == 0 && !n.lock && n.stdin == "" {
		return
	}
	for _, sub := range []string{"fd", "fdinfo"} {
		if err := os.MkdirAll(filepath.Join(p.dir(n.pid), sub), 0o755); err != nil {
			p.t.Fatal(err)
		}
	}
	info := func(fd int, text string) {
		p.replace(n.pid, fmt.Sprintf("fdinfo/%d", fd), func(path string) error { return os.WriteFile(path, []byte(text), 0o644) })
	}
	for fd, pipe := range []int{n.in, n.out} {
		if pipe == 0 {
			continue
		}
		p.replace(n.pid, fmt.Sprintf("fd/%d", fd), func(path string) error { return os.Symlink(fmt.Sprintf("pipe:[%d]", pipe), path) })
		info(fd, fmt.Sprintf("pos:\t0\nflags:\t0%d\nmnt_id:\t14\n", fd))
	}
	if n.stdin != "" {
		p.replace(n.pid, "fd/0", func(path string) error { return os.Symlink(n.stdin, path) })
	}
	if n.lock {
		info(9, "pos:\t0\nflags:\t0100001\nmnt_id:\t14\nlock:\t1: FLOCK  ADVISORY  WRITE 812 00:1e:77 0 EOF\n")
	}
}

// bytes is what all processes have.
func (p *fakeProc) bytes() (n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.all {
		n += int64(q.rssMB * (1 << 20))
	}
	return n
}

// busy is how many processes of a cgroup use the CPU.
func (p *fakeProc) busy(cgroup string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.all {
		if !q.idle && q.state != 'T' && (q.cgroup == cgroup || strings.HasPrefix(q.cgroup, cgroup+"/")) {
			n++
		}
	}
	return n
}

func (p *fakeProc) replace(pid int, name string, make func(path string) error) {
	p.t.Helper()
	p.made++
	next := filepath.Join(p.root, "away", strconv.Itoa(p.made))
	if err := make(next); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Rename(next, filepath.Join(p.dir(pid), name)); err != nil {
		p.t.Fatal(err)
	}
}
