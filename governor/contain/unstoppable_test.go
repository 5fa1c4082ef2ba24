//go:build linux

package contain_test

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
)

// inVfork starts a process that no stop reaches for the seconds given.
func inVfork(t *testing.T, seconds string) *child {
	c := startChild(t, program(t, "vfork"), seconds)
	eventually(t, "it waits in vfork", func() bool { return c.state() == 'D' })
	return c
}

// The bound passes before the process has stopped: its holder is told, once,
// and it is let go as soon as it stops.
func TestCannotBeStopped(t *testing.T) {
	needRoot(t)
	c := inVfork(t, "0.5")
	r := startRig(t, contain.Options{Bound: 30 * time.Millisecond}, nil)
	tr := r.catch(t, c.id)
	if tr.State() != contain.Late || !tr.Late() || tr.StoppedAfter() != 0 {
		t.Errorf("delivered as %v, stopped after %v", tr.State(), tr.StoppedAfter())
	}
	select {
	case <-tr.Done():
		t.Error("let go before it stopped")
	default:
	}
	waitDone(t, tr, contain.Late)
	eventually(t, "it goes on, untraced", func() bool { return c.state() == 'S' && c.tracer() == "0" })
	c.kill(syscall.SIGKILL)
	if got := c.status(t); got != killed {
		t.Errorf("the parent saw status %d, want %d", got, killed)
	}
	r.stop(t)
	if n := len(r.caught); n != 0 {
		t.Errorf("delivered %d times more", n)
	}
}

// The tracer ends before the process has stopped: the end of its thread lets
// it go.
func TestEndBeforeTheStop(t *testing.T) {
	needRoot(t)
	c := inVfork(t, "3")
	r := startRig(t, contain.Options{Bound: 30 * time.Millisecond}, nil)
	tr := r.catch(t, c.id)
	r.stop(t)
	select {
	case <-tr.Done():
	default:
		t.Fatal("Run returned before all were let go")
	}
	if got := c.tracer(); got != "0" {
		t.Errorf("still traced by %s", got)
	}
	if c.state() != 'D' {
		t.Skip("the machine was so slow that it stopped by itself")
	}
	if tr.Outcome() != contain.Late {
		t.Errorf("outcome %v (%v)", tr.Outcome(), tr.Err())
	}

	// And before anything was delivered.
	c = inVfork(t, "3")
	r = startRig(t, contain.Options{}, nil)
	r.feed.push(execOf(c))
	eventually(t, "it is seized", func() bool { return c.tracer() != "0" })
	r.stop(t)
	if tr = r.next(t); tr.Outcome() != contain.Late || !errors.Is(tr.Err(), contain.ErrEnded) {
		t.Errorf("never delivered before the end: %v (%v)", tr.Outcome(), tr.Err())
	}
}
