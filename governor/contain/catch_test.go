//go:build linux

package contain_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/loader/proc"
)

var procFS = proc.NewFS("/proc")

// fakeFeed tells of those execs that a test pushes.
type fakeFeed struct {
	fd  int
	mu  sync.Mutex
	all []proc.Exec
	err error
}

func newFakeFeed(t testing.TB) *fakeFeed {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return &fakeFeed{fd: fd}
}

func (f *fakeFeed) FD() int { return f.fd }

func (f *fakeFeed) Read(yield func(*proc.Exec)) error {
	var count [8]byte
	_, _ = unix.Read(f.fd, count[:])
	f.mu.Lock()
	all, err := f.all, f.err
	f.all, f.err = nil, nil
	f.mu.Unlock()
	for i := range all {
		yield(&all[i])
	}
	return err
}

func (f *fakeFeed) push(x ...proc.Exec) {
	f.mu.Lock()
	f.all = append(f.all, x...)
	f.mu.Unlock()
	f.ring()
}

func (f *fakeFeed) end(err error) {
	f.mu.Lock()
	f.err = err
	f.mu.Unlock()
	f.ring()
}

func (f *fakeFeed) ring() {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _ = unix.Write(f.fd, one[:])
}

// rig is a running tracer that catches all that its feed tells of.
type rig struct {
	*contain.Tracer
	feed   *fakeFeed
	caught chan *contain.Tracee
	cancel context.CancelFunc
	ended  chan error
}

func startRig(t testing.TB, o contain.Options, edit func(*contain.Catch)) *rig {
	t.Helper()
	o.FS = procFS
	if o.Bound == 0 {
		o.Bound = 10 * time.Second // this process itself may be slow to say its word
	}
	r := &rig{Tracer: contain.NewTracer(o), feed: newFakeFeed(t), caught: make(chan *contain.Tracee, 1000), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	go func() {
		r.ended <- r.Run(ctx, r.feed, func(x *proc.Exec) *contain.Catch {
			c := &contain.Catch{ID: x.ID, Stop: true, Seen: x.Seen, Deliver: func(tr *contain.Tracee) { r.caught <- tr }}
			if edit != nil {
				edit(c)
			}
			return c
		})
	}()
	t.Cleanup(func() { r.stop(t) })
	return r
}

// stop ends the tracer and checks that it holds nothing.
func (r *rig) stop(t testing.TB) {
	r.cancel()
	select {
	case err := <-r.ended:
		if err != nil {
			t.Errorf("Run: %v", err)
		}
		r.ended <- err
	case <-time.After(10 * time.Second):
		t.Error("Run did not return")
	}
}

// catch has the process caught and returns what was delivered.
func (r *rig) catch(t testing.TB, id proc.ID) *contain.Tracee {
	t.Helper()
	r.feed.push(proc.Exec{ID: id, Seen: time.Now()})
	return r.next(t)
}

func (r *rig) next(t testing.TB) *contain.Tracee {
	t.Helper()
	select {
	case tr := <-r.caught:
		return tr
	case <-time.After(10 * time.Second):
		t.Fatal("nothing was delivered")
		return nil
	}
}

func waitDone(t testing.TB, tr *contain.Tracee, want contain.State) {
	t.Helper()
	select {
	case <-tr.Done():
	case <-time.After(10 * time.Second):
		t.Fatalf("not done; state %v", tr.State())
	}
	if got := tr.Outcome(); got != want {
		t.Fatalf("outcome %v (%v), want %v", got, tr.Err(), want)
	}
}

func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("tracing needs root here")
	}
}

// compiled are the programs of testdata, each compiled once.
var compiled struct {
	sync.Mutex
	text map[string][]byte
}

// program compiles testdata/NAME.c.
func program(t testing.TB, name string, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("needs a C compiler: what is caught must have one thread and do exactly what the test says")
	}
	path := filepath.Join(t.TempDir(), name)
	compiled.Lock()
	defer compiled.Unlock()
	if text := compiled.text[name]; text != nil {
		if err := os.WriteFile(path, text, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	args := append([]string{"-O1", "-o", path, filepath.Join("testdata", name+".c")}, flags...)
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("cc %q: %v\n%s", args, err, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if compiled.text == nil {
		compiled.text = map[string][]byte{}
	}
	compiled.text[name] = text
	return path
}

// child is a process whose real parent is not this one: a shell, that says
// how it ended.
type child struct {
	id     proc.ID
	shell  *exec.Cmd
	out    *os.File
	shared []uint32 // of counter: rounds, term, cont, tstp
	stdin  *os.File
}

const (
	rounds = iota
	terms
	conts
	tstps
)

func startChild(t testing.TB, argv ...string) *child {
	t.Helper()
	in, stdin, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{out: out, stdin: stdin}
	c.shell = exec.Command("/bin/sh", append([]string{"-c", `exec 3<&0; "$0" "$@" <&3 & echo $!; wait $!; echo status $?`}, argv...)...)
	c.shell.Stdin, c.shell.Stdout = in, w
	// A group of its own, whose leader's parent is in the same session: the
	// kernel ignores SIGTSTP in a group that is orphaned, as that of a test run
	// by a service is.
	c.shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.shell.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	w.Close()
	if _, err := fmt.Fscan(out, &c.id.PID); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.kill(syscall.SIGKILL)
		c.shell.Wait()
		out.Close()
		stdin.Close()
	})
	eventually(t, "the child has called exec", func() bool {
		stat, err := procFS.Stat(c.id.PID)
		return err == nil && stat.Comm == filepath.Base(argv[0])
	})
	stat, err := procFS.Stat(c.id.PID)
	if err != nil {
		t.Fatal(err)
	}
	c.id = stat.ID
	return c
}

// startCounter starts testdata/counter.c, busy or sleeping.
func startCounter(t testing.TB, args ...string) *child {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shared")
	if err := os.WriteFile(path, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mem, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
	c := startChild(t, append([]string{program(t, "counter"), path}, args...)...)
	c.shared = asWords(mem)
	eventually(t, "the counter runs", func() bool { return c.get(rounds) > 0 })
	return c
}

// asWords is shared memory as numbers.
func asWords(mem []byte) []uint32 { return unsafe.Slice((*uint32)(unsafe.Pointer(&mem[0])), 4) }

func (c *child) get(i int) uint32 { return atomic.LoadUint32(&c.shared[i]) }

func (c *child) kill(sig syscall.Signal) { syscall.Kill(c.id.PID, sig) }

// state is the letter of /proc/PID/stat, 0 for none.
func (c *child) state() byte {
	stat, err := procFS.Stat(c.id.PID)
	if err != nil {
		return 0
	}
	return stat.State
}

// status is what the real parent was told; the wait for it is bounded.
func (c *child) status(t testing.TB) int {
	t.Helper()
	c.out.SetReadDeadline(time.Now().Add(10 * time.Second))
	word, status := "", -1
	if _, err := fmt.Fscan(c.out, &word, &status); err != nil {
		t.Fatalf("the real parent was not told of the end: %v", err)
	}
	return status
}

// runsOn checks that the process makes progress.
func (c *child) runsOn(t testing.TB) {
	t.Helper()
	from := c.get(rounds)
	eventually(t, "the process runs on", func() bool { return c.get(rounds) != from })
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("not seen within 10 s: %s", what)
		}
	}
}

// tracer is the pid that traces the process, 0 for none.
func (c *child) tracer() string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.id.PID))
	_, rest, _ := strings.Cut(string(data), "TracerPid:\t")
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

var errFeed = errors.New("the feed has ended")

func execOf(c *child) proc.Exec { return proc.Exec{ID: c.id, Seen: time.Now()} }
