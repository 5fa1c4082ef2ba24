package guest

import (
	"testing"
	"time"
)

// TestSource: without BPF the governor comes late, and what came before it is
// moved as well, and paid for.
func TestSource(t *testing.T) {
	InVM(t)
	InstallC(t, "pi", "hog", "hog/make")
	for _, source := range []string{"perf", "poll"} {
		t.Run(source, func(t *testing.T) {
			d := Daemon{Args: []string{"--source", source}}.Start(t)
			if got := d.Status().Source; got.Name != source {
				t.Fatalf("the source is %q (%s)", got.Name, got.Why)
			}
			if brief(true, source == "poll") { // a build shows more of what comes late than a suite
				t.Run("Make", func(t *testing.T) { lateMake(t, d) })
				AwaitNoScopes(t)
			}
			if brief(true, source == "perf") {
				t.Run("NpmTest", func(t *testing.T) { npmOverItsCap(t, d) })
				AwaitNoScopes(t)
			}
			t.Run("Hog", func(t *testing.T) { lateHog(t, d, "~/hog/make 100 hold", 0) })
			AwaitNoScopes(t)
			// What another traces cannot be stopped: it runs while it is moved.
			t.Run("TracedHog", func(t *testing.T) { lateHog(t, d, "strace -f -o /dev/null ~/hog/make 100 hold", 4) })
			AwaitNoScopes(t)
		})
	}
}

// lateMake builds with four compilers at once: some may have begun before the
// job was there, none may stay outside.
func lateMake(t *testing.T, d *Daemon) {
	d.Use(t)
	s := Login(t, "pi")
	dir := CProject(t, "pi", 24)
	s.Must("cd " + dir)
	before := len(d.Events())
	scopes := WatchScopes(t)
	out, status := s.RunWithin(10*time.Minute, "make -s -j4")
	if status != 0 {
		t.Fatalf("make ended with %d\n%s", status, out)
	}
	if seen := scopes.Stop(); len(seen) != 1 {
		t.Errorf("scopes %v, want one", seen)
	}
	inside, outside := false, 0
	for i, c := range CompilerCgroups(t, dir) {
		switch {
		case c.InJob():
			inside = true
		case !inside:
			outside++
		default:
			// Four run at once and note where they are in any order.
			if i > outside+4 {
				t.Errorf("compiler %d ran in %s, after %d that had to", i, c, outside)
			}
		}
	}
	if !inside {
		t.Error("no compiler ran in the job")
	}
	events := d.Events()[before:]
	placed := Of(events, "placed")
	if len(placed) != 1 {
		t.Fatalf("%d jobs, want one:\n%s", len(placed), tellEvents(events))
	}
	t.Logf("%d compilers ran before the job was there; %d processes were moved", outside, placed[0].Moved)
}

// lateHog takes memory while it is found and moved: that memory stays where it
// was, so the cap must be lower by as much.
func lateHog(t *testing.T, d *Daemon, line string, leastMB float64) {
	d.Use(t)
	s := Login(t, "pi")
	session := CgroupOf(s.PID)
	old, before := session.Field(t, "memory.stat", "anon"), len(d.Events())
	s.Send(line + "\n")
	placed := d.Await("the hog was placed", before, func(e Event) bool { return e.Event == "placed" })
	captured := d.Await("the hog was captured", before, func(e Event) bool { return e.Event == "captured" && e.Job == placed.Job })
	scope := Cgroup("/user.slice/user-1000.slice/" + placed.Unit)
	Eventually(t, patience, func() string {
		kb, err := ProcessMemory(placed.PID)
		if err != nil || kb < 100<<10 {
			return "the hog does not have its 100 MB"
		}
		return ""
	})
	if placed.CaughtRSSMB == nil {
		t.Fatal("what was touched before the move is not told")
	}
	caught, charged := *placed.CaughtRSSMB, float64(session.Field(t, "memory.stat", "anon")-old)/(1<<20)
	t.Logf("touched before the move: %.1f MB by the governor, %.1f MB by the old cgroup; cap %d MB, granted %d MB",
		caught, charged, placed.MemoryCapMB, captured.MemoryCapMB)
	if caught < leastMB {
		t.Errorf("%.1f MB were touched before the move, want %v at least", caught, leastMB)
	}
	// The shell's own fork and strace are in the old cgroup's figure too, and pages that
	// a CPU had charged ahead.
	if diff := caught - charged; diff < -8 || diff > 4 {
		t.Errorf("%.1f MB by the governor's account, %.1f MB by the old cgroup's", caught, charged)
	}
	if diff := float64(captured.MemoryCapMB-placed.MemoryCapMB) - caught; diff < -2 || diff > 2 {
		t.Errorf("the cap went from %d MB to %d MB for %.1f MB touched before", captured.MemoryCapMB, placed.MemoryCapMB, caught)
	}
	if n := scope.Value(t, "memory.max"); n != placed.MemoryCapMB<<20 {
		t.Errorf("memory.max is %d, told was %d MB", n, placed.MemoryCapMB)
	}
	s.Send("\x03")
	if _, status := s.Wait(patience); status != 130 {
		t.Errorf("Ctrl-C gives %d", status)
	}
}
