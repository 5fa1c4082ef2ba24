package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/loader/proc"
)

// backend is a tier that can be closed.
type backend interface {
	governor.Backend
	Close() error
}

// tier is where jobs are put, and what is said about it.
type tier struct {
	backend backend
	status  governor.ContainStatus
	cgroups string
	soft    *contain.SoftCaps // keeps the caps that the kernel does not; it has to be run
}

// guarded is a tier whose held jobs are let go when this process dies, by a
// process of its own: for a governor that no service manager looks after.
type guarded struct {
	backend
	mu    sync.Mutex
	guard io.Closer
}

// Place starts the guard before the first command is held. What cannot be
// guarded is not held.
func (g *guarded) Place(ctx context.Context, spec contain.Spec) (contain.Scope, error) {
	if spec.Frozen {
		g.mu.Lock()
		if g.guard == nil {
			var err error
			if g.guard, err = contain.StartGuard("/proc/self/exe"); err != nil {
				spec.Frozen = false
			}
		}
		g.mu.Unlock()
	}
	return g.backend.Place(ctx, spec)
}

// Close ends the guard; by then the loop has let go what it held.
func (g *guarded) Close() error {
	err := g.backend.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.guard != nil {
		err = errors.Join(err, g.guard.Close())
	}
	return err
}

// openTier opens the tier that was asked for, or the best one there is. Why it
// is not a better one is part of what status says.
func openTier(ctx context.Context, want string, fs proc.FS, log *slog.Logger) (tier, error) {
	if want == "none" {
		return noTier(fs, "none was asked for"), nil
	}
	var reasons []string
	for _, open := range []struct {
		name string
		with func(context.Context, proc.FS, *slog.Logger) (tier, error)
	}{{"systemd", systemdTier}, {"cgroupfs", cgroupfsTier}} {
		if want != "auto" && want != open.name {
			continue
		}
		t, err := open.with(ctx, fs, log)
		switch {
		case err == nil:
			if len(reasons) > 0 {
				t.status.Why += "; not better: " + strings.Join(reasons, "; ")
			}
			return t, nil
		case want == open.name:
			return tier{}, fmt.Errorf("contain = %s: %w", want, err)
		case errors.Is(err, errors.ErrUnsupported):
			reasons = append(reasons, open.name+": "+plainReason(err))
		default:
			// Not what is missing but what went wrong: the guard goes on without, says
			// so, and a restart tries again.
			log.Error("open containment", "tier", open.name, "err", err)
			reasons = append(reasons, open.name+": "+err.Error())
		}
	}
	return noTier(fs, strings.Join(reasons, "; ")), nil
}

// opened is a tier before its first job.
type opened interface {
	contain.Tier
	Trial(context.Context) error
}

func systemdTier(ctx context.Context, fs proc.FS, log *slog.Logger) (tier, error) {
	mount := contain.Probe("").CgroupRoot
	s, err := contain.NewSystemd(ctx, contain.SystemdOptions{FS: fs, CgroupRoot: mount, Log: log})
	if err != nil {
		return tier{}, err
	}
	return tried(ctx, "systemd", s, mount, fs)
}

func cgroupfsTier(ctx context.Context, fs proc.FS, log *slog.Logger) (tier, error) {
	c, err := contain.NewCgroupfs(ctx, contain.CgroupfsOptions{FS: fs, Log: log})
	if err != nil {
		return tier{}, err
	}
	return tried(ctx, "cgroupfs", c, contain.Probe("").CgroupRoot, fs)
}

// tried proves a tier by a trial, and has what the kernel does not enforce kept
// by measuring.
func tried(ctx context.Context, name string, s opened, mount string, fs proc.FS) (tier, error) {
	if err := s.Trial(ctx); err != nil {
		return tier{}, errors.Join(err, s.Close())
	}
	status := governor.ContainStatus{Name: name, Why: s.Describe(), MemoryController: s.MemoryController(),
		Catch: true, CatchWhy: "processes stand still while they are placed"}
	if os.Geteuid() != 0 {
		status.Catch, status.CatchWhy = false, "only root may stop other processes by ptrace"
	}
	status.SoftCaps = !status.MemoryController
	soft := contain.NewSoftCaps(fs, mount)
	return tier{backend: contain.NewSoft(s, soft), status: status, cgroups: mount, soft: soft}, nil
}

func noTier(fs proc.FS, why string) tier {
	soft := contain.NewSoftCaps(fs, "")
	return tier{
		backend: contain.NewSoft(contain.NewNone(fs, why), soft),
		status:  governor.ContainStatus{Name: "none", Why: why, SoftCaps: true, CatchWhy: "there is nowhere to put what would be caught"},
		soft:    soft,
	}
}

// plainReason is what is missing, on one line and without the sentinel's words.
func plainReason(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, ": "+errors.ErrUnsupported.Error())
	}
	return strings.Join(lines, "; ")
}
