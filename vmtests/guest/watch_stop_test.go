package guest

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestWatchStranger: a program that no rule knows takes the memory while another
// user builds. It pays for that itself.
func TestWatchStranger(t *testing.T) { watchStranger(t) }

// TestPiWatchStranger: where the kernel caps nothing there is no scope to keep
// it from growing, and it is ended as the tree that it is.
func TestPiWatchStranger(t *testing.T) { watchStranger(t) }

func watchStranger(t *testing.T) {
	InVM(t)
	InstallC(t, "pi", "hog", "watch/make")
	InstallC(t, "dora", "hog", "watch/a.out")
	d := Daemon{}.Start(t)
	b := StartBystander(t)
	pi, dora := Login(t, "pi"), Login(t, "dora")
	sshd := UnitProperty(t, "ssh.service", "MainPID")
	done := "/home/pi/watch/done"
	os.Remove(done)
	pi.Send("~/watch/make 60 await " + done + "\n")
	build := d.AwaitRunning("make 60 await", 0)

	before := len(d.Events())
	dora.Send("~/watch/a.out 20 grow 40 1000\n")
	acted := d.Await("the stranger is captured or stopped", before, func(e Event) bool {
		return (e.Event == "captured-late" || e.Event == "watchdog-stop") && strings.Contains(e.Command, "a.out")
	})
	out, status := dora.Wait(2 * patience)
	t.Logf("%s: %s; it ends with %d", acted.Event, acted.Reason, status)
	if status != 137 && status != 143 {
		t.Errorf("the stranger ends with %d, want 137 or 143\n%s", status, out)
	}
	// Nobody else paid.
	if !Alive(build.PID) {
		t.Error("the build is gone")
	}
	for _, e := range Of(d.Events(), "watchdog-stop") {
		if !strings.Contains(e.Command, "a.out") {
			t.Errorf("stopped: %+v", e)
		}
	}
	b.Check()
	if now := UnitProperty(t, "ssh.service", "MainPID"); now != sshd || !Alive(pi.PID) || !Alive(dora.PID) {
		t.Errorf("sshd was %s and is %s; pi's shell lives: %v, dora's: %v", sshd, now, Alive(pi.PID), Alive(dora.PID))
	}
	if err := os.WriteFile(done, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(done)
	if out, status := pi.Wait(patience); status != 0 {
		t.Errorf("the build ends with %d\n%s", status, out)
	}
	d.AwaitIdle()
}

// TestWatchPromise: what a job was promised is taken by a service, which is not
// to be stopped. The job goes, whole, and its caller is told why.
func TestWatchPromise(t *testing.T) {
	InVM(t)
	InstallC(t, "pi", "hog", "watch/make")
	ballast := InstallC(t, "pi", "hog", "watch/ballast")
	d := Daemon{}.Start(t)
	b := StartBystander(t)
	s := Login(t, "pi")
	s.Must("cd ~/watch")
	// press has a service take all but some 50 MB, well below the critical line,
	// in steps at which nobody else is hurt.
	press := func(t *testing.T) (pid int) {
		t.Helper()
		left := d.Status().Memory.AvailableMB
		return StartService(t, "ballast", nil, ballast, "8", "grow", "40", fmt.Sprint(left-50))
	}
	ends := func(t *testing.T, job string, before int) {
		t.Helper()
		stop := d.Await("the job is stopped", before, func(e Event) bool { return e.Event == "watchdog-stop" })
		if stop.Job != job || stop.AvailableMB <= 0 || stop.Reason == "" {
			t.Errorf("stopped: %+v, want job %s", stop, job)
		}
		end := d.Await("the job has ended", before, func(e Event) bool { return e.Event == "ended" && e.Job == job })
		if !strings.Contains(end.ExitReason, "stopped by the watchdog") {
			t.Errorf("ended: %+v", end)
		}
		t.Logf("%s; %s", stop.Reason, end.ExitReason)
		b.Check()
	}
	t.Run("Caught", func(t *testing.T) {
		d.Use(t)
		s.Use(t)
		before := len(d.Events())
		s.Send("./make 150 hold\n")
		job := d.AwaitRunning("make 150 hold", before)
		Eventually(t, patience, func() string {
			if kb, err := ProcessMemory(job.PID); err != nil || kb < 150<<10 {
				return fmt.Sprintf("the job has %d KB, %v", kb, err)
			}
			return ""
		})
		service := press(t)
		out, status := s.Wait(2 * patience)
		if status != 143 && status != 137 {
			t.Errorf("it ends with %d\n%s", status, out)
		}
		Eventually(t, patience, func() string { // it may come after the prompt
			if !strings.Contains(out+s.Shown(), "make was stopped") {
				return "no note: " + out + s.Shown()
			}
			return ""
		})
		ends(t, job.Job, before)
		if !Alive(service) {
			t.Error("the service is gone")
		}
	})
	t.Run("Asked", func(t *testing.T) {
		d.Use(t)
		s.Use(t)
		before := len(d.Events())
		s.Send("headroomd run --result result.json -- ./make 150 hold\n")
		job := d.AwaitRunning("make 150 hold", before)
		Eventually(t, patience, func() string {
			if kb, err := ProcessMemory(job.PID); err != nil || kb < 150<<10 {
				return fmt.Sprintf("the job has %d KB, %v", kb, err)
			}
			return ""
		})
		press(t)
		_, status := s.Wait(2 * patience)
		r := readResult(t, "/home/pi/watch/result.json")
		if status != 143 && status != 137 || r.ExitCode != status || !strings.Contains(r.Note, "was stopped") || r.OOMKilled {
			t.Errorf("it ends with %d, told %+v", status, r)
		}
		ends(t, job.Job, before)
	})
	d.AwaitIdle()
}
