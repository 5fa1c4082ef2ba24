package contain

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
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
