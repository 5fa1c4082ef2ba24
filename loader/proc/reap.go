package proc

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Reap takes the memory of a process that was killed and has not ended yet:
// one that waits for a disk gives nothing back before it is done. It works in
// the calling thread, some 100 ms a gigabyte. A process that has ended, or
// shares its memory with one that was not killed, is nothing to be done about,
// and no error; before Linux 5.15 the error wraps errors.ErrUnsupported.
func (h *Handle) Reap() error {
	for {
		_, _, e := unix.Syscall(unix.SYS_PROCESS_MRELEASE, uintptr(h.fd), 0, 0)
		switch {
		case e == unix.EINTR:
			continue
		case e == 0, e == unix.ESRCH, e == unix.EINVAL:
			return nil
		case e == unix.ENOSYS:
			return fmt.Errorf("take the memory of %v: needs Linux 5.15: %w", h.id, errors.ErrUnsupported)
		default:
			return fmt.Errorf("take the memory of %v: %w", h.id, e)
		}
	}
}
