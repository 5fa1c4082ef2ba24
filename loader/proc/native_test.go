package proc

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The tests in this file ask the kernel, about this process and its children.

// child starts a process that waits until the test is over.
func child(t testing.TB, comm string) *exec.Cmd {
	t.Helper()
	c := exec.Command("sh", "-c", `printf %s "$0" >/proc/self/comm; echo ready; read wait; :`, comm)
	c.Env = append(os.Environ(), "HEADROOM_TEST=yes")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); c.Wait() })
	if _, err := io.ReadFull(out, make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	return c
}

// asNobody runs f on a thread that has become uid 65534. The thread is not
// used again.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 65534, 65534, 65534); errno != 0 {
			t.Errorf("become nobody: %v", errno)
			return
		}
		f()
	}()
	<-done
}

func TestNativeChild(t *testing.T) {
	const comm = "a) R 1 ("
	c := child(t, comm)
	pid := c.Process.Pid
	var fs FS

	s, err := fs.Stat(pid)
	if err != nil || s.Comm != comm || s.PPID != os.Getpid() || s.ID.Start == 0 || s.Threads != 1 {
		t.Fatalf("stat %+v, %v", s, err)
	}
	x := Exec{ID: ID{PID: pid}}
	if err := fs.ReadCommand(&x); err != nil || len(x.Argv) != 4 || x.Argv[3] != comm || x.Exe == "" {
		t.Errorf("command %q %q, %v", x.Argv, x.Exe, err)
	}
	if err := fs.ReadFacts(&x); err != nil {
		t.Fatalf("facts: %v", err)
	}
	cwd, _ := os.Getwd()
	if x.ID != s.ID || x.PPID != os.Getpid() || x.UID != uint32(os.Getuid()) || x.EUID != uint32(os.Geteuid()) ||
		x.Secure || x.Cwd != cwd || x.PGID != unix.Getpgrp() || x.Threads != 1 {
		t.Errorf("facts %+v", x)
	}
	if got, ok, err := fs.Environ(pid, "HEADROOM_TEST"); got != "yes" || !ok || err != nil {
		t.Errorf("environ %q, %v, %v", got, ok, err)
	}
	if m, err := fs.Memory(pid); err != nil || m.RssAnon < 4096 || m.RssAnon > 64<<20 || m.RssFile < 4096 {
		t.Errorf("memory %+v, %v", m, err)
	}
	if pids, err := fs.List(); err != nil || !slices.Contains(pids, pid) || !slices.Contains(pids, os.Getpid()) {
		t.Errorf("list %v, %v", pids, err)
	}
	if tids, err := fs.Threads(os.Getpid()); err != nil || len(tids) < 2 || tids[0] != os.Getpid() {
		t.Errorf("threads %v, %v", tids, err)
	}
	if ids, err := fs.Descendants(os.Getpid()); err != nil || !slices.Contains(ids, s.ID) {
		t.Errorf("descendants %v, %v", ids, err)
	}
	if chain, err := fs.Ancestors(pid, 1); err != nil || len(chain) != 1 || chain[0].ID.PID != os.Getpid() {
		t.Errorf("ancestors %+v, %v", chain, err)
	}
	if newest, err := fs.NewestPID(); err != nil || newest < 1 {
		t.Errorf("newest %d, %v", newest, err)
	}
}

func TestHandle(t *testing.T) {
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	var fs FS
	s, err := fs.Stat(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(fs, ID{s.ID.PID, s.ID.Start + 1}); !errors.Is(err, ErrGone) {
		t.Errorf("another process's identity: %v", err)
	}
	if _, err := Open(fs, ID{PID: s.ID.PID}); err == nil || errors.Is(err, ErrGone) {
		t.Errorf("half an identity: %v", err)
	}
	h, err := Open(fs, s.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if exited, err := h.Exited(); exited || err != nil {
		t.Errorf("exited %v, %v, but it runs", exited, err)
	}
	if err := h.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	fds := []unix.PollFd{{Fd: int32(h.FD()), Events: unix.POLLIN}}
	if n, err := unix.Poll(fds, int(10*time.Second/time.Millisecond)); n != 1 || err != nil {
		t.Fatalf("poll %d, %v", n, err)
	}
	if exited, err := h.Exited(); !exited || err != nil { // a zombie still
		t.Errorf("exited %v, %v, but it was ended", exited, err)
	}
	x := Exec{ID: s.ID}
	if err := fs.ReadFacts(&x); !errors.Is(err, ErrGone) {
		t.Errorf("facts of a zombie: %v", err)
	}
	if err := fs.ReadCommand(&x); !errors.Is(err, ErrGone) {
		t.Errorf("command of a zombie: %v", err)
	}
	c.Wait()
	if err := h.Signal(unix.SIGTERM); !errors.Is(err, ErrGone) {
		t.Errorf("signal after the wait: %v", err)
	}
	if _, err := Open(fs, s.ID); !errors.Is(err, ErrGone) {
		t.Errorf("open after the wait: %v", err)
	}
	for range 2 {
		if err := h.Close(); err != nil || h.FD() != -1 {
			t.Errorf("close: %v, descriptor %d", err, h.FD())
		}
	}
	if _, err := h.Exited(); err == nil {
		t.Error("a closed handle answers")
	}
}

func BenchmarkReadCommand(b *testing.B) {
	x := Exec{ID: ID{PID: child(b, "bench").Process.Pid}}
	var fs FS
	b.ReportAllocs()
	for b.Loop() {
		if err := fs.ReadCommand(&x); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadFacts(b *testing.B) {
	x := Exec{ID: ID{PID: child(b, "bench").Process.Pid}}
	var fs FS
	b.ReportAllocs()
	for b.Loop() {
		if err := fs.ReadFacts(&x); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewestPID(b *testing.B) {
	var fs FS
	b.ReportAllocs()
	for b.Loop() {
		if _, err := fs.NewestPID(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkList(b *testing.B) {
	var fs FS
	var pids []int
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if pids, err = fs.AppendList(pids[:0]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(pids)), "processes")
}
