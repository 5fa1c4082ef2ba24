package guest

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// settled waits until the daemon has dealt with all that ran before: the source
// is one queue, so when a later command is told of all before it has been.
func settled(t *testing.T, d *Daemon, s *Session) {
	t.Helper()
	d.Use(t)
	s.Use(t)
	before := len(d.Events())
	if out, status := s.Run("~/escape/make 1 exit 3"); status != 3 {
		t.Fatalf("status %d\n%s", status, out)
	}
	d.Await("a later command was caught", before, func(e Event) bool {
		return e.Event == "captured" && strings.Contains(e.Command, "make 1 exit 3")
	})
}

// TestEscapeBox: a service's limits hang on its cgroup, so nothing of it may
// be moved out of them.
func TestEscapeBox(t *testing.T) {
	InVM(t)
	hog := InstallC(t, "pi", "hog", "escape/make")
	d := Daemon{}.Start(t)
	s := Login(t, "pi")
	for i, property := range []string{"IPAddressDeny=any", "DevicePolicy=closed", "MemoryMax=100M", "CPUQuota=50%", "TasksMax=20", "Delegate=yes"} {
		t.Run(property, func(t *testing.T) {
			name := fmt.Sprintf("boxed%d", i)
			d.Use(t)
			box := CgroupOf(StartService(t, name, []string{property}, "bash", "-c",
				"(exec -a make sleep 1000) & "+hog+" 4 hold & wait"))
			Eventually(t, patience, func() string {
				if n := len(box.Processes()); n != 3 {
					return fmt.Sprintf("%d processes are in the box", n)
				}
				return ""
			})
			settled(t, d, s)
			if n := len(box.Processes()); n != 3 {
				t.Errorf("%d of 3 processes are left in %s", n, box)
			}
			d.Await("it is told why", 0, func(e Event) bool {
				return e.Event == "left" && e.Origin == string(box) && e.Reason != ""
			})
		})
	}
}

// TestEscapeFreeService: what nothing speaks against is captured, in the
// service's slice.
func TestEscapeFreeService(t *testing.T) {
	InVM(t)
	hog := InstallC(t, "pi", "hog", "escape/make")
	d := Daemon{}.Start(t)
	StartService(t, "free", nil, "bash", "-c", "env -u NOTIFY_SOCKET "+hog+" 4 hold & wait")
	placed := d.Await("it was placed", 0, func(e Event) bool { return e.Event == "placed" })
	if c := CgroupOf(placed.PID); c.Slice() != "system.slice" || c.Unit() != placed.Unit {
		t.Errorf("it is in %s, want %s in system.slice", c, placed.Unit)
	}
	systemctl(t, "stop", "free.service")
	Eventually(t, patience, func() string {
		if Alive(placed.PID) {
			return "the job outlives its service"
		}
		return ""
	})
}

// TestEscapeNotify: systemd takes READY=1 only from the service's cgroup.
func TestEscapeNotify(t *testing.T) {
	InVM(t)
	hog := InstallC(t, "pi", "hog", "escape/make")
	d := Daemon{}.Start(t)
	s := Login(t, "pi")
	start := time.Now()
	StartService(t, "notifier", []string{"Type=notify", "NotifyAccess=all", "TimeoutStartSec=60"},
		"bash", "-c", hog+" 4 notify & wait")
	if state := UnitProperty(t, "notifier.service", "ActiveState"); state != "active" {
		t.Errorf("the service is %s after %v", state, time.Since(start))
	}
	settled(t, d, s)
	if pids := FindProcesses("make 4 notify"); len(pids) == 0 || CgroupOf(pids[len(pids)-1]).Unit() != "notifier.service" {
		t.Errorf("its child is not in the service: %v", pids)
	}
}

// TestEscapeStop: an administrator's stop wins over a stream of captures.
func TestEscapeStop(t *testing.T) {
	InVM(t)
	hogs := []string{InstallC(t, "pi", "hog", "escape/make"), InstallC(t, "dora", "hog", "escape/make")}
	Daemon{}.Start(t)
	t.Run("Service", func(t *testing.T) {
		hog := hogs[0]
		for round := range 5 {
			pid := StartService(t, "stream", nil, "bash", "-c", "unset NOTIFY_SOCKET; while :; do "+hog+" 1 exit 0; done")
			awaitJob(t)
			stop(t, "stream.service")
			if Alive(pid) || len(FindProcesses(hog)) != 0 {
				t.Fatalf("round %d: processes of the stopped service are left: %v", round, FindProcesses(hog))
			}
		}
	})
	t.Run("UserSlice", func(t *testing.T) {
		hog := hogs[1]
		for round := range 3 {
			s := Login(t, "dora")
			s.Send("while :; do " + hog + " 1 exit 0; done\n")
			awaitJob(t)
			stop(t, "user-1001.slice")
			if Alive(s.PID) || len(FindProcesses(hog)) != 0 {
				t.Fatalf("round %d: processes of the stopped slice are left: shell %v, %v", round, Alive(s.PID), FindProcesses(hog))
			}
			s.Close()
		}
	})
}

func awaitJob(t *testing.T) {
	t.Helper()
	Eventually(t, patience, func() string {
		if len(JobScopes()) == 0 {
			return "no job has begun"
		}
		return ""
	})
}

func stop(t *testing.T, name string) {
	t.Helper()
	if out, err := exec.Command("systemctl", "stop", name).CombinedOutput(); err != nil {
		t.Errorf("stop %s: %v: %s", name, err, out)
	}
	Eventually(t, patience, func() string {
		if state := UnitProperty(t, name, "ActiveState"); state != "inactive" && state != "failed" {
			return name + " is " + state
		}
		return ""
	})
}

// TestEscapeSetuid: a name does not make root handle a program that has more
// rights than its caller.
func TestEscapeSetuid(t *testing.T) {
	InVM(t)
	InstallC(t, "pi", "hog", "escape/make")
	d := Daemon{}.Start(t)
	other := Login(t, "pi")
	s := Login(t, "pi")
	s.Send("(exec -a make passwd)\n")
	Eventually(t, patience, func() string {
		if !strings.Contains(strings.ToLower(s.Shown()), "password") {
			return "passwd does not ask"
		}
		return ""
	})
	settled(t, d, other)
	session := CgroupOf(s.PID)
	for _, pid := range session.Processes() {
		if Tracer(pid) != 0 || ProcessState(pid) == "t" {
			t.Errorf("process %d %q is traced", pid, Argv(pid))
		}
	}
	for _, e := range d.Events() {
		if e.Origin == string(session) && e.Event != "left" {
			t.Errorf("a setuid program was taken: %+v", e)
		}
	}
	s.Send("not it\n") // Ctrl-C waits for the end of the line
	s.Wait(patience)
}

// TestEscapeAgent: an agent stays where it is for hours, what it runs is a job.
func TestEscapeAgent(t *testing.T) {
	InVM(t)
	d := Daemon{}.Start(t)
	s := Login(t, "pi")
	agents := Install(t, "pi", "agents")
	s.Must("cd " + Install(t, "pi", "npm"))
	session := CgroupOf(s.PID)
	for _, agent := range []string{"claude", "codex"} {
		t.Run(agent, func(t *testing.T) {
			d.Use(t)
			s.Use(t)
			before := len(d.Events())
			out, status := s.Run(`PATH=` + agents + `:$PATH ` + agent + ` 'HUNGRY_MB=20 npm test; cat /proc/$PPID/cgroup'`)
			if status != 0 || !strings.Contains(out, "held 20 MB") {
				t.Fatalf("status %d\n%s", status, out)
			}
			if !strings.Contains(out, "0::"+string(session)) {
				t.Errorf("the agent ran elsewhere than in %s:\n%s", session, out)
			}
			placed := Of(d.Events()[before:], "placed")
			if len(placed) != 1 || !strings.Contains(placed[0].Command, "npm test") {
				t.Errorf("placed were %+v, want npm test alone", placed)
			}
		})
	}
}
