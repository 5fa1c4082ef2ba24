//go:build linux

package contain_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/loader/proc"
)

func TestRelease(t *testing.T) {
	needRoot(t)
	c := startCounter(t)
	r := startRig(t, contain.Options{}, nil)
	for range 20 {
		tr := r.catch(t, c.id)
		if got := tr.State(); got != contain.Stopped {
			t.Fatalf("state %v (%v), want stopped", got, tr.Err())
		}
		if got := c.state(); got != 't' {
			t.Errorf("the kernel shows it in state %q, want 't'", got)
		}
		before := c.get(rounds)
		time.Sleep(2 * time.Millisecond)
		if got := c.get(rounds); got != before {
			t.Errorf("%d rounds while it was stopped", got-before)
		}
		select {
		case <-tr.Done():
			t.Fatal("done before the release")
		default:
		}
		tr.Release()
		tr.Release()
		waitDone(t, tr, contain.Released)
		if tr.Late() || tr.ID() != c.id {
			t.Errorf("late %v, id %v, want %v in time", tr.Late(), tr.ID(), c.id)
		}
		if after, held := tr.StoppedAfter(), tr.StoppedFor(); after <= 0 || held < 2*time.Millisecond {
			t.Errorf("stopped after %v for %v", after, held)
		}
		c.runsOn(t)
	}
}

func TestBound(t *testing.T) {
	needRoot(t)
	c := startCounter(t)
	r := startRig(t, contain.Options{Bound: 30 * time.Millisecond}, nil)
	tr := r.catch(t, c.id)
	waitDone(t, tr, contain.Late)
	if held := tr.StoppedFor(); !tr.Late() || held < 25*time.Millisecond || held > 2*time.Second {
		t.Errorf("late %v, held for %v, want 30 ms", tr.Late(), held)
	}
	tr.Release()
	c.runsOn(t)
}

// A holder that gets on has the bound again, up to four in all.
func TestProgressPutsTheBoundOff(t *testing.T) {
	needRoot(t)
	const bound = 100 * time.Millisecond
	c := startCounter(t)
	r := startRig(t, contain.Options{Bound: bound}, nil)
	tr := r.catch(t, c.id)
	begin := time.Now()
	for time.Since(begin) < 10*bound && !tr.Late() {
		tr.Progress()
		time.Sleep(bound / 10)
	}
	waitDone(t, tr, contain.Late)
	if held := tr.StoppedFor(); held < 3*bound || held > 9*bound {
		t.Errorf("held for %v with progress all the time, want about %v", held, 4*bound)
	}
	c.runsOn(t)
}

// What cannot be stopped is delivered all the same, once.
func TestNotStopped(t *testing.T) {
	needRoot(t)
	c := startCounter(t, "sleep")
	gone := startCounter(t, "sleep")
	gone.kill(unix.SIGKILL)
	gone.status(t)
	for _, tt := range []struct {
		name  string
		edit  func(*contain.Catch)
		state contain.State
		is    error
	}{
		{"no stop asked for", func(k *contain.Catch) { k.Stop = false }, contain.NotStopped, nil},
		{"ended", func(k *contain.Catch) { k.ID = gone.id }, contain.Gone, nil},
		{"ended, all threads", func(k *contain.Catch) { k.ID, k.AllThreads = gone.id, true }, contain.Gone, nil},
		{"another process's pid by now", func(k *contain.Catch) { k.ID.Start++ }, contain.Gone, proc.ErrGone},
		{"pid 0", func(k *contain.Catch) { k.ID.PID = 0 }, contain.Refused, nil},
		{"negative pid", func(k *contain.Catch) { k.ID.PID = -c.id.PID }, contain.Refused, nil},
		{"pid 1", func(k *contain.Catch) { k.ID.PID = 1 }, contain.Refused, nil},
		{"itself", func(k *contain.Catch) { k.ID.PID = os.Getpid() }, contain.Refused, nil},
		{"kernel thread", func(k *contain.Catch) { k.ID.PID = 2 }, contain.Refused, unix.EPERM},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "kernel thread" {
				if stat, err := procFS.Stat(2); err != nil || stat.Comm != "kthreadd" {
					t.Skip("pid 2 is no kernel thread here (a pid namespace)")
				}
			}
			r := startRig(t, contain.Options{}, tt.edit)
			tr := r.catch(t, c.id)
			waitDone(t, tr, tt.state)
			if tt.is != nil && !errors.Is(tr.Err(), tt.is) {
				t.Errorf("error %v, want %v", tr.Err(), tt.is)
			}
			if tr.StoppedAfter() != 0 || tr.StoppedFor() != 0 {
				t.Errorf("stopped after %v for %v, but it never was", tr.StoppedAfter(), tr.StoppedFor())
			}
			r.stop(t)
			if n := len(r.caught); n != 0 {
				t.Errorf("delivered %d times more", n)
			}
			c.runsOn(t)
			if got := c.tracer(); got != "0" {
				t.Errorf("still traced by %s", got)
			}
		})
	}
}

func TestStartUnknown(t *testing.T) {
	needRoot(t)
	c := startCounter(t)
	r := startRig(t, contain.Options{}, nil)
	tr := r.catch(t, proc.ID{PID: c.id.PID})
	if tr.State() != contain.Stopped || tr.ID() != c.id {
		t.Errorf("%v %v, want %v stopped", tr.ID(), tr.State(), c.id)
	}
	tr.Release()
	waitDone(t, tr, contain.Released)
}

// traceElsewhere has a thread of this process, that is not a tracer's, trace
// pid until the test ends.
func traceElsewhere(t *testing.T, pid int) {
	seized, quit, left := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := unix.PtraceSeize(pid)
		seized <- err
		if <-quit; err == nil {
			var status unix.WaitStatus
			unix.PtraceInterrupt(pid)
			unix.Wait4(pid, &status, unix.WALL, nil)
			unix.PtraceDetach(pid)
		}
	}()
	t.Cleanup(func() { close(quit); <-left })
	if err := <-seized; err != nil {
		t.Fatal(err)
	}
}

func TestTracedByAnother(t *testing.T) {
	needRoot(t)
	c := startCounter(t)
	traceElsewhere(t, c.id.PID)
	for _, all := range []bool{false, true} {
		r := startRig(t, contain.Options{}, func(k *contain.Catch) { k.AllThreads = all })
		tr := r.catch(t, c.id)
		waitDone(t, tr, contain.Refused)
		if !errors.Is(tr.Err(), unix.EPERM) || errors.Is(tr.Err(), contain.ErrHeld) {
			t.Errorf("all threads %v: error %v, want EPERM", all, tr.Err())
		}
		c.runsOn(t)
	}
}

// A second exec of a process that is held already (a script whose interpreter
// is env) is not a second catch.
func TestHeldAlready(t *testing.T) {
	needRoot(t)
	c := startCounter(t)
	r := startRig(t, contain.Options{}, nil)
	x := proc.Exec{ID: c.id, Seen: time.Now()}
	r.feed.push(x, x)
	// The first is delivered when it has stopped, the second as it is refused.
	first, second := r.next(t), r.next(t)
	if first.State() == contain.Refused {
		first, second = second, first
	}
	if !errors.Is(second.Err(), contain.ErrHeld) || second.State() != contain.Refused {
		t.Errorf("second: %v (%v), want refused as held", second.State(), second.Err())
	}
	if first.State() != contain.Stopped {
		t.Errorf("first: %v (%v)", first.State(), first.Err())
	}
	second.Release()
	first.Release()
	waitDone(t, first, contain.Released)
}

func TestEndLetsGo(t *testing.T) {
	needRoot(t)
	var all []*child
	for range 5 {
		all = append(all, startCounter(t))
	}
	for _, tt := range []struct {
		name string
		end  func(*rig)
		want error
	}{
		{"context", func(r *rig) { r.cancel() }, nil},
		{"feed", func(r *rig) { r.feed.end(errFeed) }, errFeed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := startRig(t, contain.Options{Bound: time.Minute}, nil)
			var held []*contain.Tracee
			for _, c := range all {
				held = append(held, r.catch(t, c.id))
			}
			tt.end(r)
			if err := <-r.ended; !errors.Is(err, tt.want) {
				t.Errorf("Run: %v, want %v", err, tt.want)
			}
			r.ended <- nil
			for i, tr := range held {
				select {
				case <-tr.Done():
				default:
					t.Error("Run returned before all were let go")
				}
				waitDone(t, tr, contain.Late)
				if !errors.Is(tr.Err(), contain.ErrEnded) || !tr.Late() {
					t.Errorf("error %v, late %v", tr.Err(), tr.Late())
				}
				tr.Release()
				all[i].runsOn(t)
			}
		})
	}
}

// One tracer outlives its feeds; orders given between two runs wait.
func TestRunAgain(t *testing.T) {
	needRoot(t)
	c := startCounter(t)
	tracer := contain.NewTracer(contain.Options{FS: procFS})
	caught := make(chan *contain.Tracee, 1)
	judge := func(x *proc.Exec) *contain.Catch {
		return &contain.Catch{ID: x.ID, Stop: true, Deliver: func(tr *contain.Tracee) { caught <- tr }}
	}
	for range 3 {
		feed := newFakeFeed(t)
		tracer.Call(func() { tracer.Consider(&proc.Exec{ID: c.id, Source: "poll"}) })
		ended := make(chan error)
		go func() { ended <- tracer.Run(t.Context(), feed, judge) }()
		tr := <-caught
		if err := tracer.Run(t.Context(), feed, judge); err == nil {
			t.Error("two runs at once")
		}
		tr.Release()
		waitDone(t, tr, contain.Released)
		feed.end(errFeed)
		if err := <-ended; err != errFeed {
			t.Errorf("Run: %v, want the feed's error", err)
		}
	}
}

// hungFeed is readable, in error and empty, for ever.
type hungFeed struct{ fd int }

func (f hungFeed) FD() int                     { return f.fd }
func (f hungFeed) Read(func(*proc.Exec)) error { return nil }

func TestDeadFeed(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w.Close()
	tracer := contain.NewTracer(contain.Options{FS: procFS})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := tracer.Run(ctx, hungFeed{int(r.Fd())}, nil); err == nil {
		t.Error("a dead descriptor kept the thread turning")
	}
	if err := tracer.Run(ctx, hungFeed{-1}, nil); err == nil {
		t.Error("no descriptor, no error")
	}
}
