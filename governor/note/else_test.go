package note

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/headroomd/headroomd/loader/proc"
)

// ended starts a shell with the given descriptors that has a child, which ends
// and is not waited for, or with reap is.
func ended(t *testing.T, stdout, stderr *os.File, reap bool) (shell, child proc.ID) {
	t.Helper()
	r, w := pair(t)
	c := exec.Command("sh", "-c", `sleep 600 & echo $! >&3; read -r _; kill -9 $!; [ -z "$0" ] || wait; echo >&3; exec sleep 600`)
	if reap {
		c.Args = append(c.Args, "reap")
	} else {
		c.Args = append(c.Args, "")
	}
	c.Stdout, c.Stderr, c.ExtraFiles = stdout, stderr, []*os.File{w}
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	var pid int
	lines := bufio.NewReader(r)
	if _, err := fmt.Fscanln(lines, &pid); err != nil {
		t.Fatal(err)
	}
	child = idOf(t, pid)
	fmt.Fprintln(stdin)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if st, err := (proc.FS{}).Stat(pid); err != nil || st.State == 'Z' {
			return idOf(t, c.Process.Pid), child
		}
		if time.Now().After(deadline) {
			t.Fatal("the child does not end")
		}
	}
}

// Of a command that was killed itself nothing is left to be written to; the
// shell that says "Killed" is still there.
func TestWhereTheProcessHasEnded(t *testing.T) {
	for _, tt := range []struct {
		name     string
		terminal bool // the shell's stderr is one
		note     Note
		nobody   bool
		want     Outcome
	}{
		{"at a terminal", true, Note{}, false, Written},
		{"a compiler's at a terminal", true, Note{Terminal: true}, false, Written},
		{"nobody else", true, Note{}, true, Gone},
		{"a script whose output is read", false, Note{}, false, NotTerminal},
		{"below an agent", false, Note{Agent: true}, false, Written},
	} {
		for _, reap := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/reaped %v", tt.name, reap), func(t *testing.T) {
				r, w := pair(t)
				ptmx, tty, err := pty.Open()
				if err != nil {
					t.Fatal(err)
				}
				defer ptmx.Close()
				defer tty.Close()
				from, to, end := r, w, "\n"
				if tt.terminal {
					from, to, end = ptmx, tty, "\r\n"
				}
				shell, child := ended(t, to, to, reap)
				if tt.note.To, tt.note.Text = child, "npm ends"; !tt.nobody {
					tt.note.Else = shell
				}
				if got := told(t, tt.note); got != tt.want {
					t.Errorf("got %v, want %v", got, tt.want)
				}
				want, wait := "headroomd: npm ends"+end, time.Minute
				if tt.want != Written {
					want, wait = "", 0
				}
				if got := shown(t, from, wait); got != want {
					t.Errorf("read %q, want %q", got, want)
				}
			})
		}
	}
}

// Without the right to another user's descriptors a note is quietly not told.
func TestDenied(t *testing.T) {
	if os.Getenv("HEADROOM_NOTE_NOBODY") != "" {
		st, err := (proc.FS{}).Stat(os.Getppid())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("outcome", told(t, Note{To: st.ID, Text: "x"}))
		return
	}
	if os.Geteuid() != 0 {
		// The first process is root's.
		if got := told(t, Note{To: idOf(t, 1), Text: "x"}); got != Denied {
			t.Errorf("pid 1: %v", got)
		}
		return
	}
	c := exec.Command("/proc/self/exe", "-test.run=^TestDenied$")
	c.Env = append(os.Environ(), "HEADROOM_NOTE_NOBODY=1")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "outcome denied\n") {
		t.Errorf("%v: %s", err, out)
	}
}
