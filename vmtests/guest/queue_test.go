package guest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestQueueThreeUsers: three users start heavy commands at once on a machine
// with one slot. One runs, two wait unseen, all three finish.
func TestQueueThreeUsers(t *testing.T) {
	InVM(t)
	users := []struct{ name, program string }{{"pi", "make"}, {"dora", "ninja"}, {"sam", "cargo"}}
	var lines []string
	for _, u := range users {
		lines = append(lines, InstallC(t, u.name, "hog", "queue/"+u.program))
	}
	d := Daemon{}.Start(t)
	sessions := make([]*Session, len(users))
	for i, u := range users {
		sessions[i] = Login(t, u.name)
	}
	other := Login(t, "pi")

	// It computes: what waits for something would give its slot away.
	sessions[0].Send(lines[0] + " 100 burn 25 0\n")
	first := d.AwaitRunning("make 100", 0)
	var held []Event
	for i := 1; i < len(users); i++ {
		before := len(d.Events())
		sessions[i].Send(lines[i] + " 50 after 2 0\n")
		held = append(held, d.AwaitHeld(users[i].program+" 50", before))
	}
	status := d.Status()
	if len(status.Queue) != 2 {
		t.Fatalf("%d are told to wait, want 2: %+v", len(status.Queue), status.Queue)
	}
	for i, q := range status.Queue {
		if q.ID != held[i].Job || q.Position != i+1 || q.State != "held" || q.Why == "" {
			t.Errorf("waiting as number %d: %+v, want job %s", i+1, q, held[i].Job)
		}
		if kb, err := ProcessMemory(q.PID); err != nil || kb > 1024 {
			t.Errorf("%s has %d KB while it is held, %v", q.ID, kb, err)
		}
	}
	if status.Queue[0].Behind != first.Job {
		t.Errorf("the first in the queue waits behind %q, want %q", status.Queue[0].Behind, first.Job)
	}
	if out := other.Must("echo light; ls / >/dev/null; id -u"); !strings.HasPrefix(out, "light\n") {
		t.Errorf("a light command says %q", out)
	}
	for i, s := range sessions[1:] {
		Eventually(t, 20*time.Second, func() string {
			if !strings.Contains(s.Shown(), "headroomd: ") {
				return fmt.Sprintf("%s is told nothing; the terminal shows %q", users[i+1].name, s.Shown())
			}
			return ""
		})
		if told := s.Shown(); !strings.Contains(told, fmt.Sprint(first.PID)) || strings.Contains(told, lines[0]) {
			t.Errorf("%s is told %q; want the holder's family and pid, and not its command", users[i+1].name, told)
		}
	}
	// What it costs to have two wait, in CPU time of an emulated machine.
	began, used := time.Now(), d.Status().Self.CPUS
	time.Sleep(8 * time.Second)
	t.Logf("while two wait the governor takes %.1f %% of a CPU", 100*(d.Status().Self.CPUS-used)/time.Since(began).Seconds())
	for i, s := range sessions {
		out, status := s.Wait(2 * patience)
		if status != 0 {
			t.Errorf("%s: status %d\n%s", users[i].name, status, out)
		}
		if n := strings.Count(out, "waits"); i > 0 && n != 1 {
			t.Errorf("%s was told %d times that it waits:\n%s", users[i].name, n, out)
		}
	}
	for _, h := range held {
		d.Await("it was admitted", 0, func(e Event) bool { return e.Event == "admitted" && e.Job == h.Job })
	}
	d.AwaitIdle()
}

// TestQueueSuites: two test suites that do not fit side by side. Without the
// governor one of them dies; with it both pass, in little more than the time
// that one after the other takes.
func TestQueueSuites(t *testing.T) {
	InVM(t)
	line := fmt.Sprintf(" 440 burn %d 0", brief(15, 8))
	program := InstallC(t, "pi", "hog", "suites/make")
	a, b := Login(t, "pi"), Login(t, "pi")
	a.Send(program + line + "\n")
	b.Send(program + line + "\n")
	_, statusA := a.Wait(2 * patience)
	_, statusB := b.Wait(2 * patience)
	if statusA == 0 && statusB == 0 {
		t.Error("without the governor both pass: the test shows nothing")
	}
	alone := time.Now()
	if out, status := a.Run(program + line); status != 0 {
		t.Fatalf("alone it ends with %d\n%s", status, out)
	}
	serial := 2 * time.Since(alone)

	d := Daemon{}.Start(t)
	both := time.Now()
	a.Send(program + line + "\n")
	d.AwaitRunning("make 440", 0)
	b.Send(program + line + "\n")
	for _, s := range []*Session{a, b} {
		if out, status := s.Wait(3 * patience); status != 0 {
			t.Errorf("with the governor it ends with %d\n%s", status, out)
		}
	}
	took := time.Since(both)
	t.Logf("side by side without the governor: %d and %d; with it %v, serial %v: ratio %.2f", statusA, statusB,
		took.Round(time.Second), serial.Round(time.Second), took.Seconds()/serial.Seconds())
	if took > serial*115/100 {
		t.Errorf("both took %v, one after the other %v: more than 1.15 times", took, serial)
	}
	d.AwaitIdle()
}

// TestQueueQuiet: a server that has nothing to do gives its slot to what waits,
// and keeps its cap.
func TestQueueQuiet(t *testing.T) {
	InVM(t)
	make := InstallC(t, "pi", "hog", "quiet/make")
	d := Daemon{}.Start(t)
	dev, s := Login(t, "pi"), Login(t, "pi")
	dev.Must("cd " + Install(t, "pi", "npm"))
	dev.Send("npm run dev\n")
	server := d.AwaitRunning("npm", 0)
	Eventually(t, patience, func() string {
		if !strings.Contains(dev.Shown(), "listening") {
			return "the server does not listen"
		}
		return ""
	})
	start := time.Now()
	if out, status := s.Run(make + " 50 after 2 0"); status != 0 {
		t.Errorf("the build ends with %d\n%s", status, out)
	}
	t.Logf("a build of 2 s beside an idle server took %v", time.Since(start).Round(time.Second))
	// 5 s of idleness while somebody waits, and what a placing takes.
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("a build of 2 s took %v beside an idle server", took)
	}
	j, ok := d.Status().Find(server.Job)
	if !ok || j.State != "quiet" || !j.Isolated || j.MemoryCapMB <= 0 {
		t.Errorf("the server is %+v, want it quiet and capped", j)
	}
	dev.Send("\x03")
	dev.Wait(patience)
	d.AwaitIdle()
}

// TestQueueFair: a user with a long queue delays another one by a job of his,
// not by all.
func TestQueueFair(t *testing.T) {
	InVM(t)
	many := brief(60, 24)
	program := InstallC(t, "pi", "hog", "fair/make")
	ninja := InstallC(t, "dora", "hog", "fair/ninja")
	d := Daemon{}.Start(t)
	greedy, other := Login(t, "pi"), Login(t, "dora")
	// Each in a session of its own: nothing makes them one job.
	greedy.Send(fmt.Sprintf("for i in $(seq %d); do setsid -f %s 4 burn 3 0 </dev/null >/dev/null 2>&1; done\n", many, program))
	d.Await("one waits", 0, func(e Event) bool { return e.Event == "held" })
	greedy.Wait(2 * patience)
	start := time.Now()
	if out, status := other.Run(ninja + " 20 after 1 0"); status != 0 {
		t.Errorf("status %d\n%s", status, out)
	}
	took := time.Since(start)
	t.Logf("beside %d commands of another user 1 s took %v", many, took.Round(time.Second))
	if took > 60*time.Second {
		t.Errorf("a command of 1 s took %v behind another user's %d", took, many)
	}
	AwaitNothingFrozen(t)
	greedy.Run("pkill -x make; true")
	d.AwaitIdle()
}
