package note

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// The tests in this file write to children of their own.

// sleeper starts a child with the given descriptors 1 and 2, each of which may
// be nil (/dev/null).
func sleeper(t *testing.T, stdout, stderr *os.File) (*exec.Cmd, proc.ID) {
	t.Helper()
	c := exec.Command("sleep", "600")
	// A nil *os.File in an interface is not a nil one.
	if stdout != nil {
		c.Stdout = stdout
	}
	if stderr != nil {
		c.Stderr = stderr
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return c, idOf(t, c.Process.Pid)
}

func idOf(t *testing.T, pid int) proc.ID {
	t.Helper()
	st, err := (proc.FS{}).Stat(pid)
	if err != nil {
		t.Fatal(err)
	}
	return st.ID
}

// told tells one note, and waits for what became of it.
func told(t *testing.T, n Note) Outcome {
	t.Helper()
	w := New(proc.FS{}, On)
	w.Tell(n)
	rest(t, w)
	counts := w.Counts()
	for o, times := range counts {
		if len(counts) == 1 && times == 1 {
			return o
		}
	}
	t.Fatalf("of one note became %v", counts)
	return ""
}

func rest(t *testing.T, w *Writer) {
	t.Helper()
	select {
	case <-w.Idle():
	case <-time.After(time.Minute):
		t.Fatal("the note hangs")
	}
}

// pair is a pipe whose ends are not the runtime's: it would set O_NONBLOCK.
func pair(t *testing.T) (r, w *os.File) {
	t.Helper()
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	return files(t, p)
}

func sockets(t *testing.T, kind int) (a, b *os.File) {
	t.Helper()
	p, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return files(t, p)
}

func files(t *testing.T, p [2]int) (a, b *os.File) {
	a, b = os.NewFile(uintptr(p[0]), "a"), os.NewFile(uintptr(p[1]), "b")
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// fill writes until there is no more room, without changing the descriptor.
func fill(t *testing.T, f *os.File) {
	t.Helper()
	fd := int(f.Fd())
	page := make([]byte, 4096)
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		if n, err := unix.Poll(fds, 0); n == 0 && err == nil {
			return
		}
		if _, err := unix.Write(fd, page); err != nil {
			t.Fatal(err)
		}
	}
}

// available is what can be read without waiting.
func available(t *testing.T, f *os.File) string {
	t.Helper()
	var got []byte
	buf := make([]byte, 4096)
	for {
		fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
		if n, err := unix.Poll(fds, 0); n != 1 || err != nil || fds[0].Revents&unix.POLLIN == 0 {
			return string(got)
		}
		n, err := unix.Read(int(f.Fd()), buf)
		if n <= 0 || err != nil {
			return string(got)
		}
		got = append(got, buf[:n]...)
	}
}

const said = "headroomd: npm starts\n"

func TestPipe(t *testing.T) {
	for _, tt := range []struct {
		name     string
		note     Note
		merged   bool // fd 1 is the same
		full     bool
		noReader bool
		want     Outcome
	}{
		{"room", Note{}, false, false, false, Written},
		{"full", Note{}, false, true, false, Full},
		{"nobody reads", Note{}, false, false, true, HungUp},
		{"only a terminal", Note{Terminal: true}, false, false, false, NotTerminal},
		{"2>&1", Note{}, true, false, false, Merged},
		{"2>&1 under an agent", Note{Agent: true}, true, false, false, Written},
		{"compiler under an agent", Note{Agent: true, Terminal: true}, false, false, false, NotTerminal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, w := pair(t)
			stdout := (*os.File)(nil)
			if tt.merged {
				stdout = w
			}
			_, id := sleeper(t, stdout, w)
			if tt.full {
				fill(t, w)
			}
			if tt.noReader {
				r.Close()
			}
			tt.note.To, tt.note.Text = id, "npm starts"
			if got := told(t, tt.note); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if flags, err := unix.FcntlInt(w.Fd(), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
				t.Errorf("the owner's flags are %#o, %v", flags, err)
			}
			if tt.noReader {
				return
			}
			got := available(t, r)
			if tt.want == Written && got != said || tt.want != Written && strings.Contains(got, "headroomd") {
				t.Errorf("read %.60q", got)
			}
		})
	}
}

// The reader of a pipe that is waiting for its end sees it as soon as the
// process has ended: no duplicate is kept.
func TestEndOfPipe(t *testing.T) {
	r, w := pair(t)
	c, id := sleeper(t, nil, w)
	w.Close()
	if got := told(t, Note{To: id, Text: "npm starts"}); got != Written {
		t.Fatal(got)
	}
	c.Process.Kill()
	c.Wait()
	done := make(chan string)
	go func() { text, _ := io.ReadAll(r); done <- string(text) }()
	select {
	case text := <-done:
		if text != said {
			t.Errorf("read %q", text)
		}
	case <-time.After(time.Minute):
		t.Error("the pipe has no end")
	}
	if got := told(t, Note{To: id, Text: "x"}); got != Gone {
		t.Errorf("after its end: %v", got)
	}
}

func TestFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	_, id := sleeper(t, nil, f)
	if got := told(t, Note{To: id, Text: "npm starts"}); got != Written {
		t.Errorf("got %v", got)
	}
	if got := available(t, f); got != said {
		t.Errorf("read %q", got)
	}
}

func TestSocket(t *testing.T) {
	a, b := sockets(t, unix.SOCK_STREAM)
	_, id := sleeper(t, nil, b)
	if got := told(t, Note{To: id, Text: "npm starts"}); got != Written {
		t.Errorf("got %v", got)
	}
	if got := available(t, a); got != said {
		t.Errorf("read %q", got)
	}
	_, both := sleeper(t, b, b)
	if got := told(t, Note{To: both, Text: "x"}); got != Merged {
		t.Errorf("2>&1: %v", got)
	}
	fill(t, b)
	// Poll says full a little before the socket is.
	for range 1000 {
		if _, err := unix.SendmsgN(int(b.Fd()), make([]byte, maxBytes), nil, nil, unix.MSG_DONTWAIT); err != nil {
			break
		}
	}
	if got := told(t, Note{To: id, Text: "x"}); got != Full {
		t.Errorf("full: %v", got)
	}
	a.Close()
	if got := told(t, Note{To: id, Text: "x"}); got != HungUp {
		t.Errorf("closed: %v", got)
	}
	for _, kind := range []int{unix.SOCK_DGRAM, unix.SOCK_SEQPACKET} {
		_, d := sockets(t, kind)
		_, id := sleeper(t, nil, d)
		if got := told(t, Note{To: id, Text: "x"}); got != NoTarget {
			t.Errorf("kind %d: %v", kind, got)
		}
	}
}

// A message to root's socket would look as if root had sent it. Root's own
// process may write to anybody: an agent's pair that sudo has inherited.
func TestStrangersSocket(t *testing.T) {
	peer := uint32(os.Geteuid())
	for _, tt := range []struct {
		name string
		own  uint32
		err  error
		want Outcome
	}{
		{"another user's process", peer + 1, nil, Stranger},
		{"root's process", 0, nil, Written},
		{"whose process is not known", 0, proc.ErrGone, Gone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := sockets(t, unix.SOCK_STREAM)
			if got := write(int(b.Fd()), Note{Text: "npm starts"}, func() (uint32, error) { return tt.own, tt.err }); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if got := available(t, a); (got == said) != (tt.want == Written) || got != "" && got != said {
				t.Errorf("read %q", got)
			}
		})
	}
}

func TestNoTargets(t *testing.T) {
	dir := t.TempDir()
	open := func(name string, flags int) *os.File {
		t.Helper()
		f, err := os.OpenFile(name, flags, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	file, log := filepath.Join(dir, "file"), filepath.Join(dir, "log")
	r, _ := pair(t)
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer ptmx.Close()
	defer tty.Close()
	readTTY := open(tty.Name(), os.O_RDONLY|unix.O_NOCTTY)
	for _, tt := range []struct {
		name   string
		stderr *os.File
		want   Outcome
	}{
		{"file", open(file, os.O_WRONLY|os.O_CREATE), NoTarget},
		{"log", open(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND), NoTarget},
		{"/etc/passwd", open("/etc/passwd", os.O_RDONLY), NoTarget},
		{"/dev/null", open("/dev/null", os.O_WRONLY), NoTarget},
		{"/dev/zero", open("/dev/zero", os.O_RDWR), NoTarget},
		{"the reading end of a pipe", r, ReadOnly},
		{"a terminal opened for reading", readTTY, ReadOnly},
		{"a terminal's other end", ptmx, NoTarget},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, id := sleeper(t, nil, tt.stderr)
			if got := told(t, Note{To: id, Text: "npm starts"}); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	for _, name := range []string{file, log} {
		if text, err := os.ReadFile(name); len(text) > 0 || err != nil {
			t.Errorf("%s has %q, %v", name, text, err)
		}
	}
	// Should the name have promised another thing than was taken.
	for name, f := range map[string]*os.File{"file": open(file, os.O_WRONLY), "passwd": open("/etc/passwd", os.O_RDONLY)} {
		if got := write(int(f.Fd()), Note{Text: "x"}, nil); got != NoTarget && got != ReadOnly {
			t.Errorf("%s: %v", name, got)
		}
	}
	path, err := unix.Open(dir, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(path)
	if got := write(path, Note{}, nil); got != ReadOnly {
		t.Errorf("O_PATH: %v", got)
	}
}

func TestClosedAndGone(t *testing.T) {
	c := exec.Command("sh", "-c", "exec 2>&-; echo ready; exec sleep 600")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	id := idOf(t, c.Process.Pid)
	if got := told(t, Note{To: id, Text: "x"}); got != Closed {
		t.Errorf("closed: %v", got)
	}
	if got := told(t, Note{To: proc.ID{PID: id.PID, Start: id.Start + 1}, Text: "x"}); got != Gone {
		t.Errorf("another process's identity: %v", got)
	}
	if got := told(t, Note{Text: "x"}); got == Written {
		t.Errorf("to nobody: %v", got)
	}
}
