//go:build linux

package contain_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/contain/fault"
	"github.com/headroomd/headroomd/loader/proc"
)

// steps are the fault points of a catch, in their order.
var steps = []string{"read", "judged", "seized", "interrupted", "stopped", "delivered", "released", "detached"}

// TestFaultPoints runs the tests below with the fault points built in.
func TestFaultPoints(t *testing.T) {
	needRoot(t)
	program(t, "counter") // skips here, in the open
	if fault.Enabled {
		t.Skip("runs in the build without them")
	}
	gotool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go command, to build the fault points in")
	}
	cmd := exec.CommandContext(t.Context(), gotool, "test", "-count=1", "-timeout=2m", "-tags=faultpoints", "-run=^TestFault(TracerKilled|TraceeKilled|Slow)$", "-v", ".")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// tracerFor is a process of its own that catches pid and releases it.
func tracerFor(t *testing.T, pid int, faults string, all bool) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestTracerProcess$", "-test.timeout=30s")
	cmd.Env = append(os.Environ(), fmt.Sprintf("CONTAIN_TEST_PID=%d", pid), fmt.Sprintf("CONTAIN_TEST_ALL=%v", all), "HEADROOMD_FAULT="+faults)
	return cmd
}

// TestTracerProcess is no test but that process. It exits with 20 and the
// outcome.
func TestTracerProcess(t *testing.T) {
	pid, err := strconv.Atoi(os.Getenv("CONTAIN_TEST_PID"))
	if err != nil {
		t.Skip("only as a process that another test starts")
	}
	stat, err := procFS.Stat(pid)
	if err != nil {
		t.Fatal(err)
	}
	all := os.Getenv("CONTAIN_TEST_ALL") == "true"
	tracer := contain.NewTracer(contain.Options{FS: procFS, Priority: true})
	caught := make(chan *contain.Tracee, 1)
	ctx, cancel := context.WithCancel(context.Background())
	feed := newFakeFeed(t)
	feed.push(proc.Exec{ID: stat.ID, Seen: time.Now()})
	ended := make(chan error)
	go func() {
		ended <- tracer.Run(ctx, feed, func(x *proc.Exec) *contain.Catch {
			return &contain.Catch{ID: x.ID, Stop: true, AllThreads: all, Deliver: func(tr *contain.Tracee) { caught <- tr }}
		})
	}()
	tr := <-caught
	tr.Release()
	<-tr.Done()
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	os.Exit(20 + int(tr.Outcome()))
}

// exit is a process's exit status, or minus the signal that ended it.
func exit(t *testing.T, err error) int {
	t.Helper()
	var ee *exec.ExitError
	if !errors.As(err, &ee) {
		t.Fatalf("the tracer: %v", err)
	}
	ws := ee.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return -int(ws.Signal())
	}
	return ws.ExitStatus()
}

func eachStep(t *testing.T, run func(t *testing.T, step string, all bool)) {
	if !fault.Enabled {
		t.Skip("TestFaultPoints runs it, with the fault points built in")
	}
	needRoot(t)
	for _, all := range []bool{false, true} {
		for _, step := range steps {
			t.Run(fmt.Sprintf("%s, all threads %v", step, all), func(t *testing.T) { run(t, step, all) })
		}
	}
}

// The tracer dies at each step: the process goes on, untraced, with its
// signals as they were.
func TestFaultTracerKilled(t *testing.T) {
	eachStep(t, func(t *testing.T, step string, all bool) {
		for _, mode := range []string{"busy", "sleep"} {
			c := startCounter(t, mode)
			if got := exit(t, tracerFor(t, c.id.PID, step+":self-kill", all).Run()); got != -int(syscall.SIGKILL) {
				t.Fatalf("the tracer ended with %d, want to be killed at %q", got, step)
			}
			eventually(t, "it is traced by nobody", func() bool { return c.tracer() == "0" })
			c.runsOn(t)
			c.kill(syscall.SIGTERM)
			eventually(t, "a signal arrives", func() bool { return c.get(terms) == 1 })
			// And the next tracer, after a restart, can hold it.
			if got := exit(t, tracerFor(t, c.id.PID, "", all).Run()); got != 20+int(contain.Released) && got != 20+int(contain.Late) {
				t.Errorf("the next tracer ended with %d", got)
			}
			c.runsOn(t)
		}
	})
}

// The process is killed at each step: its parent is told, and the tracer ends
// with nothing in its hands.
func TestFaultTraceeKilled(t *testing.T) {
	eachStep(t, func(t *testing.T, step string, all bool) {
		c := startCounter(t, "busy")
		got := exit(t, tracerFor(t, c.id.PID, step+":tracee-kill", all).Run())
		if got < 20 {
			t.Errorf("the tracer ended with %d", got)
		}
		if got := c.status(t); got != killed {
			t.Errorf("the parent saw status %d, want %d", got, killed)
		}
	})
}

// A tracer that is slow at a step: the process is let go all the same, and
// with SIGTERM sent meanwhile.
func TestFaultSlow(t *testing.T) {
	eachStep(t, func(t *testing.T, step string, all bool) {
		c := startCounter(t, "busy")
		tracer := tracerFor(t, c.id.PID, step+":sleep=300", all)
		if err := tracer.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		c.kill(syscall.SIGTERM)
		got := contain.State(exit(t, tracer.Wait()) - 20)
		// Where the holder's word and the bound are both due, either is right.
		if got != contain.Released && got != contain.Late {
			t.Errorf("outcome %v", got)
		}
		eventually(t, "the signal arrives", func() bool { return c.get(terms) == 1 })
		c.runsOn(t)
	})
}
