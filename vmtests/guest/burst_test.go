package guest

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestBurst: more heavy execs than can be dealt with one by one.
func TestBurst(t *testing.T) {
	InVM(t)
	// The second part wants more than the ring holds.
	const overflow = 3000
	ordinary := brief(3000, 1000)
	hog := InstallC(t, "pi", "hog", "burst/make")
	burst := InstallC(t, "pi", "burst", "burst/burst")
	d := Daemon{}.Start(t)
	s := Login(t, "pi")
	pid := d.PID()
	line := func(count int) string { return fmt.Sprintf("%s %d 50 %s", burst, count, hog) }

	t.Run("Ordinary", func(t *testing.T) {
		d.Use(t)
		s.Use(t)
		before := d.Status()
		start := time.Now()
		out, status := s.RunWithin(8*time.Minute, line(ordinary))
		if want := fmt.Sprintf("%d of %d", ordinary, ordinary); status != 0 || !strings.Contains(out, want) {
			t.Errorf("status %d, want %q in\n%s", status, want, out)
		}
		checkAccounts(t, d, before, uint64(ordinary))
		t.Logf("%d execs took %v", ordinary, time.Since(start).Round(time.Millisecond))
	})
	t.Run("Overflow", func(t *testing.T) {
		d.Use(t)
		s.Use(t)
		// A daemon that stands still loses what its buffer does not hold. What
		// it finds afterwards is by looking at the process table.
		before, events := d.Status(), len(d.Events())
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		defer syscall.Kill(pid, syscall.SIGCONT)
		other := Login(t, "pi")
		out, status := s.RunWithin(time.Minute, line(overflow))
		if status != 0 {
			t.Errorf("status %d\n%s", status, out)
		}
		other.Send(hog + " 4 hold\n")
		var held int
		Eventually(t, patience, func() string {
			pids := FindProcesses(hog + " 4 hold")
			if len(pids) != 1 {
				return "the command did not start"
			}
			held = pids[0]
			return ""
		})
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		d.Await("execs were lost", events, func(e Event) bool { return e.Event == "lost" && e.LostEvents > 0 })
		Eventually(t, patience, func() string {
			if c := CgroupOf(held); !c.InJob() {
				return "a command whose exec was lost is in " + string(c)
			}
			return ""
		})
		after := checkAccounts(t, d, before, overflow)
		if after.Source.Lost == before.Source.Lost {
			t.Error("nothing is counted as lost")
		}
		if after.Source.Scans == before.Source.Scans {
			t.Error("no scan came after the loss")
		}
		other.Send("\x03")
		if _, status := other.Wait(patience); status != 130 {
			t.Errorf("Ctrl-C gives %d", status)
		}
	})
	if got := d.PID(); got != pid {
		t.Errorf("the daemon was %d and is %d", pid, got)
	}
	checkNothingStranded(t)
}

// checkAccounts: each exec was handed on or is counted as lost, save those that
// began in a job's cgroup, which the kernel drops.
func checkAccounts(t *testing.T, d *Daemon, before Status, count uint64) Status {
	t.Helper()
	after := d.Status()
	seen := after.Source.Seen - before.Source.Seen
	reported, lost := after.Source.Reported-before.Source.Reported, after.Source.Lost-before.Source.Lost
	t.Logf("seen %d, reported %d, lost %d; events %v", seen, reported, lost, Tally(d.Events()))
	if seen < count {
		t.Errorf("the kernel saw %d execs, want at least %d", seen, count)
	}
	if reported+lost < count {
		t.Errorf("%d execs were reported and %d lost, together less than %d", reported, lost, count)
	}
	return after
}
