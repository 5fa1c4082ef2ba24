package note

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// Outcome is what became of a note.
type Outcome string

const (
	Written     Outcome = "written"
	TurnedOff   Outcome = "off"           // notes = "off"
	Busy        Outcome = "busy"          // too many at once, or all threads hang
	Gone        Outcome = "gone"          // the process has ended
	Denied      Outcome = "denied"        // its descriptors may not be taken
	Unsupported Outcome = "unsupported"   // no pidfd_getfd: Linux before 5.6
	Closed      Outcome = "closed"        // it has no descriptor 2
	ReadOnly    Outcome = "read-only"     // it cannot write to it either
	NoTarget    Outcome = "no-target"     // a file, a device, another kind of socket
	NotTerminal Outcome = "not-terminal"  // and only a terminal was asked for
	Merged      Outcome = "merged"        // stdout goes the same way, to who may parse it
	Stranger    Outcome = "stranger"      // a socket to somebody with more rights than the process has
	Full        Outcome = "full"          // no room, or a stopped terminal
	HungUp      Outcome = "hung-up"       // nobody reads it any more
	Failed      Outcome = "not-writeable" // anything else that the kernel answered
)

// outcomeOf reads an answer of the kernel's.
func outcomeOf(err error) Outcome {
	switch {
	case err == nil:
		return Written
	case errors.Is(err, proc.ErrGone), errors.Is(err, unix.ESRCH), errors.Is(err, unix.ENOENT):
		return Gone
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, unix.ENOSYS):
		return Unsupported
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return Denied
	case errors.Is(err, unix.EBADF):
		return Closed
	case errors.Is(err, unix.EAGAIN):
		return Full
	case errors.Is(err, unix.EPIPE), errors.Is(err, unix.ECONNRESET), errors.Is(err, unix.EIO), errors.Is(err, unix.ENOTCONN):
		return HungUp
	}
	return Failed
}
