package governor

import (
	"context"
	"fmt"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
)

// fakeFreezer is what a fake scope is when it stands still.
type fakeFreezer struct {
	frozen      bool
	stopPending bool // Ctrl-Z came while it was frozen
	endPending  bool // Ctrl-C, which the process handles itself
}

func (b *fakeBackend) Freeze(sc contain.Scope) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tell("freeze %s", sc.Unit)
	s := b.scopes[sc.Cgroup]
	switch {
	case s == nil || s.gone:
		return contain.ErrNoScope
	case b.freezeErr != nil:
		return b.freezeErr
	}
	s.frozen = true
	return nil
}

func (b *fakeBackend) Thaw(sc contain.Scope) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tell("thaw %s", sc.Unit)
	s := b.scopes[sc.Cgroup]
	switch {
	case s == nil || s.gone:
		return contain.ErrNoScope
	case b.thawErr != nil:
		return b.thawErr
	}
	s.frozen = false
	if s.stopPending {
		s.stopPending = false
		pids, _ := b.proc.in(sc.Cgroup)
		for _, pid := range pids {
			b.proc.change(pid, func(n *fakeProcess) { n.state = 'T' })
		}
	}
	if s.endPending {
		s.endPending = false
		pids, _ := b.proc.in(sc.Cgroup)
		for _, pid := range pids {
			b.proc.exit(pid)
		}
	}
	return nil
}

func (b *fakeBackend) Signals(sc contain.Scope) contain.Signals {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.scopes[sc.Cgroup]
	if s == nil || s.gone {
		return contain.Signals{Empty: true}
	}
	if b.blind {
		return contain.Signals{}
	}
	pids, _ := b.proc.in(sc.Cgroup)
	got := contain.Signals{StopPending: s.stopPending, EndPending: s.endPending, Frozen: s.frozen, Empty: len(pids) == 0, Stopped: len(pids) > 0}
	for _, pid := range pids {
		if st, err := b.proc.fs().Stat(pid); err == nil && st.State != 'T' {
			got.Stopped = false
		}
	}
	return got
}

func (b *fakeBackend) Stop(ctx context.Context, sc contain.Scope, grace time.Duration) error {
	b.mu.Lock()
	takes, fail := b.stopTakes, b.stopErr
	s := b.scopes[sc.Cgroup]
	b.mu.Unlock()
	within := ""
	if grace != stopGrace {
		within = fmt.Sprintf(" within %v", grace.Round(100*time.Millisecond))
	}
	b.tell("stop %s%s", sc.Unit, within)
	if s == nil {
		return contain.ErrNoScope
	}
	if err := wait(ctx, takes); err != nil {
		return err
	}
	if fail != nil {
		return fail
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s.frozen = false
	pids, _ := b.proc.in(sc.Cgroup)
	for _, pid := range pids {
		b.proc.exit(pid)
	}
	return nil
}

// stranded are the scopes that stand still.
func (b *fakeBackend) stranded() (cgroups []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for cgroup, s := range b.scopes {
		if pids, _ := b.proc.in(cgroup); s.frozen && !s.gone && len(pids) > 0 {
			cgroups = append(cgroups, cgroup)
		}
	}
	return cgroups
}
