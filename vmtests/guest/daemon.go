package guest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	unit       = "headroomd.service"
	dropIn     = "/run/systemd/system/headroomd.service.d/vmtests.conf"
	eventsFile = "/var/log/headroom/events.jsonl"
)

// Daemon is headroomd.service as installed, with other words after `serve` and
// more in its environment. It runs from Start to the end of the test.
type Daemon struct {
	Args []string
	Env  []string

	t testing.TB
}

// Start starts the service anew, with an empty record of events, and returns
// when it is ready.
func (d Daemon) Start(t testing.TB) *Daemon {
	t.Helper()
	d.t = t
	systemctl(t, "stop", unit)
	if err := os.RemoveAll(eventsFile); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.stop)
	d.configure()
	if out, err := exec.Command("systemctl", "start", unit).CombinedOutput(); err != nil {
		t.Fatalf("start %s: %v %s\n%s", unit, err, out, unitJournal(40))
	}
	return &d
}

// Use makes t the test that fails by what the daemon does, until its end.
func (d *Daemon) Use(t testing.TB) {
	before := d.t
	d.t = t
	t.Cleanup(func() { d.t = before })
}

// Reconfigure is for the next start, by systemd's Restart= or by Restart: the
// daemon that runs keeps what it was started with.
func (d *Daemon) Reconfigure(args, env []string) {
	d.t.Helper()
	d.Args, d.Env = args, env
	d.configure()
}

func (d *Daemon) configure() {
	d.t.Helper()
	var b strings.Builder
	// The five seconds before a crashed daemon is started again are a tenth of
	// all the faults' time.
	fmt.Fprintf(&b, "[Service]\nRestartSec=1\nExecStart=\nExecStart=/usr/bin/headroomd serve %s\n", strings.Join(d.Args, " "))
	for _, e := range d.Env {
		fmt.Fprintf(&b, "Environment=%q\n", e)
	}
	if err := os.MkdirAll(filepath.Dir(dropIn), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(dropIn, []byte(b.String()), 0o644); err != nil {
		d.t.Fatal(err)
	}
	systemctl(d.t, "daemon-reload")
}

func (d *Daemon) stop() {
	if d.t.Failed() {
		d.t.Logf("events:\n%s", tellEvents(d.Events()))
		d.t.Logf("journal of %s:\n%s", unit, unitJournal(30))
	}
	systemctl(d.t, "stop", unit)
	os.Remove(dropIn)
	systemctl(d.t, "daemon-reload")
	if left := JobScopes(); len(left) > 0 && !d.t.Failed() {
		d.t.Logf("scopes left after the daemon's stop: %q", left)
	}
}

// PID is the daemon's; 0 while it does not run.
func (d *Daemon) PID() int {
	pid, _ := strconv.Atoi(UnitProperty(d.t, unit, "MainPID"))
	return pid
}

// AwaitRestart waits until systemd has started another daemon than was.
func (d *Daemon) AwaitRestart(was int) {
	d.t.Helper()
	Eventually(d.t, patience, func() string {
		state := UnitProperty(d.t, unit, "ActiveState")
		if pid := d.PID(); state == "active" && pid != 0 && pid != was {
			return ""
		}
		return "the daemon is " + state + " with pid " + strconv.Itoa(d.PID())
	})
}

// Status asks the daemon through its own command line.
func (d *Daemon) Status() Status {
	d.t.Helper()
	cmd := exec.Command("headroomd", "status", "--json")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		d.t.Fatalf("headroomd status: %v: %s", err, stderr.Bytes())
	}
	var s Status
	if err := json.Unmarshal(out, &s); err != nil {
		d.t.Fatalf("headroomd status: %v\n%s", err, out)
	}
	return s
}

// Events are all records since Start. The last line may still be in the
// writing: it is left for the next time.
func (d *Daemon) Events() []Event {
	d.t.Helper()
	data, err := os.ReadFile(eventsFile)
	if err != nil && !os.IsNotExist(err) {
		d.t.Fatal(err)
	}
	var events []Event
	for line := range bytes.Lines(data) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			d.t.Fatalf("event %q: %v", line, err)
		}
		events = append(events, e)
	}
	return events
}

// Await waits for an event that is wanted, among those after the first skip.
func (d *Daemon) Await(what string, skip int, want func(Event) bool) Event {
	d.t.Helper()
	var found Event
	Eventually(d.t, patience, func() string {
		events := d.Events()
		for _, e := range events[min(skip, len(events)):] {
			if want(e) {
				found = e
				return ""
			}
		}
		return "no event: " + what
	})
	return found
}

func unitJournal(lines int) string {
	out, _ := exec.Command("journalctl", "-q", "-b", "-u", unit, "-o", "short-monotonic", "-n", strconv.Itoa(lines)).CombinedOutput()
	return string(out)
}

// tellEvents shows the last records, one line each.
func tellEvents(events []Event) string {
	var b strings.Builder
	for _, e := range events[max(0, len(events)-40):] {
		line, _ := json.Marshal(e)
		fmt.Fprintf(&b, "%s %s\n", e.Time.Format(time.StampMilli), line)
	}
	return b.String()
}
