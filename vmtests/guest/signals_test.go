package guest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestSignals sends signals at random moments around a catch: each must arrive,
// whatever the tracer does with the process meanwhile.
func TestSignals(t *testing.T) {
	InVM(t)
	hog := InstallC(t, "pi", "hog", "signals/make")
	signals := InstallC(t, "pi", "signals", "signals/signals")
	d := Daemon{}.Start(t)
	s := Login(t, "pi")
	pid := d.PID()
	for _, tt := range []struct {
		kind  string
		count int
	}{{"term", brief(1000, 500)}, {"stop", brief(300, 200)}} {
		t.Run(tt.kind, func(t *testing.T) {
			s.Use(t)
			// A catch takes some 100 ms in all here, most of it in its first 20.
			out, status := s.RunWithin(8*time.Minute, fmt.Sprintf("%s %s %d 20000 %s", signals, tt.kind, tt.count, hog))
			if want := fmt.Sprintf("%d signals", tt.count); status != 0 || !strings.Contains(out, want) {
				t.Errorf("status %d, want %q in\n%s", status, want, out)
			}
		})
	}
	t.Logf("events %v", Tally(d.Events()))
	if got := d.PID(); got != pid {
		t.Errorf("the daemon was %d and is %d", pid, got)
	}
	checkNothingStranded(t)
}

// checkNothingStranded fails if a process is still traced or stopped by a
// tracer, or a scope does not end.
func checkNothingStranded(t *testing.T) {
	t.Helper()
	Eventually(t, patience, func() string {
		for _, pid := range FindProcesses("make ") {
			if state := ProcessState(pid); state == "t" || Tracer(pid) != 0 {
				return fmt.Sprintf("process %d is in state %s, traced by %d", pid, state, Tracer(pid))
			}
		}
		return ""
	})
	AwaitNoScopes(t)
}
