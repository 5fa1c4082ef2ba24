package contain

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// stopScene is a scope with members whose ways of dying a test says.
type stopScene struct {
	*fakeMachine
	s    *Systemd
	sc   Scope
	sent []unix.Signal // the first member's
	// dies tells whether a signal ends a process.
	dies func(pid int, sig unix.Signal) bool
}

func newStopScene(t *testing.T, members ...int) *stopScene {
	f := newFakeMachine(t)
	x := &stopScene{fakeMachine: f, s: f.systemd(t)}
	const at = "/system.slice/headroom-npm-0011aabb.scope"
	x.sc = Scope{Unit: "headroom-npm-0011aabb.scope", Cgroup: at}
	for _, pid := range members {
		f.process(pid, 1, at)
	}
	x.sc.Placeholder, _ = f.holder.start(1000, nil)
	f.place(x.sc.Placeholder.PID, at)
	f.file(at, "cgroup.kill", "")
	x.sc.CgroupID, _ = x.s.cg.id(at)
	x.dies = func(int, unix.Signal) bool { return true }
	x.s.send = func(_ string, pid int, signals ...unix.Signal) error {
		for _, sig := range signals {
			if pid == members[0] {
				x.sent = append(x.sent, sig)
			}
			if pid == x.sc.Placeholder.PID {
				t.Errorf("signal %d to the placeholder", sig)
			}
			frozen := x.s.cg.frozen(at)
			if sig != unix.SIGKILL && frozen {
				t.Errorf("signal %d to a frozen process", sig)
			}
			if x.dies(pid, sig) {
				f.kill(pid)
				return nil
			}
		}
		return nil
	}
	return x
}

func (x *stopScene) killed() bool {
	b, _ := os.ReadFile(filepath.Join(x.cgroup, x.sc.Cgroup, "cgroup.kill"))
	return string(b) == "1"
}

func TestStop(t *testing.T) {
	kill := []unix.Signal{unix.SIGTERM, unix.SIGCONT, unix.SIGKILL}
	for _, c := range []struct {
		name   string
		frozen bool
		dies   func(pid int, sig unix.Signal) bool
		want   []unix.Signal
		least  time.Duration
		most   time.Duration
	}{
		{"at the first word", false, func(int, unix.Signal) bool { return true }, kill[:1], 0, 0},
		{"held", true, func(int, unix.Signal) bool { return true }, kill[:1], 0, 0},
		{"at the word of its group's stop", false, func(_ int, sig unix.Signal) bool { return sig == unix.SIGCONT }, kill[:2], 0, 0},
		{"deaf", false, func(_ int, sig unix.Signal) bool { return sig == unix.SIGKILL }, kill, 5 * time.Second, 5 * time.Second},
		{"one of two deaf", true, func(pid int, sig unix.Signal) bool { return pid == 1001 || sig == unix.SIGKILL }, kill, 5 * time.Second, 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newStopScene(t, 1000, 1001)
				x.dies = c.dies
				if c.frozen {
					x.file(x.sc.Cgroup, "cgroup.freeze", "1\n")
				}
				begin := time.Now()
				if err := x.s.Stop(t.Context(), x.sc, 5*time.Second); err != nil {
					t.Errorf("Stop = %v", err)
				}
				if took := time.Since(begin); took < c.least || took > c.most {
					t.Errorf("it took %v", took)
				}
				if !slices.Equal(x.sent, c.want) {
					t.Errorf("sent %v, want %v", x.sent, c.want)
				}
				if x.s.cg.frozen(x.sc.Cgroup) || x.killed() || x.holder.left() != 1 {
					t.Errorf("frozen %v, cgroup.kill %v, %d placeholders", x.s.cg.frozen(x.sc.Cgroup), x.killed(), x.holder.left())
				}
			})
		})
	}
}

// Children that appear while it is being killed are found in the next round.
func TestStopWhatForks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newStopScene(t, 1000)
		next := 1001
		x.dies = func(pid int, sig unix.Signal) bool {
			if sig == unix.SIGKILL && next < 1000+killRounds {
				x.process(next, 1, x.sc.Cgroup)
				next++
			}
			return sig == unix.SIGKILL
		}
		if err := x.s.Stop(t.Context(), x.sc, time.Second); err != nil || x.killed() {
			t.Errorf("Stop = %v, cgroup.kill %v", err, x.killed())
		}
	})
}

func TestStopWhatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newStopScene(t, 1000)
		x.dies = func(int, unix.Signal) bool { return false }
		err := x.s.Stop(t.Context(), x.sc, time.Second)
		if !errors.Is(err, errStuck) || !strings.Contains(err.Error(), "1 processes do not end ([1000])") || !x.killed() {
			t.Errorf("Stop = %v, cgroup.kill %v", err, x.killed())
		}
		if x.s.cg.frozen(x.sc.Cgroup) {
			t.Error("it stays frozen")
		}
	})
}

// When the governor is told to end meanwhile, nothing is killed before its time.
func TestStopCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newStopScene(t, 1000)
		x.dies = func(int, unix.Signal) bool { return false }
		x.file(x.sc.Cgroup, "cgroup.freeze", "1\n")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := x.s.Stop(ctx, x.sc, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Stop = %v", err)
		}
		if slices.Contains(x.sent, unix.SIGKILL) || x.s.cg.frozen(x.sc.Cgroup) {
			t.Errorf("sent %v, frozen %v", x.sent, x.s.cg.frozen(x.sc.Cgroup))
		}
	})
}

func TestStopWhatIsGone(t *testing.T) {
	x := newStopScene(t, 1000)
	other := x.sc
	other.CgroupID++
	if err := x.s.Stop(t.Context(), other, time.Hour); err != nil || len(x.sent) != 0 {
		t.Errorf("Stop of one that was replaced = %v, sent %v", err, x.sent)
	}
	os.RemoveAll(filepath.Join(x.cgroup, x.sc.Cgroup))
	if err := x.s.Stop(t.Context(), x.sc, time.Hour); err != nil || len(x.sent) != 0 {
		t.Errorf("Stop = %v, sent %v", err, x.sent)
	}
}

// A pid that is read from cgroup.procs may be somebody else's a moment later.
func TestSendTo(t *testing.T) {
	cmd := exec.Command("sleep", "100")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	pid := cmd.Process.Pid
	at, err := (proc.FS{}).Cgroup(pid)
	if err != nil {
		t.Skipf("no unified hierarchy here, by which the process could be told: %v", err)
	}
	if err := sendTo(proc.FS{}, at+"/elsewhere", pid, unix.SIGKILL); !errors.Is(err, proc.ErrGone) {
		t.Errorf("to one of another cgroup: %v", err)
	}
	if err := sendTo(proc.FS{}, at, pid, 0); err != nil {
		t.Errorf("to one that lives: %v", err)
	}
	if err := sendTo(proc.FS{}, at, pid, unix.SIGTERM); err != nil {
		t.Errorf("SIGTERM: %v", err)
	}
	cmd.Wait()
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v", ws)
	}
	if err := sendTo(proc.FS{}, at, pid, unix.SIGTERM); !errors.Is(err, proc.ErrGone) {
		t.Errorf("to one that is gone: %v", err)
	}
}
