package guest

import (
	"fmt"
	"strings"
	"testing"
)

// TestLight: what is not heavy runs where it is, and is not even told of.
func TestLight(t *testing.T) {
	InVM(t)
	d := Daemon{}.Start(t)
	s := Login(t, "pi")
	session := CgroupOf(s.PID)
	before, events := d.Status(), len(d.Events())

	out := s.Must("for i in $(seq 40); do cat /proc/self/cgroup; ls / >/dev/null; grep -q pi /etc/passwd; date >/dev/null; id -u >/dev/null; done | sort | uniq -c")
	if want := fmt.Sprintf("40 0::%s", session); strings.TrimSpace(out) != want {
		t.Errorf("cat ran in %q, want %q", out, want)
	}
	after := d.Status()
	if n := after.Source.Seen - before.Source.Seen; n < 200 {
		t.Errorf("the kernel saw %d execs, want 200", n)
	}
	if n := after.Source.Reported - before.Source.Reported; n != 0 {
		t.Errorf("the kernel told of %d light execs", n)
	}

	// These have the names of heavy commands, so the kernel tells of them, and
	// their words make them light.
	for range 2 {
		for _, line := range []string{"make --version", "gcc --version", "node -v", "python3 -c pass", "npm --version"} {
			s.Must(line + " >/dev/null")
		}
	}
	if n := d.Status().Source.Reported - after.Source.Reported; n < 10 {
		t.Errorf("the kernel told of %d candidates, want 10", n)
	}
	if got := d.Events(); len(got) != events {
		t.Errorf("light commands left events:\n%s", tellEvents(got[events:]))
	}
	if scopes := JobScopes(); len(scopes) != 0 {
		t.Errorf("scopes %q", scopes)
	}
}
