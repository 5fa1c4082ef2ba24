package contain

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

func TestVMStopJob(t *testing.T) {
	s := vmSystemd(t)
	unit, _, child := vmService(t, "-p ExecStop='sleep 4'")
	x := facts(t, child)
	before, err := s.Look(t.Context(), x)
	if err != nil || before.Refuse != "" {
		t.Fatalf("Look = %+v, %v", before, err)
	}
	sh(t, "systemctl stop --no-block "+unit)
	o, err := s.Look(t.Context(), x)
	if err != nil || o.Refuse == "" {
		t.Errorf("Look while it is being stopped = %+v, %v", o, err)
	}
	t.Logf("refused: %s", o.Refuse)
	// An order that was given before the stop must not undo it.
	sc, err := s.Place(t.Context(), Spec{Unit: UnitName("late"), Exec: x, Origin: before, Limits: small})
	if err == nil {
		t.Errorf("Place with an old look: %+v", sc)
	}
	t.Logf("Place with an old look: %v", err)
	if at, err := (proc.FS{}).Cgroup(child); err == nil && at != before.Cgroup {
		t.Errorf("the child is in %q", at)
	}
	eventually(t, "the stop", func() bool {
		return strings.HasPrefix(sh(t, "systemctl show -P ActiveState "+unit), "inactive") || strings.HasPrefix(sh(t, "systemctl show -P LoadState "+unit), "not-found")
	})
	eventually(t, "the end of the child", func() bool {
		st, err := (proc.FS{}).Stat(child)
		return err != nil || st.ID != x.ID
	})
	s.Release(t.Context(), sc)
	nothingLeft(t, UnitName("late")[:14])
}

// TestVMServiceEndsByItself: what a service's end without a stop job would have
// done to its child must be done to the job.
func TestVMServiceEndsByItself(t *testing.T) {
	s := vmSystemd(t)
	_, main, child := vmService(t, "")
	x := facts(t, child)
	sc, _ := mustPlace(t, s, child, small, false)
	syscall.Kill(main, syscall.SIGKILL)
	eventually(t, "the job ends with its service", func() bool {
		st, err := (proc.FS{}).Stat(child)
		return err != nil || st.ID != x.ID || st.State == 'Z'
	})
	s.Release(t.Context(), sc)
	nothingLeft(t, sc.Unit)
}

// TestVMScopeEmptied: moving the last process of a scope ends the scope, and
// that must not end the job.
func TestVMScopeEmptied(t *testing.T) {
	s := vmSystemd(t)
	cmd := exec.Command("systemd-run", "--quiet", "--scope", "sleep", "900")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	eventually(t, "the scope", func() bool {
		at, _ := (proc.FS{}).Cgroup(cmd.Process.Pid)
		argv, _ := (proc.FS{}).Cmdline(cmd.Process.Pid)
		return ParseOrigin(at).Kind == "scope" && len(argv) == 2
	})
	sc, o := mustPlace(t, s, cmd.Process.Pid, small, false)
	eventually(t, "the end of the origin", func() bool { return sh(t, "systemctl show -P ActiveState "+o.Unit) == "inactive" })
	time.Sleep(2 * time.Second)
	if st, err := (proc.FS{}).Stat(cmd.Process.Pid); err != nil || st.State == 'Z' {
		t.Errorf("the job ended with its emptied origin: %v", err)
	}
	if u := s.Usage(sc); len(u.Procs) != 1 {
		t.Errorf("usage %+v", u)
	}
}

func TestVMRestartEndsJob(t *testing.T) {
	s := vmSystemd(t)
	unit, main, child := vmService(t, "-p Restart=always")
	x := facts(t, child)
	sc, _ := mustPlace(t, s, child, small, false)
	sh(t, "systemctl restart "+unit)
	if got := sh(t, "systemctl show -P ActiveState "+unit); got != "active" {
		t.Errorf("%s is %s after a restart", unit, got)
	}
	if got := sh(t, "systemctl show -P MainPID "+unit); got == strconv.Itoa(main) {
		t.Error("it was not restarted")
	}
	if st, err := (proc.FS{}).Stat(child); err == nil && st.ID == x.ID && st.State != 'Z' {
		t.Error("the job outlived the restart of its service")
	}
	s.Release(t.Context(), sc)
	nothingLeft(t, sc.Unit)
	sh(t, "systemctl stop "+unit)
}

func TestVMSliceStop(t *testing.T) {
	s := vmSystemd(t)
	session := vmSession(t)
	stream := make(chan struct{})
	go func() {
		defer close(stream)
		for i := 0; i < 40; i++ {
			dir, err := os.Open("/sys/fs/cgroup" + session)
			if err != nil {
				return
			}
			cmd := exec.Command("sleep", "300")
			cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd()), Credential: &syscall.Credential{Uid: 1000, Gid: 1000}}
			err = cmd.Start()
			dir.Close()
			if err != nil {
				return
			}
			go cmd.Wait()
			x := proc.Exec{ID: proc.ID{PID: cmd.Process.Pid}}
			if (proc.FS{}).ReadFacts(&x) != nil {
				continue
			}
			o, err := s.Look(context.Background(), x)
			if err != nil || o.Refuse != "" {
				t.Logf("left: %q %v", o.Refuse, err)
				cmd.Process.Kill() // born after its SIGTERM, it would hold up the stop for 90 s
				continue
			}
			if _, err := s.Place(context.Background(), Spec{Unit: UnitName("stream"), Exec: x, Origin: o, Limits: small}); err != nil {
				t.Logf("Place: %v", err)
				cmd.Process.Kill()
			}
		}
	}()
	time.Sleep(500 * time.Millisecond)
	sh(t, "systemctl stop user-1000.slice")
	if got := sh(t, "systemctl show -P ActiveState user-1000.slice"); got != "inactive" {
		t.Errorf("user-1000.slice is %s", got)
	}
	<-stream
	s.Close()
	eventually(t, "an empty slice", func() bool {
		b, err := os.ReadFile("/sys/fs/cgroup/user.slice/user-1000.slice/cgroup.events")
		return err != nil || strings.Contains(string(b), "populated 0")
	})
}
