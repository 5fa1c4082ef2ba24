package contain

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// OOMScoreAdj is what a job's processes are raised to: if the kernel must kill
// outside of any cap, it takes them first. It is never lowered again: what is
// raised once may have been raised further by its owner, and a process that
// may lower it can do so itself.
const OOMScoreAdj = 900

// raiseOOMScore makes a process the kernel's first choice. It only ever
// raises: somebody may have chosen a higher value for a reason.
//
// Anybody may raise the value of his own processes; the floor that the kernel
// keeps (oom_score_adj_min) bounds lowering alone. With CAP_SYS_RESOURCE the
// floor goes up as well, without it the process may lower its value again.
func raiseOOMScore(pid int) error {
	return raiseScore(filepath.Join("/proc", strconv.Itoa(pid)), func() error { return nil })
}

// raiseScore raises the value of the process whose directory in /proc it is.
// check is asked once the file is open: from then on it is that of one process.
func raiseScore(dir string, check func() error) error {
	f, err := os.OpenFile(filepath.Join(dir, "oom_score_adj"), os.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := check(); err != nil {
		return err
	}
	var b [16]byte
	n, err := f.Read(b[:])
	if err != nil {
		return err
	}
	have, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil || have >= OOMScoreAdj {
		return err
	}
	return raiseFrom(have, func(value int) error {
		_, err := f.WriteAt([]byte(strconv.Itoa(value)), 0)
		return err
	})
}

// raiseFrom raises the value that a process has. An inherited protection would
// have everything else killed first, so it is taken away even where the kernel
// grants no more than that.
func raiseFrom(have int, write func(value int) error) error {
	err := write(OOMScoreAdj)
	if err != nil && have < 0 && !gone(err) {
		err = write(0)
	}
	return err
}

// RaiseTree raises the oom_score_adj of a process and its descendants. A child
// is born with its parent's value, so what is left after a walk are only those
// that were born before their parent was raised: it walks until none is.
func RaiseTree(fs proc.FS, id proc.ID) error {
	raised := make(map[proc.ID]bool)
	var troubles []error
	for range walks {
		if st, err := fs.Stat(id.PID); err != nil || st.ID != id {
			break // what is below the pid is another's
		}
		ids := []proc.ID{id}
		below, err := fs.Descendants(id.PID)
		if err != nil && !isGone(err) {
			return fmt.Errorf("descendants of %d: %w", id.PID, err)
		}
		news := false
		for _, id := range append(ids, below...) {
			if raised[id] {
				continue
			}
			raised[id], news = true, true
			err := raiseScore(filepath.Join(fs.Root(), strconv.Itoa(id.PID)), func() error {
				if st, err := fs.Stat(id.PID); err != nil || st.ID != id {
					return proc.ErrGone
				}
				return nil
			})
			if err != nil && !gone(err) && !isGone(err) {
				troubles = append(troubles, fmt.Errorf("oom_score_adj of %d: %w", id.PID, err))
			}
		}
		if !news {
			break
		}
	}
	if len(troubles) > 3 {
		troubles = append(troubles[:3], fmt.Errorf("and %d more", len(troubles)-3))
	}
	return errors.Join(troubles...)
}
