//go:build linux

package contain

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/governor/contain/fault"
	"github.com/headroomd/headroomd/loader/proc"
)

// begin seizes what the catch is about and puts it in the table.
func (t *Tracer) begin(c *Catch, x *proc.Exec) {
	tr := &Tracee{id: c.ID, tracer: t, done: make(chan struct{}), deliver: c.Deliver, all: c.AllThreads, seen: c.Seen}
	if tr.seen.IsZero() {
		tr.seen = x.Seen
	}
	if !c.Stop {
		t.never(tr, NotStopped, nil)
		return
	}
	pid := tr.id.PID
	// For ptrace and wait4 these would be the caller, a group, or everybody.
	if pid <= 1 || pid == os.Getpid() {
		t.never(tr, Refused, fmt.Errorf("pid %d is not to be held", pid))
		return
	}
	if t.holds(pid) {
		t.never(tr, Refused, ErrHeld)
		return
	}
	tr.begun = time.Now()
	tr.deadline = tr.begun.Add(t.bound)
	err := t.take(tr)
	if err != nil && len(tr.threads) == 0 {
		t.never(tr, fate(err), err)
		return
	}
	t.enter(tr)
	if err != nil {
		t.dismiss(tr, fate(err), err)
	}
}

// take seizes the process: its first thread, which right after an exec is all
// there is, or every thread.
func (t *Tracer) take(tr *Tracee) error {
	pid := tr.id.PID
	if !tr.all {
		err := seize(pid)
		if err == nil {
			tr.threads = append(tr.threads, thread{tid: pid})
			fault.At("seized", pid)
			interrupt(pid)
			fault.At("interrupted", pid)
			return nil
		}
		if err != unix.EPERM || !t.zombieLeader(pid) {
			return t.whyNot(pid, err)
		}
		tr.all = true
	}
	_, err := t.walk(tr)
	return err
}

// never ends a catch that has seized nothing.
func (t *Tracer) never(tr *Tracee, s State, err error) {
	tr.set(s, err)
	close(tr.done)
	tr.handOver()
}

func (t *Tracer) enter(tr *Tracee) {
	t.lastSeize = time.Now()
	if tr.seen.IsZero() {
		tr.seen = t.lastSeize
	}
	tr.asked = t.lastSeize
	tr.set(Stopping, nil)
	t.table = append(t.table, tr)
}

func (t *Tracer) holds(pid int) bool {
	for _, tr := range t.table {
		if tr.id.PID == pid {
			return true
		}
	}
	return false
}

// scan takes in the news of every tracee, and acts on the holders' words and
// on the bounds.
func (t *Tracer) scan() {
	now := time.Now()
	t.lastScan = now
	kept := t.table[:0]
	for _, tr := range t.table {
		t.step(tr, now)
		if !t.over(tr, now) {
			kept = append(kept, tr)
		}
	}
	clear(t.table[len(kept):])
	t.table = kept
	t.waiting = 0
	for _, tr := range t.table {
		if tr.letGo || !tr.delivered {
			t.waiting++
		}
	}
}

func (t *Tracer) step(tr *Tracee, now time.Time) {
	// A thread that calls exec passes to its leader's pid, at times between the
	// seize and the interrupt; so what has not stopped is asked again.
	again := now.Sub(tr.asked) >= time.Millisecond
	if again {
		tr.asked = now
	}
	for i := range tr.threads {
		th := &tr.threads[i]
		th.poll(&t.status, tr.letGo)
		if again && (th.phase == running || th.phase == leaving) {
			interrupt(th.tid)
		}
	}
	if tr.letGo {
		return
	}
	if !tr.delivered && tr.allStopped() {
		t.arrived(tr, now)
	}
	switch {
	case tr.letGo:
	case tr.released.Load():
		fault.At("released", tr.id.PID)
		t.dismiss(tr, Released, nil)
	case !now.Before(tr.deadline) && !tr.extend(now, t.bound):
		t.dismiss(tr, Late, nil)
	}
}

// extend puts the bound off if the holder got on since it was set.
func (tr *Tracee) extend(now time.Time, bound time.Duration) bool {
	after := time.Duration(tr.progress.Load())
	due := tr.begun.Add(min(after+bound, maxBounds*bound))
	if after == 0 || !due.After(now) {
		return false
	}
	tr.deadline = due
	return true
}

// allStopped says that every thread that is still ours is in its stop, and
// that there is one.
func (tr *Tracee) allStopped() bool {
	some := false
	for _, th := range tr.threads {
		switch {
		case th.phase == stopped:
			some = true
		case !th.phase.ended():
			return false
		}
	}
	return some
}

// arrived is called when all threads known so far have stopped: it counts
// only if there are no others, and if it is the process that was meant.
func (t *Tracer) arrived(tr *Tracee, now time.Time) {
	// While it is seized, its pid cannot become another's; but it may be a
	// thread's that called exec and killed the one that had stopped.
	switch stat, err := t.fs.Stat(tr.id.PID); {
	case err != nil:
		t.dismiss(tr, fate(err), fmt.Errorf("identity of the stopped process: %w", err))
		return
	case stat.State != 't' && tr.again(tr.id.PID):
		return
	case tr.all && stat.Threads != tr.held(stat.State):
		// A listing of /proc/PID/task misses some while others come and go;
		// the count does not.
		switch added, err := t.walk(tr); {
		case err != nil:
			t.dismiss(tr, fate(err), err)
		case added > 0:
			t.lastSeize = now
		}
		return
	case tr.id.Start == 0:
		tr.id.Start = stat.ID.Start
	case tr.id.Start != stat.ID.Start:
		t.dismiss(tr, Gone, fmt.Errorf("pid %d is another process by now: %w", tr.id.PID, proc.ErrGone))
		return
	}
	tr.stoppedAt = now
	tr.mu.Lock()
	tr.state, tr.stoppedAfter = Stopped, now.Sub(tr.seen)
	tr.mu.Unlock()
	fault.At("stopped", tr.id.PID)
	tr.handOver()
	fault.At("delivered", tr.id.PID)
}

// held is the number of threads that the kernel counts when none is missing
// from the table. leader is the first one's state: ended, it still counts.
func (tr *Tracee) held(leader byte) (n int) {
	for _, th := range tr.threads {
		if th.phase == stopped {
			n++
		}
	}
	if leader == 'Z' {
		n++
	}
	return n
}

// again has the thread of that tid stopped once more; false if it is not held.
func (tr *Tracee) again(tid int) bool {
	for i := range tr.threads {
		if th := &tr.threads[i]; th.tid == tid && !th.phase.ended() {
			th.phase = running
			interrupt(tid)
			return true
		}
	}
	return false
}

// dismiss lets every thread of the process go, each at its next stop if it is
// in none, and tells a holder that has not been told.
func (t *Tracer) dismiss(tr *Tracee, s State, err error) {
	tr.letGo = true
	for i := range tr.threads {
		tr.threads[i].poll(&t.status, true)
	}
	tr.set(s, err)
	if !tr.delivered && !tr.dead() {
		tr.handOver()
	}
}

// dead says that the process ended in the tracer's hands.
func (tr *Tracee) dead() bool {
	for _, th := range tr.threads {
		if th.phase != reaped && th.phase != vanished {
			return false
		}
	}
	return true
}

// over closes a tracee of which nothing is left to let go.
func (t *Tracer) over(tr *Tracee, now time.Time) bool {
	outcome := Gone
	for _, th := range tr.threads {
		switch {
		case !th.phase.ended():
			return false
		case th.phase == detached:
			outcome = tr.State()
		case th.phase == reaped && outcome == Gone:
			outcome = Reaped
		}
	}
	if outcome != Reaped && outcome != Gone {
		fault.At("detached", tr.id.PID)
	}
	tr.mu.Lock()
	tr.state = outcome
	if !tr.stoppedAt.IsZero() {
		tr.stoppedFor = now.Sub(tr.stoppedAt)
	}
	tr.mu.Unlock()
	close(tr.done)
	tr.handOver()
	return true
}
