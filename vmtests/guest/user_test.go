package guest

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// userDaemon is the governor of one user, without root.
type userDaemon struct {
	t    testing.TB
	user string
	uid  int
}

// startUserDaemon starts it as a service of pi's own manager.
func startUserDaemon(t testing.TB) *userDaemon {
	t.Helper()
	systemctl(t, "stop", unit)
	d := &userDaemon{t: t, user: "pi", uid: 1000}
	if out, err := exec.Command("loginctl", "enable-linger", d.user).CombinedOutput(); err != nil {
		t.Fatalf("enable-linger: %v: %s", err, out)
	}
	Eventually(t, patience, func() string {
		if out, err := d.command("systemctl", "--user", "start", "headroomd").CombinedOutput(); err != nil {
			return fmt.Sprintf("start the user's governor: %v: %s", err, out)
		}
		return ""
	})
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := exec.Command("journalctl", "-q", "-b", "-n", "30", "-o", "cat", "_UID=1000").Output()
			t.Logf("events:\n%s\njournal of uid 1000:\n%s", tellEvents(d.events()), out)
		}
		d.command("systemctl", "--user", "stop", "headroomd").Run()
		d.command("rm", "-f", "/home/pi/.local/state/headroom/events.jsonl").Run()
	})
	return d
}

// command runs as the user, as a login of his would have it.
func (d *userDaemon) command(argv ...string) *exec.Cmd {
	runtime := fmt.Sprintf("/run/user/%d", d.uid)
	return exec.Command("runuser", append([]string{"-u", d.user, "--", "env", "XDG_RUNTIME_DIR=" + runtime,
		"DBUS_SESSION_BUS_ADDRESS=unix:path=" + runtime + "/bus", "HOME=/home/" + d.user}, argv...)...)
}

func (d *userDaemon) status() Status {
	d.t.Helper()
	out, err := d.command("headroomd", "status", "--json").Output()
	if err != nil {
		d.t.Fatalf("headroomd status: %v", err)
	}
	var s Status
	if err := json.Unmarshal(out, &s); err != nil {
		d.t.Fatalf("headroomd status: %v\n%s", err, out)
	}
	return s
}

func (d *userDaemon) events() []Event {
	d.t.Helper()
	out, err := d.command("headroomd", "events", "--json").Output()
	if err != nil {
		d.t.Logf("headroomd events: %v", err)
	}
	var events []Event
	for line := range strings.Lines(string(out)) {
		var e Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			d.t.Fatalf("event %q: %v", line, err)
		}
		events = append(events, e)
	}
	return events
}

func (d *userDaemon) await(what string, skip int, want func(Event) bool) Event {
	d.t.Helper()
	var found Event
	Eventually(d.t, patience, func() string {
		all := d.events()
		for _, e := range all[min(skip, len(all)):] {
			if want(e) {
				found = e
				return ""
			}
		}
		return "no event: " + what
	})
	return found
}

// TestUserHog: a governor without root caps its user's commands, wherever they
// are started, in scopes of that user's own manager.
func TestUserHog(t *testing.T) {
	InVM(t)
	line := InstallC(t, "pi", "hog", "user/make")
	other := InstallC(t, "dora", "hog", "user/make")
	d := startUserDaemon(t)
	s, dora := Login(t, "pi"), Login(t, "dora")
	bystander := StartBystander(t)
	status := d.status()
	if status.Contain.Name != "systemd" || !status.Contain.MemoryController || status.Source.Name != "poll" {
		t.Fatalf("contained by %s (%s), controller %v, seen by %s; want systemd with the controller, and poll",
			status.Contain.Name, status.Contain.Why, status.Contain.MemoryController, status.Source.Name)
	}
	dora.Send(other + " 8 hold\n")

	for _, tt := range []struct{ name, line string }{
		{"Session", line + " 900 exit"},
		{"AppSlice", "systemd-run --user --scope -q " + line + " 900 exit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.Use(t)
			before := len(d.events())
			out, status := s.Run(tt.line)
			placed := d.await("the hog was placed", before, func(e Event) bool { return e.Event == "placed" })
			kill := d.await("the kernel killed it", before, func(e Event) bool { return e.Event == "oom-kill" })
			if status != 137 {
				t.Errorf("it ends with %d\n%s", status, out)
			}
			if kill.OOMKills < 1 || kill.Soft || placed.MemoryCapMB <= 0 || placed.MemoryCapMB >= 900 {
				t.Errorf("placed with %d MB, killed %+v", placed.MemoryCapMB, kill)
			}
			if want := "/user.slice/user-1000.slice/user@1000.service/app.slice/" + placed.Unit; placed.Isolated == nil || !*placed.Isolated {
				t.Errorf("placed as %+v, want it in %s", placed, want)
			}
			ended := d.await("the job ended", before, func(e Event) bool { return e.Event == "ended" && e.Job == kill.Job })
			if ended.OOMKills < 1 {
				t.Errorf("it ended with %d kills", ended.OOMKills)
			}
		})
	}
	bystander.Check()
	if !strings.Contains(s.Must("echo here"), "here") {
		t.Error("the shell is gone")
	}
	for _, e := range d.events() {
		if e.UID != nil && *e.UID != 1000 {
			t.Errorf("a record of uid %d: %+v", *e.UID, e)
		}
	}
	if pids := FindProcesses(other + " 8 hold"); len(pids) != 1 || CgroupOf(pids[0]) != CgroupOf(dora.PID) || ProcessState(pids[0]) != "S" {
		t.Errorf("another user's command: %v", pids)
	}
	dora.Send("\x03")
	dora.Wait(patience)
}

// TestUserHeld: what a user's governor holds is let go in the end, whatever
// becomes of the governor.
func TestUserHeld(t *testing.T) {
	InVM(t)
	holder := InstallC(t, "pi", "hog", "userheld/ninja")
	program := InstallC(t, "pi", "hog", "userheld/make")
	d := startUserDaemon(t)
	a, b := Login(t, "pi"), Login(t, "pi")
	a.Send(holder + " 8 burn 600 0\n")
	d.await("the holder runs", 0, func(e Event) bool { return e.Event == "placed" })
	held := func(before int) Event {
		e := d.await("the other is held", before, func(e Event) bool { return e.Event == "held" })
		Eventually(t, patience, func() string {
			for _, c := range Frozen() {
				if CgroupOf(e.PID) == c {
					return ""
				}
			}
			return fmt.Sprintf("pid %d is not frozen, but %q", e.PID, Frozen())
		})
		return e
	}
	b.Send(program + " 8 after 2 7\n")
	held(0)
	b.Send("\x03")
	if _, status := b.Wait(patience); status != 130 {
		t.Errorf("Ctrl-C gives %d", status)
	}
	before := len(d.events())
	b.Send(program + " 8 after 2 7\n")
	held(before)
	// A crash within the first minute keeps nothing for the next one.
	out, err := d.command("systemctl", "--user", "show", "-P", "MainPID", "headroomd").Output()
	pid := 0
	if _, scan := fmt.Sscan(string(out), &pid); err != nil || scan != nil || pid == 0 {
		t.Fatalf("pid of the user's governor: %q, %v", out, err)
	}
	syscall.Kill(pid, syscall.SIGKILL)
	AwaitNothingFrozen(t)
	if out, status := b.Wait(patience); status != 7 {
		t.Errorf("it ends with %d, want 7\n%s", status, out)
	}
	a.Send("\x03")
	a.Wait(patience)
}
