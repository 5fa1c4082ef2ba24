package note

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// Ctrl-S stops a terminal until Ctrl-Q.
func TestCtrlS(t *testing.T) {
	ptmx, tty, id := terminal(t)
	typed := func(key byte, want bool) {
		t.Helper()
		if _, err := ptmx.Write([]byte{key}); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); (room(int(tty.Fd())) == Written) != want; {
			if time.Now().After(deadline) {
				t.Fatalf("after %q: %v", key, room(int(tty.Fd())))
			}
			time.Sleep(time.Millisecond)
		}
	}
	typed('\x13', false)
	if got := told(t, Note{To: id, Text: "npm starts"}); got != Full {
		t.Errorf("stopped: %v", got)
	}
	typed('\x11', true)
	if got := told(t, Note{To: id, Text: "npm starts"}); got != Written {
		t.Errorf("going on: %v", got)
	}
	if got := shown(t, ptmx, time.Minute); !strings.HasSuffix(got, "headroomd: npm starts\r\n") || strings.Count(got, "headroomd") != 1 {
		t.Errorf("shown %q", got)
	}
}

// A terminal whose reader (sshd, tmux, a window) stands still fills up. A note
// that finds room for its beginning alone may wait for the rest: on a thread of
// its own, with which nothing but itself waits.
func TestTerminalThatNobodyReads(t *testing.T) {
	ptmx, tty, id := terminal(t)
	// A byte at a time, so that no write of this test waits.
	for room(int(tty.Fd())) == Written {
		if _, err := unix.Write(int(tty.Fd()), []byte{'x'}); err != nil {
			t.Fatal(err)
		}
	}
	if got := told(t, Note{To: id, Text: "npm starts"}); got != Full {
		t.Errorf("full: %v", got)
	}
	buf := make([]byte, 64)
	w := New(proc.FS{}, On)
	for w.Counts()[Full] == 0 {
		for room(int(tty.Fd())) != Written {
			if _, err := unix.Read(int(ptmx.Fd()), buf); err != nil {
				t.Fatal(err)
			}
		}
		before := w.Counts()
		began := time.Now()
		w.Tell(Note{To: id, Text: "npm starts"})
		if took := time.Since(began); took > 10*time.Second {
			t.Fatalf("Tell took %v", took)
		}
		select {
		case <-w.Idle():
		case <-time.After(200 * time.Millisecond):
			t.Log("a note waits for the reader")
		}
		if w.Counts()[Written] == before[Written] {
			break
		}
	}
	// Others are told meanwhile.
	r, p := pair(t)
	_, other := sleeper(t, nil, p)
	w.Tell(Note{To: other, Text: "npm starts"})
	if got := shown(t, r, time.Minute); got != said {
		t.Errorf("another's pipe has %q", got)
	}
	// The reader goes on, and so does what waits.
	for done := w.Idle(); ; {
		select {
		case <-done:
			return
		default:
		}
		fds := []unix.PollFd{{Fd: int32(ptmx.Fd()), Events: unix.POLLIN}}
		if n, _ := unix.Poll(fds, 10); n == 1 {
			unix.Read(int(ptmx.Fd()), buf)
		}
	}
}

// A reader that is stopped gets what its pipe has room for, and no more.
func TestPipeOfAStoppedReader(t *testing.T) {
	r, w := pair(t)
	cat := exec.Command("cat")
	cat.Stdin = r
	out, err := cat.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cat.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cat.Process.Kill(); cat.Wait() })
	r.Close()
	if err := cat.Process.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for stopped := false; !stopped; {
		st, err := (proc.FS{}).Stat(cat.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		stopped = st.State == 'T'
	}
	c, id := sleeper(t, nil, w)
	if got := told(t, Note{To: id, Text: "npm starts"}); got != Written {
		t.Errorf("room: %v", got)
	}
	fill(t, w)
	if got := told(t, Note{To: id, Text: "x"}); got != Full {
		t.Errorf("full: %v", got)
	}
	w.Close()
	c.Process.Kill()
	c.Wait()
	cat.Process.Signal(unix.SIGCONT)
	text, err := io.ReadAll(out)
	if err != nil || !strings.HasPrefix(string(text), said) || strings.Count(string(text), "headroomd") != 1 {
		t.Errorf("read %.60q, %v", text, err)
	}
}

// What a script takes as a value is not added to, and no script waits longer
// for it.
func TestCommandSubstitution(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		agent      bool
		want       string
		outcome    Outcome
	}{
		{"2>&1", `x=$(exec 3>&- 2>&1; echo out; read -r _ <&4); echo "<$x>"`, false, "<out>\n", Merged},
		{"2>&1 below an agent", `x=$(exec 3>&- 2>&1; echo out; read -r _ <&4); echo "<$x>"`, true, "<out\n" + strings.TrimSuffix(said, "\n") + ">\n", Written},
		{"stderr elsewhere", `x=$(exec 3>&-; echo out; read -r _ <&4); echo "<$x>"`, false, "<out>\n", Written},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stderrR, stderrW := pair(t)
			pidR, pidW := pair(t)
			endR, endW := pair(t)
			line := strings.Replace(tt.line, "exec 3>&-", `sh -c 'echo $PPID' >&3; exec 3>&-`, 1)
			c := exec.Command("sh", "-c", line)
			c.Stderr, c.ExtraFiles = stderrW, []*os.File{pidW, endR}
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Process.Kill(); c.Wait() })
			stderrW.Close()
			pid := 0
			for _, b := range shown(t, pidR, time.Minute) {
				if b >= '0' && b <= '9' {
					pid = 10*pid + int(b-'0')
				}
			}
			// Once `read` waits, the redirections are done.
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
				if fd, _ := descriptor(proc.FS{}, pid, 0); strings.HasPrefix(fd, "pipe:") {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("the substitution does not get there")
				}
			}
			if got := told(t, Note{To: idOf(t, pid), Text: "npm starts", Agent: tt.agent}); got != tt.outcome {
				t.Errorf("got %v, want %v", got, tt.outcome)
			}
			unix.Write(int(endW.Fd()), []byte("\n"))
			text, _ := io.ReadAll(out)
			if string(text) != tt.want {
				t.Errorf("the script got %q, want %q", text, tt.want)
			}
			if got := available(t, stderrR); (got == said) != (tt.name == "stderr elsewhere") {
				t.Errorf("its stderr has %q", got)
			}
		})
	}
}
