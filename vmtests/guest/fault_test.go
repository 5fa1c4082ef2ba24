package guest

import (
	"slices"
	"strings"
	"syscall"
	"testing"
)

// points are the steps of a catch and of a placing, in their order.
var points = []string{
	"read", "judged", "seized", "interrupted", "stopped", "delivered",
	"placing", "placeholder", "placed", "in-force", "read-back", "released", "detached",
}

// victimPoints are those at which the process itself is killed: each step of
// the tracer's, and the placing at its begin and its end.
var victimPoints = []string{
	"read", "judged", "seized", "interrupted", "stopped", "delivered",
	"placing", "placed", "released", "detached",
}

// ofPoints are those of a daily run: each act of the governor's own, the steps
// between which nothing outside changes left out.
func ofPoints(all []string) []string {
	if !testing.Short() {
		return all
	}
	between := []string{"read", "judged", "interrupted", "delivered", "placeholder", "read-back", "released"}
	return slices.DeleteFunc(slices.Clone(all), func(p string) bool { return slices.Contains(between, p) })
}

// TestFaultDaemonKilled kills the daemon at each step. The process it was about
// goes on and its parent never notices; the next daemon knows the job or has
// let it go.
func TestFaultDaemonKilled(t *testing.T) {
	InVM(t)
	InstallC(t, "pi", "hog", "fault/make")
	InstallC(t, "pi", "hog", "fault/ninja")
	s := Login(t, "pi")
	s.Must("cd ~/fault")
	for _, point := range ofPoints(points) {
		t.Run(point, func(t *testing.T) {
			s.Use(t)
			d := Daemon{Env: []string{"HEADROOMD_FAULT=" + point + ":self-kill", "HEADROOMD_FAULT_COMM=make"}}.Start(t)
			pid := d.PID()
			d.Reconfigure(nil, nil) // the next one lives
			warmUp(t, d, s)         // after it: a manager that reloads is slow for a while
			t.Cleanup(func() { letShellGo(t, s) })
			strike(t, d, s, pid)
			var hog int
			Eventually(t, patience, func() string {
				pids := FindProcesses("./make 8 hold")
				if len(pids) != 1 {
					return "the command is gone with the daemon"
				}
				hog = pids[0]
				if state := ProcessState(hog); state != "S" || Tracer(hog) != 0 {
					return "the command is in state " + state
				}
				return ""
			})
			d.AwaitRestart(pid)
			Eventually(t, patience, func() string {
				c, jobs := CgroupOf(hog), d.Status().Jobs
				for _, j := range jobs {
					if j.Unit == c.Unit() {
						return ""
					}
				}
				if !c.InJob() && c == CgroupOf(s.PID) && len(jobs) == 0 {
					return "" // let go
				}
				return "the command is in " + string(c) + ", which the new daemon does not know"
			})
			if state := ProcessState(hog); state != "S" {
				t.Errorf("the command is in state %s", state)
			}
			s.Send("\x03")
			if out, status := s.Wait(patience); status != 130 || strings.Contains(out, "Stopped") {
				t.Errorf("Ctrl-C gives %d\n%s", status, out)
			}
			checkNothingStranded(t)
		})
	}
}

// warmUp has the daemon place one command of another name. Its first placing
// may take longer than a process is held, and then the last points of a catch
// are not reached.
func warmUp(t *testing.T, d *Daemon, s *Session) {
	t.Helper()
	before := len(d.Events())
	s.Run("./ninja 1 after 2 0")
	d.Await("the first command was placed", before, func(e Event) bool { return e.Event == "placed" })
}

// strike starts the command at which the daemon is killed. The last points of a
// catch are not reached when it is let go at the bound, as happens on a busy
// host: then it is ended and started once more.
func strike(t *testing.T, d *Daemon, s *Session, pid int) {
	t.Helper()
	late := false
	for range 5 {
		before := len(d.Events())
		s.Send("./make 8 hold\n")
		late = false
		Eventually(t, patience, func() string {
			for _, e := range Of(d.Events()[before:], "placed") {
				late = late || e.Late
			}
			if Alive(pid) && !late {
				return "the daemon lives on: the point was not reached"
			}
			return ""
		})
		if !late {
			return
		}
		s.Send("\x03")
		s.Wait(patience)
		AwaitNoScopes(t)
	}
	t.Fatal("five catches in a row were let go at the bound")
}

// victim runs the command that is killed at a point of its catch. One that was
// let go at the bound has not come to it, and is started once more.
func victim(t *testing.T, d *Daemon, s *Session) {
	t.Helper()
	for range 5 {
		before := len(d.Events())
		out, status := s.RunWithin(patience, "./make 8 after 10 0")
		late := false
		for _, e := range Of(d.Events()[before:], "placed") {
			late = late || e.Late
		}
		if status == 137 {
			return
		}
		if !late {
			t.Errorf("status %d, want 137\n%s", status, out)
			return
		}
	}
	t.Error("five catches in a row were let go at the bound")
}

// letShellGo ends what a failed test has left in the foreground of the shell
// that the next one needs.
func letShellGo(t *testing.T, s *Session) {
	if !t.Failed() {
		return
	}
	pids := FindProcesses("./make 8 hold")
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	// A prompt that nobody waits for would be taken for the next command's.
	if len(pids) > 0 {
		s.Wait(patience)
	}
}

// TestFaultTraceeKilled kills the process at each step: its parent reaps it.
func TestFaultTraceeKilled(t *testing.T) {
	InVM(t)
	InstallC(t, "pi", "hog", "fault/make")
	InstallC(t, "pi", "hog", "fault/ninja")
	s := Login(t, "pi")
	s.Must("cd ~/fault")
	for _, point := range ofPoints(victimPoints) {
		t.Run(point, func(t *testing.T) {
			s.Use(t)
			d := Daemon{Env: []string{"HEADROOMD_FAULT=" + point + ":tracee-kill", "HEADROOMD_FAULT_COMM=make"}}.Start(t)
			warmUp(t, d, s)
			pid := d.PID()
			t.Cleanup(func() { letShellGo(t, s) })
			victim(t, d, s)
			victim(t, d, s) // what the first left behind would show
			if got := d.PID(); got != pid {
				t.Errorf("the daemon was %d and is %d", pid, got)
			}
			checkNothingStranded(t)
		})
	}
}

// TestFaultSlowPlacing makes the placing slower than the tracer's bound: the
// command is let go, is placed running, and it is told that it was late.
func TestFaultSlowPlacing(t *testing.T) {
	InVM(t)
	InstallC(t, "pi", "hog", "fault/make")
	d := Daemon{Env: []string{"HEADROOMD_FAULT=placing:sleep=1500", "HEADROOMD_FAULT_COMM=make"}}.Start(t)
	s := Login(t, "pi")
	before := len(d.Events())
	s.Send("~/fault/make 50 hold\n")
	placed := d.Await("it was placed", before, func(e Event) bool { return e.Event == "placed" })
	if !placed.Late || placed.StoppedMS < 200 || placed.StoppedMS > 1000 {
		t.Errorf("late is %v, stopped for %v ms; want true, some 250 ms", placed.Late, placed.StoppedMS)
	}
	if placed.CaughtRSSMB == nil || *placed.CaughtRSSMB < 45 {
		t.Errorf("it had its 50 MB when it was moved, told were %v", placed.CaughtRSSMB)
	}
	if c := CgroupOf(placed.PID); c.Unit() != placed.Unit {
		t.Errorf("it is in %s, want %s", c, placed.Unit)
	}
	s.Send("\x03")
	if _, status := s.Wait(patience); status != 130 {
		t.Errorf("Ctrl-C gives %d", status)
	}
	checkNothingStranded(t)
}
