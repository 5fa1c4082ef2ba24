//go:build linux

package contain_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/loader/proc"
)

const killed = 128 + int(syscall.SIGKILL)

// SIGKILL at each step of a catch: the real parent is told, always.
func TestKilledAtEachStep(t *testing.T) {
	needRoot(t)
	for _, all := range []bool{false, true} {
		for _, step := range []string{"judged", "stopped", "delivered", "released", "held to the bound", "tracer ends"} {
			name := step
			if all {
				name += ", all threads"
			}
			t.Run(name, func(t *testing.T) {
				for range 5 {
					killAt(t, step, all)
				}
			})
		}
	}
}

func killAt(t *testing.T, step string, all bool) {
	c := startCounter(t, "busy")
	o := contain.Options{}
	if step == "held to the bound" {
		o.Bound = 50 * time.Millisecond
	}
	r := startRig(t, o, func(k *contain.Catch) {
		k.AllThreads = all
		if step == "judged" {
			c.kill(syscall.SIGKILL)
		}
		if deliver := k.Deliver; step == "stopped" {
			k.Deliver = func(tr *contain.Tracee) { c.kill(syscall.SIGKILL); deliver(tr) }
		}
	})
	tr := r.catch(t, c.id)
	switch step {
	case "delivered":
		c.kill(syscall.SIGKILL)
	case "released":
		tr.Release()
		c.kill(syscall.SIGKILL)
	case "held to the bound":
		time.Sleep(49 * time.Millisecond)
		c.kill(syscall.SIGKILL)
	case "tracer ends":
		r.cancel()
		c.kill(syscall.SIGKILL)
	}
	// The parent first: it must not depend on the holder's doing anything.
	if got := c.status(t); got != killed {
		t.Fatalf("the parent saw status %d, want %d", got, killed)
	}
	<-tr.Done()
	switch got := tr.Outcome(); {
	case got == contain.Reaped, got == contain.Gone && step == "judged":
	case got == contain.Released && step == "released":
	case got == contain.Late && (step == "held to the bound" || step == "tracer ends"):
	default:
		t.Errorf("outcome %v (%v)", got, tr.Err())
	}
	r.stop(t)
}

// The same at random moments, many at once.
func TestKilledAtRandom(t *testing.T) {
	needRoot(t)
	r := startRig(t, contain.Options{}, nil)
	outcomes := map[contain.State]int{}
	for range 100 {
		c := startCounter(t, "busy")
		go func() {
			pause(600 * time.Microsecond)
			c.kill(syscall.SIGKILL)
		}()
		pause(50 * time.Microsecond)
		tr := r.catch(t, c.id)
		pause(100 * time.Microsecond)
		tr.Release()
		if got := c.status(t); got != killed {
			t.Fatalf("the parent saw status %d, want %d", got, killed)
		}
		<-tr.Done()
		outcomes[tr.Outcome()]++
	}
	t.Log(outcomes)
}

// Many processes held at once, and all killed before a word is said.
func TestKilledTogether(t *testing.T) {
	needRoot(t)
	r := startRig(t, contain.Options{}, nil)
	var all []*child
	var execs []proc.Exec
	for range 20 {
		c := startCounter(t, "sleep")
		all = append(all, c)
		execs = append(execs, proc.Exec{ID: c.id, Seen: time.Now()})
	}
	r.feed.push(execs...)
	var held []*contain.Tracee
	for range all {
		held = append(held, r.next(t))
	}
	for _, c := range all {
		c.kill(syscall.SIGKILL)
	}
	for i, c := range all {
		if got := c.status(t); got != killed {
			t.Errorf("the parent saw status %d, want %d", got, killed)
		}
		waitDone(t, held[i], contain.Reaped)
	}
}
