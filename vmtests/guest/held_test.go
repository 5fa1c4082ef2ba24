package guest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestQueueHeld: whatever happens to a command that is held, or to the governor
// that holds it, nothing stays frozen and no slot is lost.
func TestQueueHeld(t *testing.T) {
	InVM(t)
	holder := InstallC(t, "pi", "hog", "held/ninja")
	program := InstallC(t, "pi", "hog", "held/make")
	d := Daemon{}.Start(t)
	var a, b *Session

	ended := func(t *testing.T, want int) {
		t.Helper()
		if out, status := b.Wait(patience); status != want || strings.Contains(out, "Stopped") {
			t.Errorf("it ends with %d, want %d\n%s", status, want, out)
		}
	}
	tests := []struct {
		name string
		do   func(t *testing.T, held Event, before int)
	}{
		{"CtrlC", func(t *testing.T, _ Event, _ int) { b.Send("\x03"); ended(t, 130) }},
		{"Terminate", func(t *testing.T, held Event, _ int) { syscall.Kill(held.PID, syscall.SIGTERM); ended(t, 143) }},
		{"CtrlZ", func(t *testing.T, held Event, before int) {
			b.Send("\x1a")
			if out, status := b.Wait(patience); status != 148 || !strings.Contains(out, "Stopped") {
				t.Errorf("Ctrl-Z gives %d\n%s", status, out)
			}
			b.Send("fg\n")
			d.AwaitHeld("make 8", before)
			b.Send("\x03")
			ended(t, 130)
		}},
		{"HangUp", func(t *testing.T, held Event, _ int) {
			b.Close()
			Eventually(t, patience, func() string {
				if Alive(held.PID) {
					return "it outlives its terminal"
				}
				return ""
			})
		}},
		{"Stop", func(t *testing.T, _ Event, _ int) {
			systemctl(t, "stop", unit)
			AwaitNothingFrozen(t)
			ended(t, 7)
			systemctl(t, "start", unit)
		}},
		{"Restart", func(t *testing.T, held Event, before int) {
			systemctl(t, "restart", unit)
			d.AwaitHeld("make 8", before)
			syscall.Kill(held.PID, syscall.SIGTERM)
			ended(t, 143)
		}},
		{"Killed", func(t *testing.T, _ Event, _ int) {
			// One that crashed so soon after its start may do so again: what it held
			// is let go.
			pid := d.PID()
			syscall.Kill(pid, syscall.SIGKILL)
			ended(t, 7)
			d.AwaitRestart(pid)
		}},
		{"Bus", func(t *testing.T, _ Event, _ int) {
			systemctl(t, "daemon-reexec")
			systemctl(t, "restart", "dbus.service")
			b.Send("\x03")
			ended(t, 130)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d.Use(t)
			// What a failed one left behind must not fail the next.
			t.Cleanup(func() { exec.Command("pkill", "-KILL", "-x", "make|ninja").Run() })
			a, b = Login(t, "pi"), Login(t, "pi")
			before := len(d.Events())
			a.Send(holder + " 8 burn 300 0\n")
			d.AwaitRunning("ninja 8", before)
			b.Send(program + " 8 after 6 7\n")
			held := d.AwaitHeld("make 8", before)
			tt.do(t, held, before)
			a.Send("\x03")
			if _, status := a.Wait(patience); status != 130 {
				t.Errorf("the holder ends with %d", status)
			}
			d.AwaitIdle()
			if out, status := a.Run(program + " 8 exit 3"); status != 3 {
				t.Errorf("afterwards a command ends with %d, want 3\n%s", status, out)
			}
		})
	}
}

// TestQueueReload: other settings are in force for what waits already, and a
// mistake in them changes nothing.
func TestQueueReload(t *testing.T) {
	InVM(t)
	holder := InstallC(t, "pi", "hog", "reload/ninja")
	program := InstallC(t, "pi", "hog", "reload/make")
	d := Daemon{}.Start(t)
	a, b := Login(t, "pi"), Login(t, "pi")
	a.Send(holder + " 8 burn 300 0\n")
	d.AwaitRunning("ninja 8", 0)
	b.Send(program + " 8 after 6 7\n")
	d.AwaitHeld("make 8", 0)
	pid := d.PID()
	WriteConfig(t, "max_heavy_job = 2\n")
	systemctl(t, "reload", unit)
	d.Await("the mistake is told", 0, func(e Event) bool { return strings.Contains(e.Reason, "max_heavy_jobs") })
	if len(d.Status().Queue) != 1 || d.PID() != pid {
		t.Error("a mistake in the settings changed something")
	}
	WriteConfig(t, "max_heavy_jobs = 2\n")
	systemctl(t, "reload", unit)
	if out, status := b.Wait(patience); status != 7 {
		t.Errorf("the held command ends with %d, want 7\n%s", status, out)
	}
	a.Send("\x03")
	a.Wait(patience)
	d.AwaitIdle()
}

// TestQueueHung: a daemon that hangs is ended by its watchdog, and what it held
// goes on.
func TestQueueHung(t *testing.T) {
	InVM(t)
	holder := InstallC(t, "pi", "hog", "hung/ninja")
	program := InstallC(t, "pi", "hog", "hung/make")
	// A third of the unit's own time: the rest is waiting.
	const watchdog = "/run/systemd/system/headroomd.service.d/watchdog.conf"
	if err := os.MkdirAll(filepath.Dir(watchdog), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(watchdog, []byte("[Service]\nWatchdogSec=30\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(watchdog) })
	d := Daemon{}.Start(t)
	a, b := Login(t, "pi"), Login(t, "pi")
	a.Send(holder + " 8 burn 300 0\n")
	d.AwaitRunning("ninja 8", 0)
	b.Send(program + " 8 after 6 7\n")
	held := d.AwaitHeld("make 8", 0)
	pid := d.PID()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	Eventually(t, 3*patience, func() string {
		if d.PID() == pid {
			return "the hung daemon is still there"
		}
		return ""
	})
	t.Logf("the watchdog took %v", time.Since(start).Round(time.Second))
	d.AwaitRestart(pid)
	if !Alive(held.PID) {
		t.Error("the held command died with the daemon")
	}
	a.Send("\x03")
	a.Wait(patience)
	if out, status := b.Wait(2 * patience); status != 7 {
		t.Errorf("the held command ends with %d, want 7\n%s", status, out)
	}
	d.AwaitIdle()
}
