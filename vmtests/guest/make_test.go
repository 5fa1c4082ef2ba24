package guest

import (
	"testing"
	"time"
)

// TestMake: a build is one job with all its compilers, and costs one event.
func TestMake(t *testing.T) {
	InVM(t)
	const files = 200
	d := Daemon{}.Start(t)
	s := Login(t, "pi")
	dir := CProject(t, "pi", files)
	s.Must("cd " + dir)
	before := d.Status()
	if before.Source.Name != "bpf" {
		t.Errorf("the source is %q (%s), want bpf", before.Source.Name, before.Source.Why)
	}
	scopes := WatchScopes(t)
	start := time.Now()
	out, status := s.RunWithin(10*time.Minute, "make -s -j4")
	if status != 0 {
		t.Fatalf("make ended with %d\n%s", status, out)
	}
	t.Logf("make took %v", time.Since(start).Round(time.Second))
	after := d.Status()
	seen := scopes.Stop()
	if len(seen) != 1 {
		t.Errorf("scopes %v, want one", seen)
	}
	for i, c := range CompilerCgroups(t, dir) {
		if !c.InJob() {
			t.Fatalf("compiler %d ran in %s", i, c)
		}
	}
	if n := len(CompilerCgroups(t, dir)); n != files+2 {
		t.Errorf("%d compilers ran, want %d", n, files+2)
	}
	// Each compiler is a shell, gcc and cc1 and as: three execs at least.
	if n := after.Source.Seen - before.Source.Seen; n < 3*files {
		t.Errorf("the kernel saw %d execs, want at least %d", n, 3*files)
	}
	if n := after.Source.Reported - before.Source.Reported; n != 1 {
		t.Errorf("the kernel told of %d execs, want make's alone", n)
	}
	events := d.Events()
	if n := len(Of(events, "captured")); n != 1 || len(Of(events, "placed")) != 1 || len(Of(events, "joined")) != 0 {
		t.Errorf("events are not those of one job:\n%s", tellEvents(events))
	}
}
