//go:build linux

package contain

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/governor/contain/fault"
	"github.com/headroomd/headroomd/loader/proc"
)

const (
	// defaultBound is how long a process is held at most. Ctrl-C and SIGTERM
	// wait with it, so it is short; a scope took 55 to 145 ms to start in an
	// emulated machine.
	defaultBound = 250 * time.Millisecond
	// maxBounds is how many bounds a process is held at most, whatever
	// progress is told: 1 s.
	maxBounds = 4
	// spin is how long the thread looks for a stop without sleeping. A process
	// that runs on another CPU stops within some 10 µs; one on this CPU stops
	// only if this thread sleeps.
	spin = 30 * time.Microsecond
	// yieldScan is how often news is taken in while a feed goes on yielding.
	yieldScan = 500 * time.Microsecond
	// partingGrace is how long a tracer that ends waits for processes that
	// are in no stop yet, before it ends its thread instead.
	partingGrace = 200 * time.Millisecond
)

// Feed is a source of execs as the tracer's thread needs it. FD becomes
// readable when execs wait; Read hands what is ready to yield and does not
// block; its error means that the feed has ended.
type Feed interface {
	FD() int
	Read(yield func(*proc.Exec)) error
}

// Judge is asked about each exec, on the tracer's thread: it must not block.
// The Exec is valid only during the call. Nil means that nothing is to be done.
type Judge func(x *proc.Exec) *Catch

// Options of a tracer.
type Options struct {
	FS       proc.FS
	Bound    time.Duration // how long a process may be held; 0 is 250 ms
	Log      *slog.Logger  // nil discards
	Priority bool          // take SCHED_FIFO 1, or what comes nearest, and raise GOMAXPROCS
}

// Tracer reads execs and holds those processes that a judge names, for the
// milliseconds until their holder says Release. One OS thread does all of it,
// because only the thread that seized a process may let it go; it waits for
// nothing but its descriptors, so that no process runs free while another is
// being placed.
type Tracer struct {
	fs    proc.FS
	bound time.Duration
	log   *slog.Logger
	want  bool

	running  atomic.Bool
	priority atomic.Pointer[string]

	mu     sync.Mutex
	wakeFD int // -1 while nothing runs
	calls  []func()

	// Of the tracer's thread alone.
	judge      Judge
	considered uint64
	table      []*Tracee
	waiting    int // of the table: those with a thread that is yet to stop or die
	lastSeize  time.Time
	lastScan   time.Time
	status     uint32 // wait4's; here, so that it is not allocated for each
}

// NewTracer returns a tracer that does nothing until Run.
func NewTracer(o Options) *Tracer {
	if o.Bound <= 0 {
		o.Bound = defaultBound
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Tracer{fs: o.FS, bound: o.Bound, log: o.Log, want: o.Priority, wakeFD: -1}
}

// Run traces until ctx ends (nil) or the feed does (the feed's error), on a
// thread of its own that ends with it. Whatever the return, nothing is held
// after it: what was is let go as Late with ErrEnded. Run may be called again.
func (t *Tracer) Run(ctx context.Context, feed Feed, judge Judge) error {
	if t.running.Swap(true) {
		return errors.New("the tracer runs already")
	}
	defer t.running.Store(false)
	e, err := newEpoll(feed.FD())
	if err != nil {
		return err
	}
	defer e.close()
	t.setWake(e.wakeFD)
	defer t.setWake(-1)
	defer context.AfterFunc(ctx, t.wake)()

	t.judge = judge
	tid := make(chan int, 1)
	go onOwnThread(func() {
		t.setPriority()
		err = t.loop(ctx, e, feed)
		t.part()
		tid <- unix.Gettid()
	})
	t.afterThread(<-tid)
	return err
}

// onOwnThread runs f on an OS thread that ends afterwards. The kernel then
// lets go of every process that the thread still traces, also of those that
// are in no stop and that PTRACE_DETACH would refuse. The main thread is
// unfit, because Go does not let it end.
func onOwnThread(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		onOwnThread(f)
	}()
	<-done
	runtime.UnlockOSThread()
}

// afterThread closes what the thread could not let go by itself.
func (t *Tracer) afterThread(tid int) {
	if len(t.table) == 0 {
		return
	}
	for range 1000 {
		if unix.Tgkill(unix.Getpid(), tid, 0) == unix.ESRCH {
			break
		}
		time.Sleep(time.Millisecond)
	}
	for _, tr := range t.table {
		t.log.Warn("let go only by the end of the tracing thread", "pid", tr.id.PID)
		for i := range tr.threads {
			if !tr.threads[i].phase.ended() {
				tr.threads[i].phase = detached
			}
		}
		t.over(tr, time.Now())
	}
	clear(t.table)
	t.table = nil
}

func (t *Tracer) loop(ctx context.Context, e *epoll, feed Feed) error {
	consider := t.Consider
	for ctx.Err() == nil {
		ready, err := e.wait(t.timeout())
		if err != nil {
			return err
		}
		if ready.woken {
			t.runCalls()
		}
		if ready.feed {
			before := t.considered
			if err := feed.Read(consider); err != nil {
				return err
			}
			if ready.hungUp && t.considered == before {
				// A descriptor that stays readable with nothing to read would keep
				// this thread, which goes before all others, from ever sleeping.
				return errors.New("the feed's descriptor is dead")
			}
		}
		if len(t.table) > 0 {
			t.scan()
		}
	}
	return nil
}

// Consider judges x as if the feed had told of it. It may be called only from
// a function given to Call.
func (t *Tracer) Consider(x *proc.Exec) {
	t.considered++
	fault.At("read", x.ID.PID)
	if c := t.judge(x); c != nil {
		fault.At("judged", x.ID.PID)
		t.begin(c, x)
	}
	if len(t.table) > 0 && time.Since(t.lastScan) > yieldScan {
		t.scan()
	}
}

// timeout is how long the thread may sleep, in milliseconds; -1 is for ever,
// which is what an idle machine gets. A stop or a death sends SIGCHLD, which
// ends the sleep; the timeouts are for the one that comes just before it.
func (t *Tracer) timeout() int {
	if len(t.table) == 0 {
		return -1
	}
	now := time.Now()
	age := now.Sub(t.lastSeize)
	if t.waiting > 0 || t.lastScan.Before(t.lastSeize) {
		switch {
		case age < spin && runtime.NumCPU() > 1:
			return 0
		case age < 2*t.bound:
			return 1
		}
	}
	const watch = 10 // for the death of a stopped process
	left := watch
	for _, tr := range t.table {
		if !tr.letGo {
			left = min(left, int((tr.deadline.Sub(now)+time.Millisecond-1)/time.Millisecond))
		}
	}
	return max(left, 1)
}

// part lets everything go.
func (t *Tracer) part() {
	for _, tr := range t.table {
		if !tr.letGo {
			t.dismiss(tr, Late, ErrEnded)
		}
	}
	for end := time.Now().Add(partingGrace); ; time.Sleep(200 * time.Microsecond) {
		t.scan()
		if len(t.table) == 0 || time.Now().After(end) {
			return
		}
	}
}
