package loader

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// fakeProc is a /proc in a directory, with as much in it as polling reads.
type fakeProc struct {
	t    *testing.T
	root string
}

func newFakeProc(t *testing.T) *fakeProc {
	f := &fakeProc{t, t.TempDir()}
	f.newest(1)
	f.run(1, "systemd", "/usr/lib/systemd/systemd", "/sbin/init")
	return f
}

func (f *fakeProc) newest(pid int) {
	f.write("loadavg", fmt.Sprintf("0.20 0.18 0.12 1/80 %d\n", pid))
}

func (f *fakeProc) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// run makes a process, or has it exec something else.
func (f *fakeProc) run(pid int, comm, exe string, argv ...string) {
	f.t.Helper()
	f.write(fmt.Sprint(pid, "/comm"), comm+"\n")
	f.write(fmt.Sprint(pid, "/cmdline"), strings.Join(argv, "\x00")+"\x00")
	link := filepath.Join(f.root, fmt.Sprint(pid), "exe")
	os.Remove(link)
	if exe == "" {
		return // a kernel thread
	}
	if err := os.Symlink(exe, link); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fakeProc) end(pid int) { os.RemoveAll(filepath.Join(f.root, fmt.Sprint(pid))) }

// polled is a table over a fake, and what it reported.
type polled struct {
	*table
	t        *testing.T
	now      time.Time
	reported []string
}

func newPolled(t *testing.T, f *fakeProc, named map[string]uint32) *polled {
	p := &polled{table: &table{fs: proc.NewFS(f.root), known: map[int]*process{}}, t: t, now: time.Unix(1000, 0)}
	p.SetNames(named, false)
	if err := p.begin(p.now); err != nil {
		t.Fatal(err)
	}
	return p
}

// after lets time pass in ticks of 10 ms and gives what was reported.
func (p *polled) after(d time.Duration) []string {
	p.t.Helper()
	p.reported = nil
	for end := p.now.Add(d); p.now.Before(end); {
		p.now = p.now.Add(defaultTick)
		if err := p.tick(p.now, func(pid int, comm string, tag uint32) {
			p.reported = append(p.reported, fmt.Sprintf("%d %s %d", pid, comm, tag))
		}); err != nil {
			p.t.Fatal(err)
		}
	}
	return p.reported
}

func (p *polled) expect(what string, d time.Duration, want ...string) {
	p.t.Helper()
	if got := p.after(d); !slices.Equal(got, want) {
		p.t.Errorf("%s: reported %q, want %q", what, got, want)
	}
}

var someNames = map[string]uint32{"npm": 1, "node": 2, "python3": 4, "make": 8}

func TestPollNewProcess(t *testing.T) {
	f := newFakeProc(t)
	f.run(10, "make", "/usr/bin/make", "make")
	p := newPolled(t, f, someNames)
	p.expect("what ran before", 3*time.Second)

	f.run(20, "node", "/usr/bin/node", "node", "x.js")
	f.run(21, "ls", "/bin/ls", "ls")
	f.newest(21)
	p.expect("a new process", defaultTick, "20 node 2")
	p.expect("is reported once", 3*time.Second)
	if got, want := p.Counters(), (Counters{Seen: 2, Reported: 1}); got != want {
		t.Errorf("counters %+v, want %+v", got, want)
	}
}

func TestPollExecAfterFork(t *testing.T) {
	f := newFakeProc(t)
	p := newPolled(t, f, someNames)
	for i, late := range []time.Duration{20 * time.Millisecond, 150 * time.Millisecond, 700 * time.Millisecond} {
		pid := 100 + i
		f.run(pid, "bash", "/bin/bash", "bash") // forked, not yet executed
		f.newest(pid)
		p.expect("a fork of a shell", late)
		f.run(pid, "npm", "/usr/bin/env", "env", "node", "npm", "test")
		p.expect("its exec is found at the next look", looks[i]-late+defaultTick, fmt.Sprint(pid, " npm 1"))
		f.run(pid, "node", "/usr/bin/node", "node", "npm", "test")
		p.expect("and that of the script's interpreter 50 ms later", looks[0]+defaultTick, fmt.Sprint(pid, " node 2"))
	}
	p.expect("and nothing more", 3*time.Second)
}

func TestPollSweepFindsOldProcesses(t *testing.T) {
	f := newFakeProc(t)
	f.run(10, "bash", "/bin/bash", "bash")
	f.run(11, "python3", "/usr/bin/python3", "python3", "serve.py")
	p := newPolled(t, f, someNames)
	p.expect("nothing yet", time.Second)
	f.run(10, "make", "/usr/bin/make", "make")
	f.run(11, "python3", "/usr/bin/python3", "python3", "-m", "pytest")
	got := p.after(sweepEvery)
	slices.Sort(got)
	if want := []string{"10 make 8", "11 python3 4"}; !slices.Equal(got, want) {
		t.Errorf("reported %q, want %q", got, want)
	}
}

func TestPollRenamed(t *testing.T) {
	f := newFakeProc(t)
	p := newPolled(t, f, map[string]uint32{"npm": 1, "gcc": 2})
	f.run(20, "npm run build", "/usr/bin/node", "npm run build") // by its first word
	f.run(21, "something", "/usr/bin/gcc-13", "x")               // by its binary
	f.newest(21)
	got := p.after(defaultTick)
	slices.Sort(got)
	if want := []string{"20 npm run build 1", "21 something 2"}; !slices.Equal(got, want) {
		t.Errorf("reported %q, want %q", got, want)
	}
}

func TestPollReusedPID(t *testing.T) {
	f := newFakeProc(t)
	p := newPolled(t, f, someNames)
	f.run(20, "make", "/usr/bin/make", "make")
	f.newest(20)
	p.expect("the first", defaultTick, "20 make 8")
	f.end(20)
	f.newest(21) // another was there in between, and has ended, too
	p.expect("none", defaultTick)
	f.run(20, "make", "/usr/bin/make", "make")
	f.newest(20)
	p.expect("the second with its pid", defaultTick, "20 make 8")
	p.expect("once", 3*time.Second)
	if len(p.fresh) != 0 || len(p.known) != 2 {
		t.Errorf("%d fresh and %d known remain", len(p.fresh), len(p.known))
	}
}

func TestPollPassesOver(t *testing.T) {
	f := newFakeProc(t)
	p := newPolled(t, f, someNames)
	p.SetNames(someNames, true)
	p.after(3 * time.Second)
	f.run(30, "kworker/0:1", "") // a kernel thread, or a zombie
	f.newest(30)
	p.expect("what has no binary", 3*time.Second)
	f.run(31, "ls", "/bin/ls", "ls")
	f.newest(31)
	p.expect("report all", defaultTick, "31 ls 0")
}

func TestPollWithoutLoadavg(t *testing.T) {
	f := newFakeProc(t)
	f.newest(0) // made up: it never changes
	p := newPolled(t, f, someNames)
	f.run(20, "make", "/usr/bin/make", "make")
	p.expect("a sweep finds it", sweepEvery+defaultTick, "20 make 8")
	f.run(21, "make", "/usr/bin/make", "make")
	p.expect("from then on every fifth tick does", blindEvery*defaultTick, "21 make 8")
}

func TestPollEnds(t *testing.T) {
	f := newFakeProc(t)
	p := newPolled(t, f, someNames)
	os.Remove(filepath.Join(f.root, "loadavg"))
	if err := p.tick(p.now, nil); err == nil {
		t.Error("no loadavg, no error: the source would be blind and not say so")
	}
	if _, err := openPoll(Options{FS: proc.NewFS(f.root), Tick: time.Second}); err == nil {
		t.Error("opened without loadavg")
	}
}

func BenchmarkPollIdleTick(b *testing.B) {
	t := &table{known: map[int]*process{}}
	if err := t.begin(time.Now()); err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		if err := t.tick(now, func(int, string, uint32) {}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPollSweep(b *testing.B) {
	t := &table{known: map[int]*process{}}
	now := time.Now()
	if err := t.begin(now); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		now = now.Add(sweepEvery)
		if err := t.tick(now, func(int, string, uint32) {}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(t.pids)), "processes")
}
