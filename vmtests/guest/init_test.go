package guest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// plainDaemon is a governor that was started by hand, with nobody to look after
// it.
type plainDaemon struct {
	t    testing.TB
	cmd  *exec.Cmd
	args []string
	log  *os.File
}

func startPlainDaemon(t testing.TB, args ...string) *plainDaemon {
	t.Helper()
	log, err := os.CreateTemp(t.TempDir(), "serve")
	if err != nil {
		t.Fatal(err)
	}
	d := &plainDaemon{t: t, args: args, log: log}
	os.RemoveAll(eventsFile)
	d.start()
	t.Cleanup(func() {
		d.cmd.Process.Signal(syscall.SIGTERM)
		d.cmd.Wait()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("events:\n%s\nthe governor said:\n%s", tellEvents(d.events()), text)
		}
	})
	return d
}

func (d *plainDaemon) start() {
	d.t.Helper()
	d.cmd = exec.Command("headroomd", append([]string{"serve"}, d.args...)...)
	d.cmd.Stdout, d.cmd.Stderr = d.log, d.log
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	Eventually(d.t, patience, func() string {
		if out, err := exec.Command("headroomd", "status").CombinedOutput(); err != nil {
			return fmt.Sprintf("headroomd status: %v: %s", err, out)
		}
		return ""
	})
}

func (d *plainDaemon) status() Status {
	d.t.Helper()
	var s Status
	out, err := exec.Command("headroomd", "status", "--json").Output()
	if err == nil {
		err = json.Unmarshal(out, &s)
	}
	if err != nil {
		d.t.Fatalf("headroomd status: %v", err)
	}
	return s
}

func (d *plainDaemon) events() []Event { return (&Daemon{t: d.t}).Events() }

func (d *plainDaemon) await(what string, skip int, want func(Event) bool) Event {
	d.t.Helper()
	return (&Daemon{t: d.t}).Await(what, skip, want)
}

// TestInitHog: without systemd the governor makes cgroups itself; a hog is killed
// at its cap, what has to wait stands frozen, and nothing stays so.
func TestInitHog(t *testing.T) {
	InVM(t)
	hog := InstallC(t, "pi", "hog", "init/make")
	holder := InstallC(t, "pi", "hog", "init/ninja")
	d := startPlainDaemon(t)
	a, b := Login(t, "pi"), Login(t, "pi")
	bystander := exec.Command("sleep", "infinity")
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bystander.Process.Kill(); bystander.Wait() })
	c := d.status().Contain
	if c.Name != "cgroupfs" || !c.MemoryController || !strings.Contains(c.Why, "systemd is not running") {
		t.Fatalf("contained by %s, controller %v, why %q; want cgroupfs, and why not systemd", c.Name, c.MemoryController, c.Why)
	}

	if out, status := a.Run(hog + " 900 exit"); status != 137 {
		t.Errorf("the hog ends with %d, want 137\n%s", status, out)
	}
	kill := d.await("it was killed at its cap", 0, func(e Event) bool { return e.Event == "oom-kill" })
	placed := d.await("it was placed", 0, func(e Event) bool { return e.Event == "placed" })
	if kill.Soft || kill.OOMKills != 1 || placed.Isolated == nil || !*placed.Isolated {
		t.Errorf("placed as %+v, killed as %+v", placed, kill)
	}
	d.await("the job ended", 0, func(e Event) bool { return e.Event == "ended" && e.Job == kill.Job })
	AwaitNoScopes(t)
	if !Alive(bystander.Process.Pid) || !Alive(a.PID) {
		t.Error("somebody else was killed")
	}

	// Held, Ctrl-C; held again, and the governor is killed.
	before := len(d.events())
	a.Send(holder + " 8 burn 600 0\n")
	d.await("the holder runs", before, func(e Event) bool { return e.Event == "placed" })
	hold := func() {
		t.Helper()
		before := len(d.events())
		b.Send(hog + " 8 after 2 7\n")
		held := d.await("it is held", before, func(e Event) bool { return e.Event == "held" })
		Eventually(t, patience, func() string {
			if f := Frozen(); len(f) != 1 || CgroupOf(held.PID) != f[0] {
				return fmt.Sprintf("pid %d is in %s, frozen are %q", held.PID, CgroupOf(held.PID), f)
			}
			return ""
		})
	}
	hold()
	b.Send("\x03")
	if _, status := b.Wait(patience); status != 130 {
		t.Errorf("Ctrl-C gives %d", status)
	}
	hold()
	d.cmd.Process.Kill()
	d.cmd.Wait()
	AwaitNothingFrozen(t)
	if out, status := b.Wait(patience); status != 7 {
		t.Errorf("it ends with %d, want 7\n%s", status, out)
	}
	d.start()
	adopted := d.await("the next one knows the job", 0, func(e Event) bool { return e.Event == "adopted" })
	if j, ok := d.status().Find(adopted.Job); !ok || j.State != "running" {
		t.Errorf("the job is %+v", j)
	}
	a.Send("\x03")
	a.Wait(patience)
	AwaitNoScopes(t)
}
