package guest

import (
	"strings"
	"testing"
)

// TestPiHog: without the kernel's memory controller a job is measured and loses
// its largest process when it is over its cap, in its scope and without one.
func TestPiHog(t *testing.T) {
	InVM(t)
	line := InstallC(t, "pi", "hog", "soft/make")
	for _, tier := range []string{"systemd", "none"} {
		t.Run(tier, func(t *testing.T) {
			d := Daemon{Args: []string{"--contain", tier}}.Start(t)
			s := Login(t, "pi")
			bystander := StartService(t, "bystander", nil, "sleep", "infinity")
			if c := d.Status().Contain; c.MemoryController || !c.SoftCaps || c.Name != tier {
				t.Fatalf("containment is %+v, want %s with soft caps", c, tier)
			}
			out, status := s.Run(line + " 900 after 5 0")
			if status != 137 {
				t.Fatalf("a hog of 900 MB on a machine with 1 GB ends with %d, want 137\n%s", status, out)
			}
			kill := d.Await("it was killed at its cap", 0, func(e Event) bool { return e.Event == "oom-kill" })
			if !kill.Soft || kill.OOMKills != 1 || kill.MemoryCapMB <= 0 || kill.PeakMB < kill.MemoryCapMB {
				t.Errorf("the kill is told as %+v, want one soft kill at its cap", kill)
			}
			t.Logf("cap %d MB, killed at %d MB: %s", kill.MemoryCapMB, kill.PeakMB, kill.Reason)
			// Under emulation, and once in 5 ms at best: far from the machine's end.
			if over := kill.PeakMB - kill.MemoryCapMB; over > 100 {
				t.Errorf("it was %d MB over its cap", over)
			}
			ended := d.Await("the job ended", 0, func(e Event) bool { return e.Event == "ended" && e.Job == kill.Job })
			if ended.OOMKills != 1 {
				t.Errorf("it ended with %d kills, want 1", ended.OOMKills)
			}
			if j, ok := d.Status().Find(kill.Job); !ok || !j.Soft || j.OOMKills != 1 {
				t.Errorf("status has %+v, want a soft kill", j)
			}
			if !Alive(bystander) || !Alive(s.PID) {
				t.Error("somebody else was killed")
			}
			if told := s.Must("echo still here"); !strings.Contains(told, "still here") {
				t.Errorf("the shell says %q", told)
			}
		})
	}
}

// TestPiShared: what many processes share counts once, and files do not count.
func TestPiShared(t *testing.T) {
	InVM(t)
	line := InstallC(t, "pi", "hog", "shared/make")
	d := Daemon{}.Start(t)
	s := Login(t, "pi")
	s.Must("cd ~/shared")
	for _, tt := range []struct{ name, line string }{
		{"Fork", line + " 100 fork 12 5"},
		{"File", "truncate -s 600M file; " + line + " 5 map file 4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d.Use(t)
			s.Use(t)
			before := len(d.Events())
			if out, status := s.Run(tt.line); status != 0 {
				t.Errorf("it ends with %d\n%s", status, out)
			}
			placed := d.Await("it was placed", before, func(e Event) bool { return e.Event == "placed" })
			d.Await("it ended", before, func(e Event) bool { return e.Event == "ended" && e.Job == placed.Job })
			if kills := Of(d.Events()[before:], "oom-kill"); len(kills) != 0 {
				t.Errorf("killed: %+v", kills)
			}
			s.Run("rm -f file")
		})
	}
}
