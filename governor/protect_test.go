package governor

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headroomd/headroomd/governor/journal"
)

func TestFindUnits(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"system.slice/ssh.service", "user.slice/user-1000.slice/user@1000.service/app.slice/hermes.service", "machine.slice"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	got := findUnits(root, []string{"ssh.service", "sshd.service", "hermes.service", "machine.slice"})
	want := map[string]string{
		"ssh.service": "/system.slice/ssh.service", "machine.slice": "/machine.slice",
		"hermes.service": "/user.slice/user-1000.slice/user@1000.service/app.slice/hermes.service",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := findUnits("", []string{"ssh.service"}); len(got) != 0 {
		t.Errorf("without cgroups: %v", got)
	}
}

// A protected unit stands still while memory is tight, though not below the
// line: somebody is stopped for it.
func TestProtectedUnitIsHurt(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "system.slice/ssh.service")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	stall := func(us string) {
		text := "some avg10=0.00 avg60=0.00 avg300=0.00 total=" + us + "\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=" + us + "\n"
		next := filepath.Join(root, "next")
		if err := os.WriteFile(next, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, filepath.Join(dir, "memory.pressure")); err != nil {
			t.Fatal(err)
		}
	}
	stall("0")
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *Options) { o.Cgroups = root })
		w.start()
		defer w.stop()
		w.caught(200, "npm", "test")
		w.after(time.Second)
		w.proc.change(200, func(n *fakeProcess) { n.rssMB = 100 })
		w.after(5 * time.Second)
		w.memory.mu.Lock()
		w.memory.reading.MemAvailable = 200 << 20
		w.memory.mu.Unlock()
		w.after(3 * time.Second)
		if n := len(w.ledger.of(journal.WatchStop)); n != 0 {
			t.Fatalf("%d stopped before anything was hurt", n)
		}
		for _, us := range []string{"900000", "1800000", "2700000", "3600000"} {
			stall(us)
			w.after(time.Second)
		}
		stopped := w.ledger.of(journal.WatchStop)
		if len(stopped) != 1 || stopped[0].PID != 200 {
			t.Errorf("stopped %+v, want pid 200", stopped)
		}
	})
}
