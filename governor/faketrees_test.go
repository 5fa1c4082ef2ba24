package governor

import (
	"context"
	"sync"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// fakeTrees ends processes of the fake machine: no real one may be signalled by
// a pid that a test made up.
type fakeTrees struct {
	proc *fakeProc
	tell func(format string, args ...any)

	mu    sync.Mutex
	takes time.Duration
	err   error
}

func (f *fakeTrees) Stop(ctx context.Context, root proc.ID, grace time.Duration, spare func(pid int) bool) (int, error) {
	f.mu.Lock()
	takes, fail := f.takes, f.err
	f.mu.Unlock()
	if !f.proc.has(root.PID) {
		return 0, nil
	}
	pids := []int{root.PID}
	below, _ := f.proc.fs().Descendants(root.PID)
	spared := make(map[int]bool)
	for _, id := range below {
		st, err := f.proc.fs().Stat(id.PID)
		if err != nil || spared[st.PPID] || spare(id.PID) {
			spared[id.PID] = true
			continue
		}
		pids = append(pids, id.PID)
	}
	f.tell("end the tree of %v within %v: %v", root.PID, grace.Round(100*time.Millisecond), pids)
	if err := wait(ctx, takes); err != nil {
		return 0, err
	}
	if fail != nil {
		return len(pids), fail
	}
	for _, pid := range pids {
		if f.proc.has(pid) {
			f.proc.exit(pid)
		}
	}
	return len(pids), nil
}
