package contain

import (
	"errors"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

func TestVMPlaceFromSession(t *testing.T) {
	s := vmSystemd(t)
	session := vmSession(t)
	cmd := bornIn(t, session, 1000, "sleep", "500")
	pid := cmd.Process.Pid
	sc, o := mustPlace(t, s, pid, small, false)
	t.Logf("%+v", sc)
	if o.Kind != "session" || o.Manager != "system" || o.Slice != "user-1000.slice" || o.PartOf != path.Base(session) {
		t.Errorf("origin %+v", o)
	}
	if want := "/user.slice/user-1000.slice/" + sc.Unit; sc.Cgroup != want || sc.CgroupID == 0 {
		t.Errorf("scope in %q, want %q", sc.Cgroup, want)
	}
	if sc.MemoryMax != 64<<20 || sc.MemorySwapMax != 8<<20 || !sc.MemoryController || sc.Moved != 1 || len(sc.Notes) != 0 || !sc.OOMPolicy {
		t.Errorf("scope %+v", sc)
	}
	for _, p := range []struct {
		pid  int
		want string
	}{{pid, "900"}, {sc.Placeholder.PID, "0"}, {sc.OriginHolder.PID, "0"}} {
		if got := sh(t, fmt.Sprintf("cat /proc/%d/oom_score_adj", p.pid)); got != p.want {
			t.Errorf("oom_score_adj of %d is %s, want %s", p.pid, got, p.want)
		}
	}
	if got, _ := (proc.FS{}).Cgroup(sc.OriginHolder.PID); got != session {
		t.Errorf("the session's placeholder is in %q, want %q", got, session)
	}
	for _, id := range []proc.ID{sc.Placeholder, sc.OriginHolder} {
		if got := facts(t, id.PID); got.UID != 1000 || got.SID != id.PID {
			t.Errorf("placeholder %+v", got)
		}
		if got := sh(t, fmt.Sprintf("readlink /proc/%d/fd/* | sort -u", id.PID)); got != "/dev/null" {
			t.Errorf("a placeholder has open: %s", got)
		}
	}
	show := sh(t, "systemctl show -p PartOf,BindsTo,CollectMode,OOMPolicy,TimeoutStopUSec,TasksMax,Slice,Description "+sc.Unit)
	for _, want := range []string{"PartOf=" + path.Base(session), "BindsTo=\n", "CollectMode=inactive-or-failed", "OOMPolicy=continue", "TimeoutStopUSec=8s", "TasksMax=500", "Slice=user-1000.slice", "Description=a test's job"} {
		if !strings.Contains(show+"\n", want) {
			t.Errorf("no %q in\n%s", want, show)
		}
	}
	if u := s.Usage(sc); u.Gone || !slices.Equal(u.Procs, []int{pid}) || u.Current < 0 || u.Peak < 0 || u.Working < 0 || u.OOMKills != 0 || u.CPUUsec < 0 {
		t.Errorf("usage %+v", u)
	}
	if esc, note := s.Check(t.Context(), sc); len(esc) != 0 || note != "" {
		t.Errorf("Check = %v, %q", esc, note)
	}
	if o, _ := s.Look(t.Context(), facts(t, pid)); o.Kind != "job" || o.Unit != sc.Unit {
		t.Errorf("looked at once more: %+v", o)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if u := s.Usage(sc); u.Gone || len(u.Procs) != 0 || u.CPUUsec < 0 {
		t.Errorf("usage after the end %+v", u)
	}
	if err := s.Release(t.Context(), sc); err != nil {
		t.Error(err)
	}
	nothingLeft(t, sc.Unit)
}

func TestVMSessionEndsJob(t *testing.T) {
	s := vmSystemd(t)
	session := vmSession(t)
	cmd := bornIn(t, session, 1000, "sleep", "500")
	sc, _ := mustPlace(t, s, cmd.Process.Pid, small, false)
	if err := s.Freeze(sc); err != nil {
		t.Fatal(err)
	}
	sh(t, "systemctl stop "+path.Base(session))
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(60 * time.Second):
		t.Fatal("the job outlived its stopped session")
	}
	s.Release(t.Context(), sc)
	nothingLeft(t, sc.Unit)
}

func TestVMKernelKillsInside(t *testing.T) {
	s := vmSystemd(t)
	session := vmSession(t)
	cmd := bornIn(t, session, 1000, "python3", "-c", "import time; time.sleep(3); b = bytearray(300 << 20); time.sleep(60)")
	sc, _ := mustPlace(t, s, cmd.Process.Pid, small, false)
	err := cmd.Wait()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
		t.Fatalf("ended with %v", err)
	}
	u := s.Usage(sc)
	if u.OOMKills != 1 || u.Peak < 60<<20 {
		t.Errorf("usage %+v", u)
	}
	if st, err := (proc.FS{}).Stat(sc.Placeholder.PID); err != nil || st.State == 'Z' {
		t.Errorf("the kernel took the placeholder: %v %c", err, st.State)
	}
	s.Release(t.Context(), sc)
	nothingLeft(t, sc.Unit)
}

func TestVMPlaceFromService(t *testing.T) {
	s := vmSystemd(t)
	unit, main, child := vmService(t, "")
	if o, err := s.Look(t.Context(), facts(t, main)); err != nil || o.Refuse != "it is the main process of "+unit {
		t.Errorf("Look(main) = %+v, %v", o, err)
	}
	sc, o := mustPlace(t, s, child, small, false)
	if o.Kind != "service" || o.Slice != "system.slice" || o.PartOf != unit {
		t.Errorf("origin %+v", o)
	}
	if sc.Cgroup != "/system.slice/"+sc.Unit || sc.OriginHolder.PID != 0 || len(sc.Notes) != 0 {
		t.Errorf("scope %+v", sc)
	}
	sh(t, "systemctl stop "+unit)
	eventually(t, "the job ends with its service", func() bool {
		_, err := (proc.FS{}).Stat(child)
		return errors.Is(err, proc.ErrGone)
	})
	s.Release(t.Context(), sc)
	nothingLeft(t, sc.Unit)
}

func TestVMRefusesBoxed(t *testing.T) {
	s := vmSystemd(t)
	for _, c := range []struct{ args, want string }{
		{"-p IPAddressDeny=any", "IPAddressDeny"},
		{"-p IPAddressAllow=localhost", "IPAddressAllow"},
		{"-p DevicePolicy=closed", "DevicePolicy"},
		{"-p DeviceAllow=/dev/null", "DeviceAllow"},
		{"-p PrivateDevices=yes", "Device"},
		{"-p MemoryMax=200M", "MemoryMax"},
		{"-p MemoryHigh=200M", "MemoryHigh"},
		{"-p CPUQuota=50%", "CPUQuota"},
		{"-p TasksMax=77", "TasksMax"},
		{"-p AllowedCPUs=0", "AllowedCPUs"},
		{"-p SocketBindDeny=any", "SocketBindDeny"},
		{"-p RestrictNetworkInterfaces=lo", "RestrictNetworkInterfaces"},
		{"-p RestrictNetworkInterfaces=~lo", "RestrictNetworkInterfaces"},
		{"-p PrivateUsers=yes", "PrivateUsers"},
		{"-p Delegate=yes", "Delegate"},
		{"-p NotifyAccess=all", "NOTIFY_SOCKET"},
		{"-p KillMode=process", ""},
		{"-p ProtectSystem=strict -p NoNewPrivileges=yes", ""},
	} {
		unit, _, child := vmService(t, c.args)
		o, err := s.Look(t.Context(), facts(t, child))
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		if c.want == "" && o.Refuse != "" || !strings.Contains(o.Refuse, c.want) {
			t.Errorf("%s: refused with %q, want %q in it", c.args, o.Refuse, c.want)
		}
		if strings.Contains(c.args, "KillMode=process") == (o.PartOf != "") && c.want == "" {
			t.Errorf("%s: PartOf %q", c.args, o.PartOf)
		}
		t.Logf("%s: %s", c.args, o.Refuse)
		exec.Command("systemctl", "kill", "-s", "KILL", unit).Run()
	}
}

// userRun starts a unit in the manager of uid 1000 and returns the pid of the
// process with the given argument.
func userRun(t *testing.T, args, arg string) int {
	t.Helper()
	sh(t, "loginctl enable-linger pi; systemctl start user@1000.service")
	unit := fmt.Sprintf("usr-%d", time.Now().UnixNano())
	cmd := exec.Command("setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "env", "XDG_RUNTIME_DIR=/run/user/1000",
		"sh", "-c", "exec systemd-run --quiet --user --unit="+unit+" "+args)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	t.Cleanup(func() {
		if pid != 0 {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		cmd.Process.Kill()
		cmd.Wait()
	})
	eventually(t, "a process of the user's manager with "+arg, func() bool {
		all, _ := (proc.FS{}).List()
		for _, p := range all {
			argv, _ := (proc.FS{}).Cmdline(p)
			at, _ := (proc.FS{}).Cgroup(p)
			if len(argv) == 2 && path.Base(argv[0]) == "sleep" && argv[1] == arg && strings.Contains(at, "/user@1000.service/") {
				pid = p
			}
		}
		return pid != 0
	})
	return pid
}

func TestVMPlaceInUserManager(t *testing.T) {
	s := vmSystemd(t)
	pid := userRun(t, "--scope sleep 7001", "7001")
	sc, o := mustPlace(t, s, pid, small, false)
	t.Logf("%+v %+v", o, sc)
	if o.Kind != "scope" || o.Manager != "user-1000" || o.Slice != "app.slice" || o.PartOf != o.Unit {
		t.Errorf("origin %+v", o)
	}
	if want := "/user.slice/user-1000.slice/user@1000.service/app.slice/" + sc.Unit; sc.Cgroup != want {
		t.Errorf("scope in %q, want %q", sc.Cgroup, want)
	}
	if sc.MemoryMax != small.MemoryMax || len(sc.Notes) != 0 {
		t.Errorf("scope %+v", sc)
	}
	syscall.Kill(pid, syscall.SIGKILL)
	s.Release(t.Context(), sc)
	eventually(t, "the scope's end", func() bool { _, err := s.cg.id(sc.Cgroup); return err != nil })

	pid = userRun(t, "--scope -p MemoryMax=200M sleep 7002", "7002")
	if o, err := s.Look(t.Context(), facts(t, pid)); err != nil || !strings.Contains(o.Refuse, "MemoryMax") {
		t.Errorf("Look = %+v, %v", o, err)
	}
	// A service's child.
	pid = userRun(t, `sh -c "sleep 7003 & wait"`, "7003")
	sc, o = mustPlace(t, s, pid, small, false)
	if o.Kind != "service" || sc.Moved != 1 {
		t.Errorf("%+v %+v", o, sc)
	}
	// A manager that is being stopped, which only pid 1 knows at first.
	pid = userRun(t, "--scope sleep 7004", "7004")
	x := facts(t, pid)
	sh(t, "systemctl stop --no-block user@1000.service")
	o, err := s.Look(t.Context(), x)
	if err == nil && o.Refuse == "" {
		t.Errorf("Look = %+v, %v", o, err)
	}
	t.Logf("stopping: %q %v", o.Refuse, err)
	sh(t, "systemctl stop user@1000.service")
}

func TestVMForeignSocketIsRefused(t *testing.T) {
	s := vmSystemd(t)
	// The directory of the socket is the user's: he may put a link to pid 1's
	// there, which would have root place his processes outside his slice.
	sh(t, "loginctl enable-linger eve; systemctl start user@1001.service; mv /run/user/1001/systemd/private /run/user/1001/systemd/old; ln -s /run/systemd/private /run/user/1001/systemd/private")
	_, err := s.dialPrivate(t.Context(), "user-1001")
	if err == nil || !strings.Contains(err.Error(), "uid 0 listens there") {
		t.Errorf("dial = %v", err)
	}
}
