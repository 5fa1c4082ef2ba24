package governor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/loader/proc"
)

// fakeBackend is a containment tier on a fake machine: its scopes are what the
// cgroup files of the fake /proc say.
type fakeBackend struct {
	proc *fakeProc
	tell func(format string, args ...any) // an act, for the time line

	mu           sync.Mutex
	placeTakes   time.Duration
	joinTakes    time.Duration
	releaseTakes time.Duration
	usageTakes   time.Duration
	reading      atomic.Int32 // readings under way
	refuse       string
	placeErr     error
	joinErr      error
	limitErr     error
	releaseErr   error
	adoptErr     error
	freezeErr    error
	thawErr      error
	stopErr      error
	blind        bool // Signals cannot be read
	stopTakes    time.Duration
	early        time.Duration // of placeTakes, until the process is in its scope
	hangs        string        // the manager that never answers
	deaf         bool          // Place goes on when its context has ended
	noScopes     bool          // the tier "none"
	noController bool
	note         string // of Place
	changed      string // of Check
	left         []contain.Scope
	oldOOM       int64                 // kills in what is left
	scopes       map[string]*fakeScope // by cgroup
	placed       []contain.Spec
	limited      []contain.Limits
	released     []string
	checks       int
}

type fakeScope struct {
	fakeFreezer
	gone        bool
	oom, peakMB int64
	cpu         int64 // µs, as of cpuAt
	cpuAt       time.Time
}

// with changes how the tier behaves from now on.
func (b *fakeBackend) with(do func(*fakeBackend)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	do(b)
}

func wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *fakeBackend) Look(ctx context.Context, x proc.Exec) (contain.Origin, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := contain.ParseOrigin(x.Cgroup)
	if b.refuse != "" {
		o.Refuse = b.refuse
	}
	return o, ctx.Err()
}

func (b *fakeBackend) Place(ctx context.Context, spec contain.Spec) (contain.Scope, error) {
	b.mu.Lock()
	takes, fail := b.placeTakes, b.placeErr
	if b.hangs != "" && spec.Origin.Manager == b.hangs {
		takes = time.Hour
	}
	if b.deaf {
		ctx = context.WithoutCancel(ctx)
	}
	b.mu.Unlock()
	tree := ""
	if spec.Tree {
		tree = " with its tree"
	}
	if spec.Frozen {
		tree += ", frozen"
	}
	b.tell("place %d in %s, at most %d MB%s", spec.Exec.ID.PID, spec.Unit, spec.Limits.MemoryMax>>20, tree)
	if b.early > 0 && spec.InForce != nil {
		if err := wait(ctx, b.early); err != nil {
			return contain.Scope{}, err
		}
		takes -= b.early
		spec.InForce(contain.Scope{Unit: spec.Unit, Cgroup: "/user.slice/" + spec.Unit, CgroupID: 1})
	}
	if err := wait(ctx, takes); err != nil {
		return contain.Scope{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.placed = append(b.placed, spec)
	sc := contain.Scope{Unit: spec.Unit, Main: spec.Exec.ID}
	switch {
	case fail != nil:
		return contain.Scope{}, fail
	case b.noScopes:
		return contain.Scope{Main: spec.Exec.ID, Notes: []string{"not contained"}}, nil
	case !b.proc.has(spec.Exec.ID.PID):
		return contain.Scope{}, fmt.Errorf("place %d: %w", spec.Exec.ID.PID, proc.ErrGone)
	}
	sc.Cgroup = "/user.slice/" + spec.Unit
	sc.CgroupID = uint64(len(b.scopes) + 1)
	sc.Frozen = spec.Frozen && b.freezeErr == nil
	b.scopes[sc.Cgroup] = &fakeScope{fakeFreezer: fakeFreezer{frozen: sc.Frozen}}
	sc.Moved = b.move(sc.Cgroup, spec.Exec.ID.PID, spec.Tree)
	b.setLimits(&sc, spec.Limits)
	if b.note != "" {
		sc.Notes = []string{b.note}
	}
	return sc, nil
}

func (b *fakeBackend) setLimits(sc *contain.Scope, l contain.Limits) {
	sc.MemoryController = !b.noController
	if sc.MemoryController {
		sc.MemoryMax, sc.MemorySwapMax = l.MemoryMax, l.MemorySwapMax
	}
}

// move moves a process, and its descendants, as far as it is there.
func (b *fakeBackend) move(cgroup string, pid int, tree bool) (moved int) {
	pids := []int{pid}
	if tree {
		below, _ := b.proc.fs().Descendants(pid)
		for _, id := range below {
			pids = append(pids, id.PID)
		}
	}
	for _, pid := range pids {
		if b.proc.has(pid) {
			b.proc.change(pid, func(n *fakeProcess) {
				if n.cgroup != cgroup {
					n.cgroup, n.elsewhereMB = cgroup, n.rssMB
					moved++
				}
			})
		}
	}
	return moved
}

func (b *fakeBackend) Join(ctx context.Context, sc contain.Scope, x proc.Exec, tree bool) (int, error) {
	b.mu.Lock()
	takes, fail := b.joinTakes, b.joinErr
	b.mu.Unlock()
	b.tell("join %d to %s", x.ID.PID, sc.Unit)
	if err := wait(ctx, takes); err != nil {
		return 0, err
	}
	if fail != nil {
		return 0, fail
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.scopes[sc.Cgroup]; s == nil || s.gone {
		return 0, errors.New("the scope is gone")
	}
	if !b.proc.has(x.ID.PID) {
		return 0, proc.ErrGone
	}
	return b.move(sc.Cgroup, x.ID.PID, tree), nil
}

func (b *fakeBackend) SetLimits(_ context.Context, sc contain.Scope, l contain.Limits) (contain.Scope, error) {
	// Each at a time of its own: two placers at once have no order.
	time.Sleep(time.Duration(sc.Main.PID/10%97+3) * time.Millisecond)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tell("limit %s to %d MB", sc.Unit, l.MemoryMax>>20)
	b.limited = append(b.limited, l)
	if b.limitErr != nil {
		return sc, b.limitErr
	}
	b.setLimits(&sc, l)
	return sc, nil
}

func (b *fakeBackend) Usage(sc contain.Scope) contain.Usage {
	b.reading.Add(1)
	defer b.reading.Add(-1)
	b.mu.Lock()
	takes := b.usageTakes
	b.mu.Unlock()
	time.Sleep(takes)
	u := contain.Usage{Current: -1, Swap: -1, Peak: -1, Working: -1, OOMKills: -1, CPUUsec: -1}
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.scopes[sc.Cgroup]
	if s == nil || s.gone {
		u.Gone = true
		return u
	}
	pids, mb := b.proc.in(sc.Cgroup)
	slices.Sort(pids)
	u.Procs = pids
	if now := time.Now(); !s.cpuAt.IsZero() && !s.frozen {
		s.cpu += int64(b.proc.busy(sc.Cgroup)) * now.Sub(s.cpuAt).Microseconds()
	}
	s.cpuAt, u.CPUUsec = time.Now(), s.cpu
	if !b.noController {
		u.Working, u.Current, u.OOMKills = int64(mb*(1<<20)), int64(mb*(1<<20)), s.oom
		u.Peak = max(s.peakMB<<20, u.Working)
	}
	return u
}

func (b *fakeBackend) Check(context.Context, contain.Scope) ([]int, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.checks++
	return nil, b.changed
}

func (b *fakeBackend) Release(ctx context.Context, sc contain.Scope) error {
	b.mu.Lock()
	takes := b.releaseTakes
	b.mu.Unlock()
	b.tell("release %s", sc.Unit)
	if err := wait(ctx, takes); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.released = append(b.released, sc.Unit)
	if s := b.scopes[sc.Cgroup]; s != nil {
		s.gone, s.frozen = true, false
	}
	return b.releaseErr
}

func (b *fakeBackend) Adopt(_ context.Context, keepFrozen bool) ([]contain.Scope, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.left {
		sc := &b.left[i]
		sc.Frozen = sc.Frozen && keepFrozen
		b.scopes[sc.Cgroup] = &fakeScope{oom: b.oldOOM, fakeFreezer: fakeFreezer{frozen: sc.Frozen}}
	}
	return b.left, b.adoptErr
}
