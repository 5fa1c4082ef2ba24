//go:build linux

package contain_test

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
)

// pause waits for a random part of d, without sleeping: a sleep is 50 µs at
// least, which is longer than a catch takes to stop a process.
func pause(d time.Duration) {
	for end := time.Now().Add(rand.N(d)); time.Now().Before(end); {
	}
}

// Signals at random moments around a catch: each arrives, and once.
func TestSignalsAreKept(t *testing.T) {
	needRoot(t)
	for _, tt := range []struct {
		name  string
		mode  string
		count int
	}{
		{"busy", "busy", 1000},
		{"sleeping", "sleep", 1000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := startCounter(t, tt.mode)
			r := startRig(t, contain.Options{}, nil)
			outcomes := map[contain.State]int{}
			for i := range tt.count {
				go func() {
					pause(300 * time.Microsecond)
					c.kill(syscall.SIGTERM)
				}()
				pause(100 * time.Microsecond)
				tr := r.catch(t, c.id)
				pause(200 * time.Microsecond)
				tr.Release()
				<-tr.Done()
				outcomes[tr.Outcome()]++
				eventually(t, "the SIGTERM arrives", func() bool { return c.get(terms) == uint32(i+1) })
			}
			if outcomes[contain.Released] != tt.count {
				t.Errorf("outcomes %v, want all released", outcomes)
			}
			c.runsOn(t)
		})
	}
}

// A process that is sent SIGSTOP around a catch stays stopped after it, and
// SIGCONT sets it going; in every order of these and the release.
func TestStopsAreKept(t *testing.T) {
	needRoot(t)
	c := startCounter(t, "busy")
	r := startRig(t, contain.Options{}, nil)
	for i := range 300 {
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			pause(300 * time.Microsecond)
			c.kill(syscall.SIGSTOP)
		}()
		pause(100 * time.Microsecond)
		tr := r.catch(t, c.id)
		pause(200 * time.Microsecond)
		early := i%3 == 0 // SIGCONT before the release
		if early {
			<-sent
			c.kill(syscall.SIGCONT)
		}
		tr.Release()
		waitDone(t, tr, contain.Released)
		<-sent
		if !early {
			eventually(t, "the process is stopped", func() bool { return c.state() == 'T' })
			at := c.get(rounds)
			if i%20 == 1 {
				// A second catch, of a process that stands in a group-stop.
				tr := r.catch(t, c.id)
				if tr.State() != contain.Stopped {
					t.Fatalf("stopped process: %v (%v)", tr.State(), tr.Err())
				}
				tr.Release()
				waitDone(t, tr, contain.Released)
				eventually(t, "it is stopped again", func() bool { return c.state() == 'T' })
			}
			if got := c.get(rounds); got != at {
				t.Fatalf("%d rounds while it was stopped", got-at)
			}
			c.kill(syscall.SIGCONT)
		}
		eventually(t, "the SIGCONT arrives", func() bool { return c.get(conts) == uint32(i+1) })
		c.runsOn(t)
	}
}

// Ctrl-Z: the default action stops, a handler counts; both as without a catch.
func TestTerminalStop(t *testing.T) {
	needRoot(t)
	r := startRig(t, contain.Options{}, nil)
	plain, handler := startCounter(t, "sleep"), startCounter(t, "busy", "tstp")
	for i := range 50 {
		tr := r.catch(t, handler.id)
		handler.kill(syscall.SIGTSTP)
		tr.Release()
		waitDone(t, tr, contain.Released)
		eventually(t, "the handler has counted", func() bool { return handler.get(tstps) == uint32(i+1) })
	}
	// Its group is not orphaned, so SIGTSTP does stop.
	tr := r.catch(t, plain.id)
	plain.kill(syscall.SIGTSTP)
	tr.Release()
	waitDone(t, tr, contain.Released)
	eventually(t, "it is stopped", func() bool { return plain.state() == 'T' })
	plain.kill(syscall.SIGCONT)
	plain.runsOn(t)
}

// A fatal signal during the catch ends the process at the release, and its
// real parent hears which signal it was.
func TestFatalSignal(t *testing.T) {
	needRoot(t)
	r := startRig(t, contain.Options{}, nil)
	for range 30 {
		c := startCounter(t, "busy")
		tr := r.catch(t, c.id)
		c.kill(syscall.SIGINT + 1) // SIGQUIT; a background job of a shell ignores both
		c.kill(syscall.SIGUSR1)
		tr.Release()
		waitDone(t, tr, contain.Released)
		if got, want := c.status(t), 128+int(syscall.SIGUSR1); got != want {
			t.Fatalf("the parent saw status %d, want %d", got, want)
		}
	}
}
