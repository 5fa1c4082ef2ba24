//go:build linux

package contain

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// phase is where one seized thread is.
type phase uint8

const (
	running  phase = iota // seized; its stop has not been seen
	stopped               // in PTRACE_EVENT_STOP
	leaving               // to be let go; not in a stop: it is dying, or will stop yet
	detached              // let go
	reaped                // dead and waited for: its parent has the exit status
	vanished              // no longer ours: another thread's exec took its pid
)

// ended says that nothing of the seizing is left.
func (p phase) ended() bool { return p >= detached }

// thread is one seized thread. Every one ends detached, reaped or vanished; a
// tracee that was killed while it was stopped and is then neither detached
// nor waited for would hang its real parent for ever.
type thread struct {
	tid   int
	phase phase
}

// waitFlags never wait for more than the caller's own tracees: __WALL for
// threads, and __WNOTHREAD because the children of the governor's other
// threads are waited for by os/exec.
const waitFlags = unix.WNOHANG | unix.WALL | unix.WNOTHREAD

// seize takes hold of a thread without stopping it. The call may block while
// the process is inside another exec (the kernel's cred_guard_mutex), which is
// why the Go scheduler is told of it, unlike with the other requests.
func seize(tid int) error {
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(tid), 0, 0, 0, 0); e != 0 {
		return e
	}
	return nil
}

func ptrace(request, tid int, data unix.Signal) error {
	if _, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), 0, uintptr(data), 0, 0); e != 0 {
		return e
	}
	return nil
}

// interrupt asks a seized thread to stop; it does so before its next
// instruction. An error means that it is dead, which wait tells too.
func interrupt(tid int) { _ = ptrace(unix.PTRACE_INTERRUPT, tid, 0) }

// wait is wait4 on one tracee. Pid 0 means that there is no news.
func wait(tid int, status *uint32) (pid int, err error) {
	for {
		p, _, e := unix.RawSyscall6(unix.SYS_WAIT4, uintptr(tid), uintptr(unsafe.Pointer(status)), waitFlags, 0, 0, 0)
		switch e {
		case 0:
			return int(p), nil
		case unix.EINTR:
		default:
			return 0, e
		}
	}
}

// poll takes in what has happened to the thread. With letGo every stop is
// left at once.
func (th *thread) poll(status *uint32, letGo bool) {
	// Two rounds are the most that a signal before our stop makes; the bound
	// is against a kernel that goes on telling of stops.
	for range 8 {
		if th.phase.ended() {
			return
		}
		pid, err := wait(th.tid, status)
		if err != nil {
			// ECHILD: when another thread of the process calls exec, the kernel
			// takes the old leader away without a word to its tracer.
			th.phase = vanished
			return
		}
		if pid == 0 {
			break
		}
		ws := syscall.WaitStatus(*status)
		if !ws.Stopped() {
			th.phase = reaped
			return
		}
		sig := ws.StopSignal()
		switch event := *status >> 16; {
		case event == unix.PTRACE_EVENT_STOP:
			// Our interrupt, or a group-stop that came first. Both are stops to
			// us, and neither has a signal to give back: the kernel itself
			// restores a group-stop at the detach, and clears it at a SIGCONT.
			th.phase = stopped
			if letGo {
				th.detach(0)
			}
		case event != 0:
			// No other event has been asked for.
			_ = ptrace(unix.PTRACE_CONT, th.tid, 0)
		case letGo:
			th.detach(sig)
		default:
			// A signal on its way was first. The kernel drops a pending
			// interrupt when it enters any other stop, so it is asked for again,
			// before the thread runs on with its signal.
			interrupt(th.tid)
			_ = ptrace(unix.PTRACE_CONT, th.tid, sig)
		}
	}
	if letGo && th.phase == stopped {
		th.detach(0)
	}
}

// detach lets a stopped thread go, with the signal that it was stopped at.
// ESRCH says that it is in no stop: it was killed (its death is waited for),
// or the pid has passed to another thread of ours that will stop yet.
func (th *thread) detach(sig unix.Signal) {
	if ptrace(unix.PTRACE_DETACH, th.tid, sig) == nil {
		th.phase = detached
		return
	}
	th.phase = leaving
}
