package contain

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// vmFrozen starts a scope with a job's name and freezes it.
func vmFrozen(t *testing.T) (isFrozen func() bool) {
	t.Helper()
	unit := UnitName("held")
	cmd := exec.Command("systemd-run", "--quiet", "--scope", "--unit="+unit, "sleep", "900")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	c := cgroups{"/sys/fs/cgroup"}
	at := "/system.slice/" + unit
	eventually(t, "a scope", func() bool { p, err := c.procs(at); return err == nil && len(p) == 1 })
	if err := c.freeze(at, true); err != nil {
		t.Fatal(err)
	}
	return func() bool { return c.frozen(at) }
}

// standIn is a service that is the governor's in all but the program that runs.
const standIn = "stand-in.service"

func vmStandIn(t *testing.T) {
	t.Helper()
	b, err := os.ReadFile("/usr/lib/systemd/system/headroomd.service")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("ExecStart=/usr/bin/headroomd serve", "ExecStart=/usr/bin/sleep infinity",
		"Type=notify", "Type=simple", "WatchdogSec=", "#").Replace(string(b))
	if !strings.Contains(text, "\nExecStopPost=/usr/bin/headroomd release --after-stop=%n\n") {
		t.Fatalf("what is run at its end is not in\n%s", text)
	}
	file := "/run/systemd/system/" + standIn
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	sh(t, "systemctl daemon-reload; systemctl start "+standIn)
	t.Cleanup(func() {
		exec.Command("systemctl", "stop", standIn).Run()
		os.Remove(file)
		exec.Command("systemctl", "daemon-reload").Run()
	})
}

func vmMainPID(t *testing.T) string { return sh(t, "systemctl show -P MainPID "+standIn) }

// awaitAgain waits until systemd has started the stand-in again.
func awaitAgain(t *testing.T, old string) {
	t.Helper()
	eventually(t, "the next start", func() bool { pid := vmMainPID(t); return pid != old && pid != "0" })
}

func vmTimers(t *testing.T) string {
	t.Helper()
	return sh(t, "systemctl list-units --all --no-legend 'headroom-release-*'")
}

// What the governor held when it ended: let go, or kept for the next one and let
// go when that one does not answer.
func TestVMAfterTheGovernor(t *testing.T) {
	inVM(t)
	vmStandIn(t)
	kept := func(t *testing.T, frozen func() bool) {
		t.Helper()
		if !frozen() || !strings.Contains(vmTimers(t), ".timer") {
			t.Errorf("frozen %v, timers %q\n%s", frozen(), vmTimers(t), sh(t, "journalctl -q -b -n 20 -o cat -u "+standIn))
		}
		time.Sleep(3 * time.Second)
		if !frozen() {
			t.Error("it was let go before its time")
		}
		eventually(t, "the timer", func() bool { return !frozen() })
		eventually(t, "the timer's end", func() bool { return vmTimers(t) == "" })
	}
	t.Run("restarted", func(t *testing.T) {
		frozen := vmFrozen(t)
		sh(t, "systemctl restart "+standIn)
		kept(t, frozen)
	})
	if !testing.Short() { // a minute in which nothing happens
		t.Run("crashed after a minute", func(t *testing.T) {
			frozen := vmFrozen(t)
			time.Sleep(steady + 5*time.Second)
			old := vmMainPID(t)
			sh(t, "kill -KILL "+old)
			awaitAgain(t, old)
			kept(t, frozen)
		})
	}
	t.Run("crashed at once", func(t *testing.T) {
		frozen := vmFrozen(t)
		sh(t, "systemctl restart "+standIn)
		old := vmMainPID(t)
		sh(t, "kill -KILL "+old)
		awaitAgain(t, old)
		if frozen() {
			t.Error("kept for a governor that crashes in a loop")
		}
		sh(t, "systemctl stop 'headroom-release-*.timer'")
	})
	t.Run("stopped", func(t *testing.T) {
		frozen := vmFrozen(t)
		sh(t, "systemctl stop "+standIn)
		if frozen() || vmTimers(t) != "" {
			t.Errorf("frozen %v, timers %q", frozen(), vmTimers(t))
		}
		if got := sh(t, "systemctl show -P Result "+standIn); got != "success" {
			t.Errorf("the unit's result is %q", got)
		}
	})
	t.Run("the next one answers", func(t *testing.T) {
		frozen := vmFrozen(t)
		cmd := exec.Command("/usr/bin/headroomd", "serve", "--mode=off", "--source=poll", "--contain=none")
		cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		eventually(t, "an answer", func() bool { return exec.Command("/usr/bin/headroomd", "status").Run() == nil })
		if out := sh(t, "/usr/bin/headroomd release --unless-running"); out != "" || !frozen() {
			t.Errorf("it says %q, frozen %v", out, frozen())
		}
		cmd.Process.Signal(syscall.SIGSTOP)
		if out := sh(t, "/usr/bin/headroomd release --unless-running"); !strings.HasPrefix(out, "let go: headroom-held-") || frozen() {
			t.Errorf("beside one that hangs it says %q, frozen %v", out, frozen())
		}
	})
}

// The guard of a governor in the foreground, which is killed.
func TestVMGuard(t *testing.T) {
	inVM(t)
	for _, c := range []struct {
		name, word string
		want       bool
	}{{"killed", "", false}, {"nothing held any more", "q", true}} {
		t.Run(c.name, func(t *testing.T) {
			frozen := vmFrozen(t)
			g, err := StartGuard("/usr/bin/headroomd")
			if err != nil {
				t.Fatal(err)
			}
			own := g.(*guard)
			fmt.Fprint(own.pipe, c.word)
			own.pipe.Close()
			if err := own.cmd.Wait(); err != nil {
				t.Error(err)
			}
			if frozen() != c.want {
				t.Errorf("frozen %v", frozen())
			}
		})
	}
}
