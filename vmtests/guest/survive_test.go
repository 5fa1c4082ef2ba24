package guest

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// heartbeat is a service that asks another process for an answer every 100 ms,
// as somebody does who types over ssh.
type heartbeat struct {
	t    testing.TB
	file string
	pid  int
}

func startHeartbeat(t testing.TB) *heartbeat {
	t.Helper()
	name := fmt.Sprintf("beat-%d", time.Now().UnixNano())
	h := &heartbeat{t: t, file: "/dev/shm/" + name}
	h.pid = StartService(t, name, nil, InstallC(t, "pi", "beat", "survive/beat"), h.file)
	return h
}

// worst is the longest that an answer came too late.
func (h *heartbeat) worst() time.Duration {
	h.t.Helper()
	text, err := os.ReadFile(h.file)
	if err != nil {
		h.t.Fatal(err)
	}
	ms, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		h.t.Fatalf("%s has %q", h.file, text)
	}
	return time.Duration(ms) * time.Millisecond
}

// globalKills are the processes that the kernel killed for the whole machine's
// memory, which is what must not happen.
func globalKills(t testing.TB) []string {
	t.Helper()
	out, err := exec.Command("dmesg").Output()
	if err != nil {
		t.Fatal(err)
	}
	var kills []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "Out of memory: Killed process") && !strings.Contains(line, "Memory cgroup") {
			kills = append(kills, strings.TrimSpace(line))
		}
	}
	return kills
}

// threeHogs has three users start something of 420 MB at once, on a machine
// with 1 GB and a disk as slow as an SD card. It returns how many finished.
func threeHogs(t *testing.T) (finished int) {
	t.Helper()
	users := []struct{ name, program string }{{"pi", "make"}, {"dora", "ninja"}, {"sam", "cargo"}}
	sessions := make([]*Session, len(users))
	lines := make([]string, len(users))
	for i, u := range users {
		sessions[i] = Login(t, u.name)
		lines[i] = InstallC(t, u.name, "hog", "survive/"+u.program) + " 420 burn 8 0"
	}
	for i, s := range sessions {
		s.Send(lines[i] + "\n")
	}
	for i, s := range sessions {
		out, status := s.Wait(6 * patience)
		if status == 0 {
			finished++
		} else {
			t.Logf("%s ends with %d: %s", users[i].name, status, strings.TrimSpace(out))
		}
		s.Close()
	}
	return finished
}

// TestSurviveHogs: what kills a small machine without the governor is nothing
// with it. The long run shows the former first.
func TestSurviveHogs(t *testing.T) {
	InVM(t)
	if !testing.Short() {
		beat := startHeartbeat(t)
		began := time.Now()
		n := threeHogs(t)
		t.Logf("without the governor %d of 3 finish in %v, an answer is late by %v at worst; killed: %q",
			n, time.Since(began).Round(time.Second), beat.worst(), globalKills(t))
	}
	before := len(globalKills(t))
	d := Daemon{}.Start(t)
	beat := startHeartbeat(t)
	began := time.Now()
	n := threeHogs(t)
	t.Logf("with the governor %d of 3 finish in %v, an answer is late by %v at worst", n, time.Since(began).Round(time.Second), beat.worst())
	if n != 3 {
		t.Errorf("%d of 3 finish", n)
	}
	if !Alive(beat.pid) {
		t.Error("a bystander was killed")
	}
	if kills := globalKills(t)[before:]; len(kills) > 0 {
		t.Errorf("the machine was out of memory: %q", kills)
	}
	// A machine that thrashes is late by 7 to 50 s.
	if worst := beat.worst(); worst > 5*time.Second {
		t.Errorf("an answer was late by %v", worst)
	}
	d.AwaitIdle()
}

// TestSurviveStranger: a program that nobody knows takes all that there is. It
// is capped late, or stopped below the critical line; nobody else is.
func TestSurviveStranger(t *testing.T) {
	InVM(t)
	line := InstallC(t, "dora", "hog", "survive/a.out") + " 940 after 5 0"
	before := len(globalKills(t))
	d := Daemon{}.Start(t)
	beat := startHeartbeat(t)
	s := Login(t, "dora")
	out, status := s.RunWithin(4*patience, line)
	if status != 137 && status != 143 {
		t.Errorf("it ends with %d, want 137 or 143\n%s", status, out)
	}
	t.Logf("an answer is late by %v at worst; events %v", beat.worst(), Tally(d.Events()))
	if !Alive(beat.pid) || !Alive(s.PID) {
		t.Error("somebody else was killed")
	}
	if kills := globalKills(t)[before:]; len(kills) > 0 {
		t.Errorf("the machine was out of memory before the governor acted: %q", kills)
	}
	if worst := beat.worst(); worst > 10*time.Second {
		t.Errorf("an answer was late by %v", worst)
	}
}
