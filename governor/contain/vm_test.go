package contain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// The tests below move real processes and restart real managers. They run in
// a virtual machine that the tests themselves booted (HEADROOM_IN_VM=1, as
// root, systemd as pid 1, users 1000 and 1001), never on a desktop. In there
// nothing is skipped.
func inVM(t *testing.T) {
	t.Helper()
	if os.Getenv("HEADROOM_IN_VM") != "1" {
		t.Skip("moves real processes: runs only inside the test machine (HEADROOM_IN_VM=1)")
	}
}

func vmSystemd(t *testing.T) *Systemd {
	t.Helper()
	inVM(t)
	s, err := NewSystemd(t.Context(), SystemdOptions{Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatalf("NewSystemd: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// sh runs a command that must succeed.
func sh(t *testing.T, line string) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", line).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return strings.TrimSpace(string(out))
}

// eventually waits for a condition: under emulation all is 20-50 times slower.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(120 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatalf("not within 120 s: %s", what)
}

// born starts a command as uid inside a cgroup, as a child of the test.
func bornIn(t *testing.T, cgroup string, uid uint32, argv ...string) *exec.Cmd {
	t.Helper()
	dir, err := os.Open("/sys/fs/cgroup" + cgroup)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{
		UseCgroupFD: true, CgroupFD: int(dir.Fd()),
		Credential: &syscall.Credential{Uid: uid, Gid: uid}, Setsid: true,
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

func facts(t *testing.T, pid int) proc.Exec {
	t.Helper()
	x := proc.Exec{ID: proc.ID{PID: pid}}
	if err := (proc.FS{}).ReadFacts(&x); err != nil {
		ps, _ := exec.Command("ps", "-efH").Output()
		t.Fatalf("facts of %d: %v\n%s", pid, err, ps)
	}
	return x
}

// vmSession is the cgroup of a real logind session of uid 1000.
func vmSession(t *testing.T) string {
	t.Helper()
	unit := fmt.Sprintf("login-%d.service", time.Now().UnixNano())
	sh(t, "systemd-run --quiet --unit="+unit+" -p PAMName=login -p User=pi sleep 1000")
	t.Cleanup(func() { exec.Command("systemctl", "stop", unit).Run() })
	var at string
	eventually(t, "a session", func() bool {
		pid, _ := strconv.Atoi(sh(t, "systemctl show -P MainPID "+unit))
		if pid == 0 {
			return false
		}
		at, _ = (proc.FS{}).Cgroup(pid)
		return ParseOrigin(at).Kind == "session"
	})
	return at
}

// vmService starts a service whose main process has a child, and returns both.
func vmService(t *testing.T, args string) (unit string, main, child int) {
	t.Helper()
	unit = fmt.Sprintf("svc-%d.service", time.Now().UnixNano())
	sh(t, "systemd-run --quiet --unit="+unit+" "+args+` sh -c 'sleep 1001 & sleep 1002 & wait'`)
	t.Cleanup(func() { exec.Command("systemctl", "kill", "-s", "KILL", unit).Run() })
	eventually(t, "children of "+unit, func() bool {
		main, _ = strconv.Atoi(sh(t, "systemctl show -P MainPID "+unit))
		ids, _ := (proc.FS{}).Descendants(main)
		for _, id := range ids {
			if argv, _ := (proc.FS{}).Cmdline(id.PID); len(argv) == 2 && argv[1] == "1001" {
				child = id.PID
			}
		}
		return child != 0
	})
	return unit, main, child
}

func mustPlace(t *testing.T, s *Systemd, pid int, l Limits, tree bool) (Scope, Origin) {
	t.Helper()
	x := facts(t, pid)
	o, err := s.Look(t.Context(), x)
	if err != nil || o.Refuse != "" {
		t.Fatalf("Look(%d) = %+v, %v", pid, o, err)
	}
	sc, err := s.Place(t.Context(), Spec{Unit: UnitName("test"), Description: "a test's job", Exec: x, Tree: tree, Origin: o, Limits: l})
	if err != nil {
		t.Fatalf("Place(%d): %v", pid, err)
	}
	t.Cleanup(func() {
		s.Release(context.Background(), sc)
		exec.Command("systemctl", "kill", "-s", "KILL", sc.Unit).Run()
	})
	return sc, o
}

// nothingLeft checks that a job has left no unit and no placeholder.
func nothingLeft(t *testing.T, unit string) {
	t.Helper()
	eventually(t, "the end of "+unit, func() bool {
		return !strings.Contains(sh(t, "systemctl list-units --all --no-legend 'headroom-*'; systemctl --failed --no-legend"), unit)
	})
	out, _ := exec.Command("pgrep", "-f", "^"+placeholderName).Output()
	if len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("placeholders left: %q", out)
	}
}

var small = Limits{MemoryMax: 64 << 20, MemorySwapMax: 8 << 20, TasksMax: 500}

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

func TestVMTreeAndJoin(t *testing.T) {
	s := vmSystemd(t)
	session := vmSession(t)
	cmd := bornIn(t, session, 1000, "sh", "-c", "sleep 500 & (sleep 500 & sleep 500 & wait) & while :; do sleep 0.3; done")
	time.Sleep(time.Second)
	sc, _ := mustPlace(t, s, cmd.Process.Pid, small, true)
	t.Logf("tree: %+v", sc)
	if sc.Moved < 5 {
		t.Errorf("moved %d", sc.Moved)
	}
	ids, _ := (proc.FS{}).Descendants(cmd.Process.Pid)
	for _, id := range ids {
		if at, err := (proc.FS{}).Cgroup(id.PID); err == nil && at != sc.Cgroup {
			t.Errorf("%d was left in %q", id.PID, at)
		}
	}
	other := bornIn(t, session, 1000, "sh", "-c", "sleep 500 & wait")
	eventually(t, "its child", func() bool { d, _ := (proc.FS{}).Descendants(other.Process.Pid); return len(d) == 1 })
	if n, err := s.Join(t.Context(), sc, facts(t, other.Process.Pid), true); n != 2 || err != nil {
		t.Errorf("Join = %d, %v", n, err)
	}
	if got := sh(t, fmt.Sprintf("cat /proc/%d/oom_score_adj", other.Process.Pid)); got != "900" {
		t.Errorf("oom_score_adj %s", got)
	}
	// What leaves is seen, and so is a changed cap.
	os.WriteFile("/sys/fs/cgroup"+session+"/cgroup.procs", []byte(strconv.Itoa(ids[0].PID)), 0)
	if esc, _ := s.Check(t.Context(), sc); !slices.Contains(esc, ids[0].PID) {
		t.Errorf("escaped %v, want %d among them", esc, ids[0].PID)
	}
	os.WriteFile("/sys/fs/cgroup"+sc.Cgroup+"/memory.max", []byte("max"), 0)
	if _, note := s.Check(t.Context(), sc); !strings.Contains(note, "memory.max is max") {
		t.Errorf("note %q", note)
	}
	got, err := s.SetLimits(t.Context(), sc, Limits{MemoryMax: 128 << 20, MemorySwapMax: 0})
	if err != nil || got.MemoryMax != 128<<20 || got.MemorySwapMax != 0 || len(got.Notes) != 0 {
		t.Errorf("SetLimits = %+v, %v", got, err)
	}
	sh(t, "systemctl daemon-reload")
	if _, note := s.Check(t.Context(), got); note != "" {
		t.Errorf("after a daemon-reload: %s", note)
	}
	cmd.Process.Kill()
	cmd.Wait()
	sh(t, "systemctl kill -s KILL "+sc.Unit)
	s.Release(t.Context(), sc)
	nothingLeft(t, sc.Unit)
	if _, err := s.Join(t.Context(), sc, facts(t, os.Getpid()), false); !errors.Is(err, ErrNoScope) {
		t.Errorf("Join after the end: %v", err)
	}
}

func TestVMAdopt(t *testing.T) {
	first := vmSystemd(t)
	session := vmSession(t)
	cmd := bornIn(t, session, 1000, "sleep", "500")
	old, _ := mustPlace(t, first, cmd.Process.Pid, small, false)
	user := userRun(t, "--scope sleep 7100", "7100")
	oldUser, _ := mustPlace(t, first, user, small, false)
	if err := first.Freeze(old); err != nil {
		t.Fatal(err)
	}
	first.Close()
	for _, id := range []proc.ID{old.Placeholder, old.OriginHolder, oldUser.Placeholder} {
		if st, err := (proc.FS{}).Stat(id.PID); err == nil && st.ID == id {
			t.Errorf("placeholder %v outlived Close", id)
		}
	}
	s := vmSystemd(t)
	all, err := s.Adopt(t.Context())
	if err != nil || len(all) != 2 {
		t.Fatalf("Adopt = %+v, %v", all, err)
	}
	for _, sc := range all {
		t.Logf("%+v", sc)
		want := old
		if sc.Manager != "system" {
			want = oldUser
		}
		if sc.Unit != want.Unit || sc.CgroupID != want.CgroupID || sc.Main != want.Main || sc.MemoryMax != want.MemoryMax || !sc.OOMPolicy || sc.Moved != 1 {
			t.Errorf("adopted %+v, want %+v", sc, want)
		}
		if at, _ := (proc.FS{}).Cgroup(sc.Placeholder.PID); at != sc.Cgroup {
			t.Errorf("placeholder in %q", at)
		}
		if (sc.OriginHolder.PID != 0) != (sc.Manager == "system") {
			t.Errorf("OriginHolder %v", sc.OriginHolder)
		}
		if s.cg.frozen(sc.Cgroup) {
			t.Error("left frozen")
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	syscall.Kill(user, syscall.SIGKILL)
	for _, sc := range all {
		s.Release(t.Context(), sc)
	}
	for _, sc := range all {
		nothingLeft(t, sc.Unit)
	}
}

func TestVMReconnect(t *testing.T) {
	s := vmSystemd(t)
	_, _, child := vmService(t, "")
	for _, break_ := range []string{"systemctl daemon-reexec", "systemctl restart dbus.service"} {
		sh(t, break_)
		if o, err := s.Look(t.Context(), facts(t, child)); err != nil || o.Refuse != "" {
			t.Errorf("after %s: %+v, %v", break_, o, err)
		}
	}
	// logind does not survive its bus; the tests after this one want it.
	sh(t, "systemctl restart systemd-logind.service")
	sh(t, "systemctl daemon-reexec")
	sc, _ := mustPlace(t, s, child, small, false)
	if sc.Moved != 1 || len(sc.Notes) != 0 {
		t.Errorf("%+v", sc)
	}
}

func TestVMGone(t *testing.T) {
	s := vmSystemd(t)
	session := vmSession(t)
	cmd := bornIn(t, session, 1000, "sleep", "500")
	x := facts(t, cmd.Process.Pid)
	o, err := s.Look(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill() // a zombie until it is waited for
	time.Sleep(200 * time.Millisecond)
	if sc, err := s.Place(t.Context(), Spec{Unit: UnitName("gone"), Exec: x, Origin: o, Limits: small}); !errors.Is(err, proc.ErrGone) {
		t.Errorf("Place of a zombie = %+v, %v", sc, err)
	}
	cmd.Wait()
	if sc, err := s.Place(t.Context(), Spec{Unit: UnitName("gone"), Exec: x, Origin: o, Limits: small}); !errors.Is(err, proc.ErrGone) {
		t.Errorf("Place of nobody = %+v, %v", sc, err)
	}
	nothingLeft(t, "headroom-gone")
}

// TestVMTimings prints what the steps cost; nothing is asserted.
func TestVMTimings(t *testing.T) {
	s := vmSystemd(t)
	session := vmSession(t)
	dist := func(name string, d []time.Duration) {
		slices.Sort(d)
		if len(d) > 0 {
			fmt.Printf("TIMING %-28s n=%d min %v p50 %v max %v\n", name, len(d), d[0].Round(100*time.Microsecond), d[len(d)/2].Round(100*time.Microsecond), d[len(d)-1].Round(100*time.Microsecond))
		}
	}
	var cold, warm, place, took, join, release, holder []time.Duration
	for range 20 {
		cmd := bornIn(t, session, 1000, "sleep", "500")
		x := facts(t, cmd.Process.Pid)
		begin := time.Now()
		clear(s.facts)
		s.Look(t.Context(), x)
		cold = append(cold, time.Since(begin))
		begin = time.Now()
		o, err := s.Look(t.Context(), x)
		warm = append(warm, time.Since(begin))
		if err != nil {
			t.Fatal(err)
		}
		begin = time.Now()
		ph, err := s.hold.start(1000, nil)
		holder = append(holder, time.Since(begin))
		s.hold.stop(ph)
		begin = time.Now()
		sc, err := s.Place(t.Context(), Spec{Unit: UnitName("time"), Exec: x, Origin: o, Limits: small})
		if err != nil {
			t.Fatal(err)
		}
		place, took = append(place, time.Since(begin)), append(took, sc.Took)
		other := bornIn(t, session, 1000, "sleep", "500")
		y := facts(t, other.Process.Pid)
		begin = time.Now()
		s.Join(t.Context(), sc, y, false)
		join = append(join, time.Since(begin))
		for _, c := range []*exec.Cmd{cmd, other} {
			c.Process.Kill()
			c.Wait()
		}
		begin = time.Now()
		s.Release(t.Context(), sc)
		release = append(release, time.Since(begin))
	}
	dist("look, nothing known", cold)
	dist("look, unit known", warm)
	dist("start a placeholder", holder)
	dist("place", place)
	dist("join", join)
	dist("release", release)
}
