package governor

import (
	"errors"
	"fmt"

	"github.com/headroomd/headroomd/loader/proc"
)

// lockTable is what lockHeld needs of the process table.
type lockTable interface {
	HoldsLock(pid int) (fd int, held bool, err error)
}

// lockHeld says why a command must never be held: it was started with a locked
// file (`flock L make`), and a job that waits for the lock would wait for the
// command. Empty: it has none, or is gone. Where it cannot be told the command
// runs.
//
// The loop asks once, before it makes a waiter of a command, and sets
// admission.Waiter.Never. It reads 64 descriptors at most, some 4 µs each.
func lockHeld(pid int, table lockTable) string {
	fd, held, err := table.HoldsLock(pid)
	switch {
	case errors.Is(err, proc.ErrGone):
		return ""
	case err != nil:
		return fmt.Sprintf("whether it holds a file lock cannot be told (%v)", err)
	case held:
		return fmt.Sprintf("its descriptor %d holds a file lock, which others may wait for", fd)
	}
	return ""
}
