package contain

import (
	"context"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// Tier is one of the ways to contain jobs.
type Tier interface {
	Look(ctx context.Context, x proc.Exec) (Origin, error)
	Place(ctx context.Context, spec Spec) (Scope, error)
	Join(ctx context.Context, sc Scope, x proc.Exec, tree bool) (moved int, err error)
	SetLimits(ctx context.Context, sc Scope, l Limits) (Scope, error)
	Usage(sc Scope) Usage
	Check(ctx context.Context, sc Scope) (escaped []int, note string)
	Release(ctx context.Context, sc Scope) error
	Adopt(ctx context.Context, keepFrozen bool) ([]Scope, error)
	Freeze(sc Scope) error
	Thaw(sc Scope) error
	Signals(sc Scope) Signals
	Stop(ctx context.Context, sc Scope, grace time.Duration) error
	Describe() string
	MemoryController() bool
	Close() error
}

// Soft is a tier whose jobs are held to their caps by measuring (SoftCaps)
// wherever the kernel does not enforce them. A scope says so in SoftCap.
type Soft struct {
	Tier
	Caps *SoftCaps
}

// NewSoft wraps a tier. Caps are kept as long as Caps.Run runs.
func NewSoft(t Tier, caps *SoftCaps) *Soft { return &Soft{Tier: t, Caps: caps} }

// Place places as the tier does, and holds the job to its cap from the moment
// on at which it is let go.
func (s *Soft) Place(ctx context.Context, spec Spec) (Scope, error) {
	inForce := spec.InForce
	early := ""
	if !s.MemoryController() {
		spec.InForce = func(sc Scope) {
			early = sc.Cgroup
			s.hold(&sc, spec.Limits)
			if inForce != nil {
				inForce(sc)
			}
		}
	}
	sc, err := s.Tier.Place(ctx, spec)
	if err != nil {
		if early != "" {
			s.Caps.Drop(Scope{Cgroup: early})
		}
		return sc, err
	}
	s.hold(&sc, spec.Limits)
	return sc, nil
}

// SetLimits sets them as the tier does, and the cap that is kept by measuring.
func (s *Soft) SetLimits(ctx context.Context, sc Scope, l Limits) (Scope, error) {
	sc, err := s.Tier.SetLimits(ctx, sc, l)
	if err == nil {
		s.hold(&sc, l)
	}
	return sc, err
}

// hold takes a job over that the kernel does not hold.
func (s *Soft) hold(sc *Scope, l Limits) {
	if sc.MemoryController || l.MemoryMax == 0 || l.MemoryMax == Infinity {
		return
	}
	s.Caps.Set(*sc, l.MemoryMax, l.MemorySwapMax)
	sc.SoftCap, sc.MemoryMax, sc.MemorySwapMax = true, l.MemoryMax, l.MemorySwapMax
}

// Usage adds what was measured to what the tier knows.
func (s *Soft) Usage(sc Scope) Usage {
	u := s.Tier.Usage(sc)
	if !sc.SoftCap || u.Gone && sc.Cgroup != "" {
		return u
	}
	kills, last, peak, ok := s.Caps.Count(sc)
	if !ok {
		return u
	}
	u.OOMKills, u.Peak = kills, peak
	if kills > 0 {
		u.SoftKill = last
		u.Peak = max(peak, last.Sum)
	}
	if sc.Cgroup != "" {
		u.Working = s.Caps.Working(sc, u.Procs)
	}
	return u
}

// Release forgets the job.
func (s *Soft) Release(ctx context.Context, sc Scope) error {
	s.Caps.Drop(sc)
	return s.Tier.Release(ctx, sc)
}

// Adopt takes over what the tier finds. A cap is kept from the next SetLimits
// on: what the last one was, nobody has written down.
func (s *Soft) Adopt(ctx context.Context, keepFrozen bool) ([]Scope, error) {
	found, err := s.Tier.Adopt(ctx, keepFrozen)
	for i := range found {
		found[i].SoftCap = !found[i].MemoryController
	}
	return found, err
}
