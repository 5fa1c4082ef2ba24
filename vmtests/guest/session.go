package guest

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// Session is a login over ssh with a terminal: PAM, logind, a session scope and
// an interactive bash with job control, as people have it.
type Session struct {
	User string
	PID  int // of the shell

	t      testing.TB
	pty    *os.File
	ssh    *exec.Cmd
	mu     sync.Mutex
	unread []byte // what the terminal has shown since the last prompt was taken
	all    []byte
	closed bool
}

// prompt carries the command number and the exit status. The line that sets it
// is echoed once, but with \# and $? in place of digits, so it never matches.
const promptLine = `PS1='@@\#:$?@@ ' PS2= PROMPT_COMMAND=; stty -echo`

var promptRE = regexp.MustCompile(`@@\d+:(\d+)@@ `)

// Login opens a session for user, which ends with the test.
func Login(t testing.TB, user string) *Session {
	t.Helper()
	s := &Session{User: user, t: t, ssh: exec.Command("ssh", "-tt", user+"@localhost")}
	// A dumb terminal gets no colours and no bracketed paste; everything else
	// about the shell is as Debian ships it.
	s.ssh.Env = append(os.Environ(), "TERM=dumb")
	var err error
	if s.pty, err = pty.StartWithSize(s.ssh, &pty.Winsize{Rows: 50, Cols: 400}); err != nil {
		t.Fatalf("ssh %s@localhost: %v", user, err)
	}
	go s.read()
	t.Cleanup(s.Close)
	s.Send(promptLine + "\n")
	s.Wait(patience)
	out, _ := s.Run("echo $$")
	if s.PID, err = strconv.Atoi(strings.TrimSpace(out)); err != nil {
		t.Fatalf("pid of the shell: %v", err)
	}
	return s
}

// Use makes t the test that fails by what the session does, until its end.
func (s *Session) Use(t testing.TB) {
	before := s.t
	s.t = t
	t.Cleanup(func() { s.t = before })
}

func (s *Session) read() {
	buf := make([]byte, 4096)
	for {
		n, err := s.pty.Read(buf)
		s.mu.Lock()
		s.unread = append(s.unread, buf[:n]...)
		s.all = append(s.all, buf[:n]...)
		s.closed = s.closed || err != nil
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Send types raw bytes: a line needs its "\n", Ctrl-C is "\x03".
func (s *Session) Send(keys string) {
	s.t.Helper()
	if _, err := s.pty.WriteString(keys); err != nil {
		s.t.Fatalf("type %q: %v", keys, err)
	}
}

// Wait waits for the next prompt and returns what was shown before it, and the
// exit status ($?) of what ran last.
func (s *Session) Wait(within time.Duration) (output string, status int) {
	s.t.Helper()
	Eventually(s.t, within, func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		if m := promptRE.FindSubmatchIndex(s.unread); m != nil {
			output = strings.ReplaceAll(string(s.unread[:m[0]]), "\r\n", "\n")
			status, _ = strconv.Atoi(string(s.unread[m[2]:m[3]]))
			s.unread = s.unread[m[1]:]
			return ""
		}
		if s.closed {
			s.t.Fatalf("the session of %s ended; it showed:\n%s", s.User, s.unread)
		}
		return fmt.Sprintf("no prompt; the terminal shows %q", s.unread)
	})
	return output, status
}

// Run types a line and waits for the next prompt.
func (s *Session) Run(line string) (output string, status int) {
	s.t.Helper()
	return s.RunWithin(4*patience, line)
}

// RunWithin is Run with another deadline.
func (s *Session) RunWithin(within time.Duration, line string) (output string, status int) {
	s.t.Helper()
	s.Send(line + "\n")
	return s.Wait(within)
}

// Must is Run for lines that the test needs to succeed.
func (s *Session) Must(line string) string {
	s.t.Helper()
	out, status := s.Run(line)
	if status != 0 {
		s.t.Fatalf("%s: exit status %d\n%s", line, status, out)
	}
	return out
}

// Shown is what the terminal has shown since the last prompt that Wait took.
func (s *Session) Shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.unread)
}

// Close hangs up and waits until the shell is gone. A failed test shows what
// its terminals showed.
func (s *Session) Close() {
	s.ssh.Process.Kill()
	s.ssh.Wait()
	s.pty.Close()
	if s.t.Failed() {
		s.mu.Lock()
		s.t.Logf("terminal of %s:\n%s", s.User, s.all)
		s.mu.Unlock()
	}
	if s.PID != 0 {
		deadline := time.Now().Add(patience)
		for Alive(s.PID) && time.Now().Before(deadline) {
			time.Sleep(50 * time.Millisecond)
		}
	}
}
