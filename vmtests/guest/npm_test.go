package guest

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var unitRE = regexp.MustCompile(`^headroom-[a-z-]+-[0-9a-f]{8}\.scope$`)

// TestNpmTest is the reason for all of it: a test suite that outgrows the
// machine dies by itself, in its own scope, and nothing else notices.
func TestNpmTest(t *testing.T) {
	InVM(t)
	npmOverItsCap(t, Daemon{}.Start(t))
}

func npmOverItsCap(t *testing.T, d *Daemon) {
	t.Helper()
	d.Use(t)
	s := Login(t, "pi")
	s.Must("cd " + Install(t, "pi", "npm"))
	bystander := StartBystander(t)
	session := CgroupOf(s.PID)
	sshd, _ := strconv.Atoi(UnitProperty(t, "ssh.service", "MainPID"))
	untouched := []Cgroup{session, CgroupOf(sshd)}
	scopes := WatchScopes(t)

	out, status := s.Run("npm test")
	if status != 137 {
		t.Errorf("npm test ended with %d, want 137\n%s", status, out)
	}
	if strings.Contains(out, "Stopped") || strings.Contains(out, "held 600 MB") {
		t.Errorf("npm test says %q", out)
	}

	placed := d.Await("npm was placed", 0, func(e Event) bool { return e.Event == "placed" })
	where := Cgroup("/user.slice/user-1000.slice/" + placed.Unit)
	if !unitRE.MatchString(placed.Unit) {
		t.Errorf("the scope is called %q", placed.Unit)
	}
	if placed.Isolated == nil || !*placed.Isolated || placed.MemoryCapMB <= 0 || placed.MemoryCapMB >= 600 {
		t.Errorf("placed, but isolated is %v and the cap %d MB", placed.Isolated, placed.MemoryCapMB)
	}
	if placed.Origin != string(session) {
		t.Errorf("caught in %q, want %q", placed.Origin, session)
	}
	ended := d.Await("the job ended", 0, func(e Event) bool { return e.Event == "ended" && e.Job == placed.Job })
	seen := scopes.Stop()
	kernel, ok := seen[where]
	if !ok {
		t.Fatalf("no scope %s; seen were %v", where, seen)
	}
	if len(seen) != 1 {
		t.Errorf("one command, but the scopes were %v", seen)
	}
	// The cap may be raised or lowered while the job runs; it may not be absent.
	if kernel.MemoryMax <= 0 || kernel.MemoryMax >= 600<<20 {
		t.Errorf("memory.max was %d", kernel.MemoryMax)
	}
	if kernel.OOMKills < 1 {
		t.Errorf("oom_kill of the scope was %d", kernel.OOMKills)
	}

	if ended.OOMKills < 1 || ended.PeakMB < 64 || ended.PeakMB > kernel.MostMax>>20+1 {
		t.Errorf("ended with %d oom kills and a peak of %d MB under a cap of %d MB, %d MB at most", ended.OOMKills, ended.PeakMB,
			placed.MemoryCapMB, kernel.MostMax>>20)
	}
	if kills := Of(eventsByCommand(t), "oom-kill"); len(kills) == 0 || kills[0].Job != placed.Job {
		t.Errorf("`headroomd events` tells of the kills %+v", kills)
	}
	if j, ok := d.Status().Find(placed.Job); !ok || j.OOMKills < 1 || j.PeakMB != ended.PeakMB || j.MemoryCapMB != ended.MemoryCapMB || j.UID != 1000 {
		t.Errorf("`headroomd status` tells of the job %+v", j)
	}

	bystander.Check()
	for _, c := range untouched {
		if n := c.Field(t, "memory.events", "oom_kill"); n != 0 {
			t.Errorf("%d oom kills in %s", n, c)
		}
	}
	if now, _ := strconv.Atoi(UnitProperty(t, "ssh.service", "MainPID")); now != sshd {
		t.Errorf("sshd was %d and is %d", sshd, now)
	}
	// A note on what was killed may come to the terminal before it.
	if out := s.Must("echo $$"); !strings.HasSuffix(strings.TrimSpace(out), strconv.Itoa(s.PID)) || CgroupOf(s.PID) != session {
		t.Errorf("the shell says %q, was %d; it is in %s, was in %s", out, s.PID, CgroupOf(s.PID), session)
	}
}

// eventsByCommand are the events as `headroomd events --json` has them.
func eventsByCommand(t *testing.T) []Event {
	t.Helper()
	out, err := exec.Command("headroomd", "events", "--json").Output()
	if err != nil {
		t.Fatalf("headroomd events: %v", err)
	}
	var events []Event
	for line := range strings.Lines(string(out)) {
		var e Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("event %q: %v", line, err)
		}
		events = append(events, e)
	}
	return events
}

// TestFitting has commands that fit their caps: they run as ever.
func TestFitting(t *testing.T) {
	InVM(t)
	d := Daemon{}.Start(t)
	s := Login(t, "pi")
	s.Must("cd; cd " + Install(t, "pi", "npm"))
	s.Must("cd " + Install(t, "pi", "pytest"))
	tests := []struct{ name, line, says string }{
		{"npm", "(cd ~/npm; HUNGRY_MB=20 npm test)", "held 20 MB"},
		{"pytest", "python3 -m pytest -q -p no:cacheprovider", "1 passed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d.Use(t)
			s.Use(t)
			before := len(d.Events())
			out, status := s.Run(tt.line)
			if status != 0 || !strings.Contains(out, tt.says) {
				t.Errorf("status %d\n%s", status, out)
			}
			placed := d.Await("it was placed", before, func(e Event) bool { return e.Event == "placed" })
			ended := d.Await("it ended", before, func(e Event) bool { return e.Event == "ended" && e.Job == placed.Job })
			if ended.OOMKills != 0 {
				t.Errorf("%d oom kills", ended.OOMKills)
			}
		})
	}
}
