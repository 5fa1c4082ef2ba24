package guest

import (
	"fmt"
	"testing"
	"time"
)

// TestQueuePeak: what a command took the last time decides whether it fits. The
// first run beside another job was let in too early; the next waits for room.
func TestQueuePeak(t *testing.T) {
	InVM(t)
	program := InstallC(t, "pi", "hog", "peak/make")
	ninja := InstallC(t, "dora", "hog", "peak/ninja")
	d := Daemon{}.Start(t)
	WriteConfig(t, "max_heavy_jobs = 2\n")
	systemctl(t, "restart", unit)
	s, other := Login(t, "pi"), Login(t, "dora")
	s.Must("cd ~/peak")

	// beside runs the command while another job has 150 MB for some time, and
	// tells how long it was made to wait.
	beside := func(t *testing.T, seconds int) (status int, waited time.Duration) {
		t.Helper()
		before := len(d.Events())
		other.Send(fmt.Sprintf("%s 150 burn %d 0\n", ninja, seconds))
		d.AwaitRunning("ninja 150", before)
		start := time.Now()
		_, status = s.RunWithin(3*patience, program+" 330 after 2 0")
		for _, e := range Of(d.Events()[before:], "held") {
			if e.PID != 0 && e.Job != "" {
				waited = time.Since(start)
			}
		}
		if _, otherStatus := other.Wait(2 * patience); otherStatus != 0 {
			t.Errorf("the other job ends with %d", otherStatus)
		}
		d.AwaitIdle()
		AwaitNoScopes(t)
		return status, waited
	}
	if status, waited := beside(t, brief(20, 14)); waited != 0 {
		t.Errorf("an unknown command waited %v (status %d)", waited, status)
	}
	if out, status := s.Run(program + " 330 after 2 0"); status != 0 {
		t.Fatalf("alone it ends with %d\n%s", status, out)
	}
	AwaitNoScopes(t)
	status, waited := beside(t, brief(20, 14))
	if status != 0 || waited == 0 {
		t.Errorf("a command known to take 330 MB waited %v and ended with %d; want it to wait for room and pass", waited, status)
	}
}
