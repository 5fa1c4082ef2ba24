package proc

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Handle is a pidfd of a process whose identity was checked after it was
// opened: what is done through it cannot hit another process that got the pid.
// It has one user at a time; Close ends it.
type Handle struct {
	fd int
	id ID
}

// Open opens a pidfd of the process that id names: ErrGone if it has ended or
// the pid is another's. On a kernel before 5.3 the error wraps
// errors.ErrUnsupported.
func Open(fs FS, id ID) (*Handle, error) {
	if id.PID <= 0 || id.Start == 0 {
		return nil, fmt.Errorf("open pidfd of %v: its identity is incomplete", id)
	}
	fd, err := unix.PidfdOpen(id.PID, 0)
	switch {
	case errors.Is(err, unix.ENOSYS):
		return nil, fmt.Errorf("open pidfd: needs Linux 5.3: %w", errors.ErrUnsupported)
	case err != nil:
		return nil, gone(fmt.Errorf("open pidfd of %v: %w", id, err))
	}
	h := &Handle{fd: fd, id: id}
	s, err := fs.Stat(id.PID)
	if err == nil && s.ID != id {
		err = fmt.Errorf("%w (pid %d started at %d, not %d)", ErrGone, id.PID, s.ID.Start, id.Start)
	}
	if err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// ID is whose handle it is.
func (h *Handle) ID() ID { return h.id }

// FD is the descriptor, readable when the process has ended; -1 after Close.
func (h *Handle) FD() int { return h.fd }

// Signal sends a signal: ErrGone if the process has been waited for.
func (h *Handle) Signal(sig unix.Signal) error {
	if err := unix.PidfdSendSignal(h.fd, sig, nil, 0); err != nil {
		return gone(fmt.Errorf("signal %v: %w", h.id, err))
	}
	return nil
}

// Exited says whether the process has ended, waited for or not. It does not
// block.
func (h *Handle) Exited() (bool, error) {
	if h.fd < 0 { // which poll would silently pass over
		return false, fmt.Errorf("poll pidfd of %v: %w", h.id, unix.EBADF)
	}
	fds := []unix.PollFd{{Fd: int32(h.fd), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("poll pidfd of %v: %w", h.id, err)
		}
		return fds[0].Revents&unix.POLLIN != 0, nil
	}
}

// Close closes the descriptor. A second call does nothing.
func (h *Handle) Close() error {
	if h.fd < 0 {
		return nil
	}
	fd := h.fd
	h.fd = -1
	if err := unix.Close(fd); err != nil {
		return fmt.Errorf("close pidfd of %v: %w", h.id, err)
	}
	return nil
}
