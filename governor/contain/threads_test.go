//go:build linux

package contain_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
)

func allThreads(k *contain.Catch) { k.AllThreads = true }

// threadStates are the letters of all threads of a process.
func threadStates(t *testing.T, pid int) []byte {
	t.Helper()
	tids, err := procFS.Threads(pid)
	if err != nil {
		t.Fatal(err)
	}
	var states []byte
	for _, tid := range tids {
		stat, err := procFS.Stat(tid)
		if err != nil {
			states = append(states, '-')
			continue
		}
		states = append(states, stat.State)
	}
	slices.Sort(states)
	return states
}

// Threads that start threads all the time: at the stop not one runs, and none
// starts; after it all go on.
func TestAllThreads(t *testing.T) {
	needRoot(t)
	c := startChild(t, program(t, "threads", "-pthread"), "churn")
	eventually(t, "threads have started", func() bool { return len(threadStates(t, c.id.PID)) > 4 })
	r := startRig(t, contain.Options{}, allThreads)
	for range 50 {
		tr := r.catch(t, c.id)
		if tr.State() != contain.Stopped {
			t.Fatalf("state %v (%v)", tr.State(), tr.Err())
		}
		before, err := procFS.Threads(c.id.PID)
		if err != nil {
			t.Fatal(err)
		}
		for _, state := range threadStates(t, c.id.PID) {
			if state != 't' {
				t.Fatalf("threads in states %q, want all in 't'", threadStates(t, c.id.PID))
			}
		}
		time.Sleep(time.Millisecond)
		after, err := procFS.Threads(c.id.PID)
		if err != nil || !slices.Equal(before, after) {
			t.Fatalf("threads %v, a millisecond later %v (%v)", before, after, err)
		}
		tr.Release()
		waitDone(t, tr, contain.Released)
	}
	eventually(t, "the threads churn on", func() bool { return !slices.Contains(threadStates(t, c.id.PID), 't') })
	if got := c.tracer(); got != "0" {
		t.Errorf("still traced by %s", got)
	}
}

func TestAllThreadsKilled(t *testing.T) {
	needRoot(t)
	path := program(t, "threads", "-pthread")
	for i := range 20 {
		c := startChild(t, path, "churn")
		r := startRig(t, contain.Options{}, allThreads)
		tr := r.catch(t, c.id)
		if i%2 == 0 {
			tr.Release()
		}
		c.kill(syscall.SIGKILL)
		if got := c.status(t); got != killed {
			t.Fatalf("the parent saw status %d, want %d", got, killed)
		}
		<-tr.Done()
		r.stop(t)
	}
}

// The first thread has ended and the others go on: the process is caught with
// or without AllThreads.
func TestZombieLeader(t *testing.T) {
	needRoot(t)
	for _, all := range []bool{false, true} {
		c := startChild(t, program(t, "threads", "-pthread"), "zombie")
		eventually(t, "the first thread has ended", func() bool { return c.state() == 'Z' })
		r := startRig(t, contain.Options{}, func(k *contain.Catch) { k.AllThreads = all })
		tr := r.catch(t, c.id)
		if tr.State() != contain.Stopped {
			t.Fatalf("state %v (%v)", tr.State(), tr.Err())
		}
		if got := string(threadStates(t, c.id.PID)); got != "Zttt" {
			t.Errorf("threads in states %q, want Zttt", got)
		}
		tr.Release()
		waitDone(t, tr, contain.Released)
		c.kill(syscall.SIGKILL)
		if got := c.status(t); got != killed {
			t.Errorf("the parent saw status %d, want %d", got, killed)
		}
	}
}

// A thread that is not the first calls exec: it takes the first one's pid,
// and the kernel takes the first away without a word to its tracer.
func TestExecByAnotherThread(t *testing.T) {
	needRoot(t)
	path := program(t, "threads", "-pthread")
	for i := range 40 {
		all := i%2 == 1
		c := startChild(t, path, "exec", "/bin/sleep", "60")
		eventually(t, "threads have started", func() bool { return len(threadStates(t, c.id.PID)) == 5 })
		r := startRig(t, contain.Options{}, func(k *contain.Catch) { k.AllThreads = all })
		if i%4 < 2 {
			go func() {
				pause(300 * time.Microsecond)
				c.stdin.Write([]byte("x"))
			}()
		}
		tr := r.catch(t, c.id)
		if i%4 >= 2 {
			c.stdin.Write([]byte("x"))
			if !all {
				eventually(t, "the exec has happened", func() bool { return isExe(c.id.PID, "/bin/sleep") })
			}
		}
		tr.Release()
		select {
		case <-tr.Done():
		case <-time.After(5 * time.Second):
			t.Fatalf("round %d: not done: %v", i, tr.State())
		}
		eventually(t, "the exec has happened", func() bool { return isExe(c.id.PID, "/bin/sleep") })
		eventually(t, "it sleeps, untraced", func() bool { return c.state() == 'S' && c.tracer() == "0" })
		// The same process still, by pid and start time: it can be caught again.
		tr = r.catch(t, c.id)
		if tr.State() != contain.Stopped {
			t.Fatalf("round %d: caught again: %v (%v)", i, tr.State(), tr.Err())
		}
		tr.Release()
		waitDone(t, tr, contain.Released)
		c.kill(syscall.SIGKILL)
		if got := c.status(t); got != killed {
			t.Fatalf("the parent saw status %d, want %d", got, killed)
		}
		r.stop(t)
	}
}

func isExe(pid int, want string) bool {
	got, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
	w, werr := os.Stat(want)
	return errors.Join(err, werr) == nil && os.SameFile(got, w)
}
