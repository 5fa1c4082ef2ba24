package note

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// terminal is a pseudo-terminal with a child in a session of its own on it.
func terminal(t *testing.T) (ptmx, tty *os.File, id proc.ID) {
	t.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ptmx.Close(); tty.Close() })
	c := exec.Command("sleep", "600")
	c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
	c.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return ptmx, tty, idOf(t, c.Process.Pid)
}

// shown reads what a terminal shows until it has a line or nothing more comes.
func shown(t *testing.T, ptmx *os.File, wait time.Duration) string {
	t.Helper()
	var got strings.Builder
	buf := make([]byte, 4096)
	for !strings.Contains(got.String(), "\n") {
		fds := []unix.PollFd{{Fd: int32(ptmx.Fd()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(wait.Milliseconds()))
		if err == unix.EINTR {
			continue
		}
		if n != 1 || err != nil {
			return got.String()
		}
		n, err = unix.Read(int(ptmx.Fd()), buf)
		if n <= 0 || err != nil {
			return got.String()
		}
		got.Write(buf[:n])
	}
	return got.String()
}

func TestTerminal(t *testing.T) {
	flags := func(off uint32, lflag uint32) func(*testing.T, *os.File) {
		return func(t *testing.T, tty *os.File) {
			term, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
			if err != nil {
				t.Fatal(err)
			}
			term.Oflag &^= off
			term.Lflag |= lflag
			if err := unix.IoctlSetTermios(int(tty.Fd()), unix.TCSETS, term); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		name string
		set  func(*testing.T, *os.File)
		note Note
		want Outcome
	}{
		{"ordinary", nil, Note{}, Written}, // stdout and stderr are one, as on every terminal
		{"only a terminal", nil, Note{Terminal: true}, Written},
		{"raw", flags(unix.OPOST, 0), Note{}, Written},
		{"no CR before NL", flags(unix.ONLCR, 0), Note{}, Written},
		{"tostop, of another session", flags(0, unix.TOSTOP), Note{}, Written},
		{"stopped", func(t *testing.T, tty *os.File) {
			if err := unix.IoctlSetInt(int(tty.Fd()), unix.TCXONC, unix.TCOOFF); err != nil {
				t.Fatal(err)
			}
		}, Note{}, Full},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ptmx, tty, id := terminal(t)
			if tt.set != nil {
				tt.set(t, tty)
			}
			tt.note.To, tt.note.Text = id, "npm starts"
			if got := told(t, tt.note); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			want, wait := "headroomd: npm starts\r\n", time.Minute
			if tt.want != Written {
				want, wait = "", 50*time.Millisecond
			}
			if got := shown(t, ptmx, wait); got != want {
				t.Errorf("shown %q, want %q", got, want)
			}
		})
	}
}

func TestTerminalThatIsClosed(t *testing.T) {
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	_, id := sleeper(t, nil, tty) // not of its session: it outlives the hangup
	ptmx.Close()
	if got := told(t, Note{To: id, Text: "x"}); got != HungUp {
		t.Errorf("got %v", got)
	}
}

// A daemon that was started from the terminal it writes to, in the background,
// with tostop set: an ordinary write would stop its whole group.
func TestTerminalOfItsOwn(t *testing.T) {
	if os.Getenv("HEADROOM_NOTE_DAEMON") != "" {
		st, err := (proc.FS{}).Stat(os.Getppid())
		if err != nil {
			t.Fatal(err)
		}
		if got := told(t, Note{To: st.ID, Text: "npm starts"}); got != Written {
			t.Fatal(got)
		}
		os.Exit(7)
	}
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer ptmx.Close()
	defer tty.Close()
	// An interactive shell gives each command a group of its own.
	c := exec.Command("sh", "-c", `stty tostop; set -m; "$0" -test.run='^TestTerminalOfItsOwn$' >/dev/null 2>&1 & wait $!; echo "exit $?"`, os.Args[0])
	c.Env = append(os.Environ(), "HEADROOM_NOTE_DAEMON=1")
	c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
	c.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	got := shown(t, ptmx, time.Minute)
	if !strings.Contains(got, "exit") {
		got += shown(t, ptmx, time.Minute)
	}
	if got != "headroomd: npm starts\r\nexit 7\r\n" {
		t.Errorf("shown %q", got)
	}
}
