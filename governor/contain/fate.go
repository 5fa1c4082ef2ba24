//go:build linux

package contain

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// fate is the outcome that an error stands for.
func fate(err error) State {
	switch {
	case errors.Is(err, proc.ErrGone), errors.Is(err, unix.ESRCH), errors.Is(err, os.ErrNotExist):
		return Gone
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return Refused
	}
	return Failed
}

// whyNot explains a refused seize: the kernel answers EPERM to a zombie, to
// a kernel thread, to a process that another one traces and to one that this
// user may not trace.
func (t *Tracer) whyNot(pid int, err error) error {
	if err != unix.EPERM {
		return fmt.Errorf("seize %d: %w", pid, err)
	}
	stat, serr := t.fs.Stat(pid)
	if errors.Is(serr, proc.ErrGone) || serr == nil && (stat.State == 'Z' || stat.State == 'X') {
		return fmt.Errorf("seize %d: %w", pid, proc.ErrGone)
	}
	return fmt.Errorf("seize %d (traced by another, or not allowed): %w", pid, err)
}

// zombieLeader says that the first thread has ended while others go on.
func (t *Tracer) zombieLeader(pid int) bool {
	stat, err := t.fs.Stat(pid)
	if err != nil || stat.State != 'Z' {
		return false
	}
	tids, err := t.fs.Threads(pid)
	return err == nil && len(tids) > 1
}
