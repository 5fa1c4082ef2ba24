//go:build linux

package contain

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// epoll is all that the tracer's thread sleeps on: the feed, and an eventfd
// by which others wake it.
type epoll struct {
	fd     int
	wakeFD int
	feedFD int
	events [2]unix.EpollEvent
	count  [8]byte
}

// ready is what a sleep ended with; neither means the time or a signal.
type ready struct {
	feed   bool
	hungUp bool // the feed's descriptor is in error, or closed at its other end
	woken  bool
}

func newEpoll(feedFD int) (*epoll, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	e := &epoll{fd: fd, wakeFD: -1, feedFD: feedFD}
	if e.wakeFD, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		e.close()
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	for _, fd := range [...]int{e.wakeFD, feedFD} {
		ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
		if err := unix.EpollCtl(e.fd, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
			e.close()
			return nil, fmt.Errorf("epoll_ctl on descriptor %d: %w", fd, err)
		}
	}
	return e, nil
}

func (e *epoll) close() {
	unix.Close(e.fd)
	if e.wakeFD >= 0 {
		unix.Close(e.wakeFD)
	}
}

// wait sleeps for at most ms milliseconds; -1 is without end.
func (e *epoll) wait(ms int) (ready, error) {
	n, err := unix.EpollWait(e.fd, e.events[:], ms)
	if err == unix.EINTR {
		return ready{}, nil
	}
	if err != nil {
		return ready{}, fmt.Errorf("epoll_wait: %w", err)
	}
	var r ready
	for _, ev := range e.events[:n] {
		if int(ev.Fd) == e.feedFD {
			r.feed = true
			r.hungUp = ev.Events&(unix.EPOLLERR|unix.EPOLLHUP) != 0
			continue
		}
		r.woken = true
		_, _ = unix.Read(e.wakeFD, e.count[:])
	}
	return r, nil
}

func (t *Tracer) setWake(fd int) {
	t.mu.Lock()
	t.wakeFD = fd
	again := fd >= 0 && len(t.calls) > 0
	t.mu.Unlock()
	if again {
		t.wake()
	}
}

// wake ends the thread's sleep. The descriptor is written to under the lock
// under which it is withdrawn, so that a number used again is never hit.
func (t *Tracer) wake() {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.wakeFD >= 0 {
		_, _ = unix.Write(t.wakeFD, one[:])
	}
}

// Call runs f on the tracer's thread soon; f must not block. While nothing
// runs, f waits for the next Run.
func (t *Tracer) Call(f func()) {
	t.mu.Lock()
	t.calls = append(t.calls, f)
	t.mu.Unlock()
	t.wake()
}

func (t *Tracer) runCalls() {
	t.mu.Lock()
	calls := t.calls
	t.calls = nil
	t.mu.Unlock()
	for _, f := range calls {
		f()
	}
}
