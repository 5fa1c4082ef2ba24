package proc

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// MaxPeek is the largest file that is looked into, in bytes.
const MaxPeek = 256 << 10

// ErrSlow says that a file system gave no answer in time. A hung NFS or FUSE
// mount may never do so.
var ErrSlow = errors.New("the file system gives no answer in time")

// peekTime is for how long Peek waits. A file of 256 KB comes from a cold SD
// card in 10 to 20 ms, from the page cache in 0.1 ms: the second try succeeds.
const peekTime = 10 * time.Millisecond

// maxHung bounds the threads that wait for such file systems.
const maxHung = 2

// Peeker reads small files in the working directories of other users'
// processes, with no more rights than those have and without a risk for the
// reader: root must not be led to open a device, a FIFO or another user's file
// by a link that somebody calls package.json.
//
// Each read runs on a goroutine with a deadline of its own, so that the caller
// waits 10 ms at most. It is for callers that may wait at all: not for the
// thread that takes the kernel's events.
type Peeker struct {
	wait   time.Duration
	read   func(id ID, name string, limit int) ([]byte, error)
	hung   atomic.Int32 // reads that have not come back
	gaveUp atomic.Uint64
}

// NewPeeker returns one for the processes of fs.
func NewPeeker(fs FS) *Peeker {
	return &Peeker{wait: peekTime, read: fs.peek}
}

// Peek returns the content of the file name, a path below the working
// directory of id, if it is a regular file of at most limit bytes (and 256 KB)
// on a local file system. Links are followed inside that directory, never out
// of it, and no mount below it is entered. If id.Start is 0 any process with
// that pid will do.
//
// ErrGone if the process has ended, fs.ErrNotExist where there is no such
// file, ErrSlow after 10 ms, and at once while two earlier reads still hang.
// An error names the file, never its content.
func (p *Peeker) Peek(id ID, name string, limit int) ([]byte, error) {
	if p.hung.Add(1) > maxHung {
		p.hung.Add(-1)
		p.gaveUp.Add(1)
		return nil, fmt.Errorf("look into %q: %w", name, ErrSlow)
	}
	type answer struct {
		data []byte
		err  error
	}
	done := make(chan answer, 1) // room for an answer that nobody waits for any more
	go func() {
		data, err := p.read(id, name, min(limit, MaxPeek))
		p.hung.Add(-1)
		done <- answer{data, err}
	}()
	timer := time.NewTimer(p.wait)
	defer timer.Stop()
	select {
	case a := <-done:
		if a.err != nil {
			return nil, fmt.Errorf("look into %q: %w", name, a.err)
		}
		return a.data, nil
	case <-timer.C:
		p.gaveUp.Add(1)
		return nil, fmt.Errorf("look into %q: %w", name, ErrSlow)
	}
}

// GaveUp is how many reads were given up.
func (p *Peeker) GaveUp() uint64 { return p.gaveUp.Load() }
