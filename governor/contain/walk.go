//go:build linux

package contain

import (
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/governor/contain/fault"
)

// walk seizes the threads of the process that are not held yet and says how
// many those were. A thread that runs may start another one behind the walk's
// back, so walks are repeated until all that the kernel counts have stopped.
func (t *Tracer) walk(tr *Tracee) (added int, err error) {
	pid := tr.id.PID
	tids, err := t.fs.Threads(pid)
	if err != nil {
		return 0, fmt.Errorf("threads of %d: %w", pid, err)
	}
	defer t.guardWalk(pid)()
	for _, tid := range tids {
		if tid <= 1 || tr.has(tid) {
			continue
		}
		if err := seize(tid); err == unix.ESRCH {
			continue
		} else if err != nil {
			// A zombie leader is no obstacle: it runs no more, and the kernel
			// waits for the other threads before it tells the parent.
			if stat, serr := t.fs.Stat(tid); err == unix.EPERM && (serr != nil || stat.State == 'Z' || stat.State == 'X') {
				continue
			}
			return added, t.whyNot(tid, err)
		}
		fault.At("seized", pid)
		interrupt(tid)
		fault.At("interrupted", pid)
		tr.threads = append(tr.threads, thread{tid: tid})
		added++
	}
	if len(tr.threads) == 0 {
		return 0, fmt.Errorf("threads of %d: %w", pid, unix.ESRCH)
	}
	return added, nil
}

func (tr *Tracee) has(tid int) bool {
	for _, th := range tr.threads {
		// A vanished thread's number may be a new thread's.
		if th.tid == tid && th.phase != vanished && th.phase != reaped {
			return true
		}
	}
	return false
}

// guardWalk keeps a walk from blocking for ever. A thread that calls exec
// holds the kernel's cred_guard_mutex until every other thread of its process
// has been reaped; those that are held are reaped by this tracer alone, and
// the next seize in that process waits for the mutex: a deadlock that no
// signal breaks (ERESTARTNOINTR). So after 20 ms, far longer than a walk
// takes, the dead are reaped from another thread, which the kernel allows to
// every thread of the tracing process.
func (t *Tracer) guardWalk(pid int) (stop func()) {
	var over atomic.Bool
	timer := time.AfterFunc(walkGuard, func() {
		for !over.Load() {
			t.reapDead(pid)
			time.Sleep(walkGuard)
		}
	})
	return func() { over.Store(true); timer.Stop() }
}

const walkGuard = 20 * time.Millisecond

// reapDead takes the exit of each thread of the process that has ended. It
// looks before it takes: to a tracer's process waitid hands a stop even if
// only exits are asked for, and a stop is for the tracer's thread to see.
func (t *Tracer) reapDead(pid int) {
	const dead = unix.WEXITED | unix.WNOHANG | unix.WALL
	tids, err := t.fs.Threads(pid)
	if err != nil {
		return
	}
	for _, tid := range tids {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, tid, &info, dead|unix.WNOWAIT, nil)
		if err != nil || info.Signo != int32(unix.SIGCHLD) {
			continue
		}
		switch info.Code {
		case cldExited, cldKilled, cldDumped:
			_ = unix.Waitid(unix.P_PID, tid, nil, dead, nil)
		}
	}
}

// Of a SIGCHLD's si_code: the child has ended.
const (
	cldExited = 1
	cldKilled = 2
	cldDumped = 3
)
