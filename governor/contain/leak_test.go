//go:build linux

package contain_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/governor/contain"
)

func count(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// Runs leave neither descriptors nor threads.
func TestNothingLeaks(t *testing.T) {
	needRoot(t)
	c := startCounter(t)
	once := func() {
		feed := newFakeFeed(t)
		tracer := contain.NewTracer(contain.Options{FS: procFS})
		ended := make(chan error)
		go func() { ended <- tracer.Run(t.Context(), feed, nil) }()
		feed.end(errFeed)
		<-ended
		unix.Close(feed.fd)
		feed.fd = -1
		r := startRig(t, contain.Options{}, nil)
		tr := r.catch(t, c.id)
		tr.Release()
		waitDone(t, tr, contain.Released)
		r.stop(t)
		unix.Close(r.feed.fd)
		r.feed.fd = -1
	}
	for range 5 {
		once()
	}
	fds, threads := count(t, "/proc/self/fd"), count(t, "/proc/self/task")
	for range 30 {
		once()
	}
	if got := count(t, "/proc/self/fd"); got > fds {
		t.Errorf("%d descriptors, %d before", got, fds)
	}
	// The runtime may start a few of its own; those of 60 runs would show.
	eventually(t, "the threads of the runs have ended", func() bool { return count(t, "/proc/self/task") <= threads+5 })
}

// switches is how often the thread in SCHED_FIFO went to sleep; ok is false
// where there is none.
func switches(t *testing.T) (n string, ok bool) {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range tasks {
		data, err := os.ReadFile(strings.TrimSuffix(path, "status") + "stat")
		if err != nil {
			continue
		}
		// Field 41, the 39th after the name, is the policy.
		_, rest, _ := strings.Cut(string(data), ") ")
		if f := strings.Fields(rest); len(f) < 39 || f[38] != "1" {
			continue
		}
		status, _ := os.ReadFile(path)
		_, line, _ := strings.Cut(string(status), "\nvoluntary_ctxt_switches:")
		n, _, _ := strings.Cut(line, "\n")
		return n, true
	}
	return "", false
}

// With nothing to do, and after a catch, the thread sleeps without a timeout.
func TestIdleSleeps(t *testing.T) {
	needRoot(t)
	c := startCounter(t)
	r := startRig(t, contain.Options{Priority: true}, nil)
	tr := r.catch(t, c.id)
	tr.Release()
	waitDone(t, tr, contain.Released)
	time.Sleep(20 * time.Millisecond)
	before, ok := switches(t)
	if !ok {
		t.Skipf("SCHED_FIFO is needed to tell the thread from others; it runs as %s", r.Priority())
	}
	time.Sleep(200 * time.Millisecond)
	if after, _ := switches(t); after != before {
		t.Errorf("an idle tracer woke up: %s sleeps, %s before", after, before)
	}
}
