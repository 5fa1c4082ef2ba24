//go:build linux

package contain

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// shell is an interactive bash of uid 1000 in a session, at a terminal.
type shell struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	mu   sync.Mutex
	text strings.Builder
}

func vmShell(t *testing.T) *shell {
	t.Helper()
	dir, err := os.Open("/sys/fs/cgroup" + vmSession(t))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	cmd := exec.Command("bash", "--norc", "-i")
	cmd.Dir, cmd.Env = "/", append(os.Environ(), "PS1=ready> ", "HISTFILE=/dev/null", "TERM=dumb")
	tty, err := pty.StartWithAttrs(cmd, nil, &syscall.SysProcAttr{
		UseCgroupFD: true, CgroupFD: int(dir.Fd()), Credential: &syscall.Credential{Uid: 1000, Gid: 1000}, Setsid: true, Setctty: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &shell{t: t, cmd: cmd, tty: tty}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := tty.Read(b)
			s.mu.Lock()
			s.text.Write(b[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { tty.Close(); cmd.Process.Kill(); cmd.Wait() })
	s.prompt()
	return s
}

func (s *shell) send(text string) { io.WriteString(s.tty, text) }

// said is all that came since the last call of forget.
func (s *shell) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *shell) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Reset()
}

func (s *shell) prompt() {
	s.t.Helper()
	eventually(s.t, "the shell's prompt", func() bool { return strings.HasSuffix(s.said(), "ready> ") })
}

// status asks for the status that the shell has.
func (s *shell) status(want int) {
	s.t.Helper()
	s.send("echo \"status=$?.\"\n")
	eventually(s.t, "the status", func() bool { return strings.Contains(s.said(), "\nstatus=") })
	s.prompt()
	if !strings.Contains(s.said(), fmt.Sprintf("\nstatus=%d.", want)) {
		s.t.Errorf("want the status %d of %q", want, s.said())
	}
}

// job starts a busy command and returns its process.
func (s *shell) job() proc.ID {
	s.t.Helper()
	s.forget()
	s.send("sh -c 'while :; do :; done'\n")
	var id proc.ID
	eventually(s.t, "the shell's command", func() bool {
		below, _ := (proc.FS{}).Descendants(s.cmd.Process.Pid)
		for _, b := range below {
			if argv, _ := (proc.FS{}).Cmdline(b.PID); len(argv) == 3 && argv[0] == "sh" {
				id = b
			}
		}
		return id.PID != 0
	})
	return id
}

// oneExec is a feed that tells of one exec.
type oneExec struct {
	fd int
	x  proc.Exec
}

func (f *oneExec) FD() int { return f.fd }

func (f *oneExec) Read(yield func(*proc.Exec)) error {
	var b [8]byte
	if n, _ := unix.Read(f.fd, b[:]); n == 8 {
		yield(&f.x)
	}
	return nil
}

// vmCatch stops a process as the governor does.
func vmCatch(t *testing.T, id proc.ID) *Tracee {
	t.Helper()
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	feed := &oneExec{fd: fd, x: proc.Exec{ID: id}}
	caught := make(chan *Tracee, 1)
	tracer := NewTracer(Options{FS: proc.NewFS("/proc"), Bound: time.Minute})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- tracer.Run(ctx, feed, func(x *proc.Exec) *Catch {
			return &Catch{ID: x.ID, Stop: true, Deliver: func(tr *Tracee) { caught <- tr }}
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("tracer: %v", err)
		}
		unix.Close(fd)
	})
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	unix.Write(fd, one[:])
	tr := <-caught
	if tr.State() != Stopped {
		t.Fatalf("caught: %v, %v", tr.State(), tr.Err())
	}
	return tr
}

// ran is the time that a process has spent in its own code, in ticks.
func ran(t *testing.T, pid int) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.Fields(rest)[11]
}

// vmHold catches a process and places it frozen, and checks that it has not
// run from the catch on.
func vmHold(t *testing.T, s *Systemd, id proc.ID) Scope {
	t.Helper()
	tr := vmCatch(t, id)
	before := ran(t, id.PID)
	x := facts(t, id.PID)
	o, err := s.Look(t.Context(), x)
	if err != nil || o.Refuse != "" {
		t.Fatalf("Look = %+v, %v", o, err)
	}
	var told Scope
	sc, err := s.Place(t.Context(), Spec{Unit: UnitName("held"), Exec: x, Origin: o, Limits: small, Frozen: true,
		InForce: func(sc Scope) { told = sc; tr.Release() }})
	if err != nil {
		t.Fatalf("Place: %v", err)
	}
	t.Cleanup(func() {
		s.Release(context.Background(), sc)
		exec.Command("systemctl", "kill", "-s", "KILL", sc.Unit).Run()
	})
	if !sc.Frozen || !told.Frozen || told.Cgroup != sc.Cgroup || len(sc.Notes) != 0 {
		t.Errorf("told %+v, placed %+v", told, sc)
	}
	tr.Release()
	<-tr.Done()
	eventually(t, "the freezer", func() bool {
		b, _ := os.ReadFile(filepath.Join("/sys/fs/cgroup", sc.Cgroup, "cgroup.events"))
		return strings.Contains(string(b), "frozen 1")
	})
	time.Sleep(time.Second)
	if now := ran(t, id.PID); now != before {
		t.Errorf("it ran from %s to %s ticks", before, now)
	}
	if got := s.Signals(sc); got != (Signals{Frozen: true}) {
		t.Errorf("signals of one that waits: %+v", got)
	}
	return sc
}

func TestVMHold(t *testing.T) {
	s := vmSystemd(t)
	b := vmShell(t)
	for _, c := range []struct {
		name string
		sig  syscall.Signal // 0: Ctrl-C
		want int
	}{{"Ctrl-C", 0, 130}, {"SIGTERM", syscall.SIGTERM, 143}, {"SIGHUP", syscall.SIGHUP, 129}} {
		t.Run(c.name, func(t *testing.T) {
			id := b.job()
			sc := vmHold(t, s, id)
			if strings.Contains(b.said(), "Stopped") || strings.Contains(b.said(), "\nready>") {
				t.Errorf("the shell says %q", b.said())
			}
			if c.sig == 0 {
				b.send("\x03")
			} else if err := syscall.Kill(id.PID, c.sig); err != nil {
				t.Fatal(err)
			}
			eventually(t, "its end", func() bool { return s.Signals(sc).Empty })
			if c.sig == 0 {
				// What is typed together with Ctrl-C is thrown away with it.
				eventually(t, "a prompt", func() bool { return strings.Contains(b.said(), "^C") && strings.HasSuffix(b.said(), "ready> ") })
			}
			b.status(c.want)
			if u := s.Usage(sc); u.Gone || u.CPUUsec < 0 {
				t.Errorf("usage %+v", u)
			}
			s.Release(t.Context(), sc)
			nothingLeft(t, sc.Unit)
		})
	}
}

// Ctrl-Z gives the prompt back, and the job may wait on, frozen and stopped.
func TestVMHoldCtrlZ(t *testing.T) {
	s := vmSystemd(t)
	b := vmShell(t)
	id := b.job()
	sc := vmHold(t, s, id)
	before := ran(t, id.PID)
	b.send("\x1a")
	eventually(t, "a pending stop", func() bool { return s.Signals(sc).StopPending })
	if err := s.Thaw(sc); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the stop", func() bool { return s.Signals(sc) == Signals{Stopped: true} })
	eventually(t, "the prompt", func() bool { return strings.Contains(b.said(), "Stopped") })
	b.status(148)
	if err := s.Freeze(sc); err != nil {
		t.Fatal(err)
	}
	if got := s.Signals(sc); got != (Signals{Stopped: true, Frozen: true}) {
		t.Errorf("stopped and frozen: %+v", got)
	}
	b.forget()
	b.send("fg\n")
	eventually(t, "SIGCONT", func() bool { return s.Signals(sc) == Signals{Frozen: true} })
	time.Sleep(time.Second)
	if now := ran(t, id.PID); now != before {
		t.Errorf("it ran from %s to %s ticks on its way", before, now)
	}
	if err := s.Thaw(sc); err != nil {
		t.Fatal(err)
	}
	eventually(t, "that it runs", func() bool { return ran(t, id.PID) != before })
	b.send("\x03")
	eventually(t, "its end", func() bool { return s.Signals(sc).Empty })
	b.prompt()
	b.status(130)
	s.Release(t.Context(), sc)
	nothingLeft(t, sc.Unit)
}

// "kill %1" of a stopped job is SIGTERM and SIGCONT: neither ends one that is
// frozen as well.
func TestVMKillWhileStopped(t *testing.T) {
	s := vmSystemd(t)
	b := vmShell(t)
	sc := vmHold(t, s, b.job())
	b.send("\x1a")
	eventually(t, "a pending stop", func() bool { return s.Signals(sc).StopPending })
	s.Thaw(sc)
	eventually(t, "the stop", func() bool { return s.Signals(sc).Stopped })
	s.Freeze(sc)
	b.status(148)
	b.send("kill %1\n")
	eventually(t, "a pending end", func() bool { return s.Signals(sc) == Signals{EndPending: true, Frozen: true} })
	s.Thaw(sc)
	eventually(t, "its end", func() bool { return s.Signals(sc).Empty })
	s.Release(t.Context(), sc)
	nothingLeft(t, sc.Unit)
}

func TestVMStop(t *testing.T) {
	s := vmSystemd(t)
	session := vmSession(t)
	for _, c := range []struct {
		name, script string
		frozen       bool
		grace        time.Duration
		kills        bool
	}{
		{"held", "while :; do :; done", true, time.Minute, false},
		{"running", "sleep 600 & wait", false, time.Minute, false},
		{"deaf and forking", "trap '' TERM; while :; do sleep 0.1 & sleep 0.1; done", false, 2 * time.Second, true},
		{"deaf and held", "trap '' TERM; while :; do sleep 0.1; done", true, 2 * time.Second, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := bornIn(t, session, 1000, "sh", "-c", c.script)
			time.Sleep(time.Second)
			sc, _ := mustPlace(t, s, cmd.Process.Pid, small, true)
			if c.frozen {
				if err := s.Freeze(sc); err != nil {
					t.Fatal(err)
				}
			}
			begin := time.Now()
			if err := s.Stop(t.Context(), sc, c.grace); err != nil {
				t.Errorf("Stop = %v", err)
			}
			took := time.Since(begin)
			t.Logf("stopped in %v", took.Round(time.Millisecond))
			if c.kills != (took >= c.grace) {
				t.Errorf("it took %v with a grace of %v", took, c.grace)
			}
			cmd.Wait()
			want := syscall.SIGTERM
			if c.kills {
				want = syscall.SIGKILL
			}
			if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); !endedBy(ws, want) {
				t.Errorf("ended by %v, want %v", ws.Signal(), want)
			}
			if got := s.Signals(sc); !got.Empty || got.Frozen {
				t.Errorf("left %+v", got)
			}
			if u := s.Usage(sc); u.Gone || u.CPUUsec <= 0 {
				t.Errorf("the counters went with the job: %+v", u)
			}
			s.Release(t.Context(), sc)
			nothingLeft(t, sc.Unit)
			if err := s.Stop(t.Context(), sc, time.Minute); err != nil {
				t.Errorf("Stop of what is gone = %v", err)
			}
		})
	}
}

func TestVMHoldInUserManager(t *testing.T) {
	s := vmSystemd(t)
	as := "setpriv --reuid=1000 --regid=1000 --clear-groups "
	hold := func(arg string) Scope {
		pid := userRun(t, "--scope sleep "+arg, arg)
		st, err := (proc.FS{}).Stat(pid)
		if err != nil {
			t.Fatal(err)
		}
		return vmHold(t, s, st.ID)
	}
	first, second := hold("7201"), hold("7202")
	if first.Manager != "user-1000" {
		t.Errorf("placed in %+v", first)
	}
	// It is his own tree: what he lets go is let go.
	sh(t, as+"sh -c 'echo 0 >/sys/fs/cgroup"+first.Cgroup+"/cgroup.freeze'")
	if got := s.Signals(first); got != (Signals{}) {
		t.Errorf("after its user let it go: %+v", got)
	}
	out := sh(t, as+"/usr/bin/headroomd release")
	if s.Signals(second).Frozen || out != "let go: "+second.Unit {
		t.Errorf("frozen %v after release said %q", s.Signals(second).Frozen, out)
	}
	for _, sc := range []Scope{first, second} {
		if err := s.Stop(t.Context(), sc, time.Minute); err != nil {
			t.Error(err)
		}
		s.Release(t.Context(), sc)
	}
}
