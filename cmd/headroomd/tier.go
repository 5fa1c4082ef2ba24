package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

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
}

// openTier opens the tier that was asked for, or the best one there is.
func openTier(ctx context.Context, want string, fs proc.FS, log *slog.Logger) (tier, error) {
	if want == "none" {
		return noTier(fs, "none was asked for"), nil
	}
	if want == "cgroupfs" {
		return tier{}, errors.New("contain = cgroupfs is not in this version; auto, systemd and none are")
	}
	mount := contain.Probe("").CgroupRoot
	s, err := contain.NewSystemd(ctx, contain.SystemdOptions{FS: fs, CgroupRoot: mount, Log: log})
	if err == nil {
		if err = s.Trial(ctx); err != nil {
			err = errors.Join(err, s.Close())
		}
	}
	switch {
	case err == nil:
	case want == "systemd":
		return tier{}, fmt.Errorf("contain = systemd: %w", err)
	case errors.Is(err, errors.ErrUnsupported):
		return noTier(fs, plainReason(err)), nil
	default:
		// Not what is missing but what went wrong: the guard goes on without, says
		// so, and a restart tries again.
		log.Error("open containment", "err", err)
		return noTier(fs, err.Error()), nil
	}
	status := governor.ContainStatus{Name: "systemd", Why: s.Describe(), MemoryController: s.MemoryController(),
		Catch: true, CatchWhy: "processes stand still while they are placed"}
	if os.Geteuid() != 0 {
		status.Catch, status.CatchWhy = false, "only root may stop other processes by ptrace"
	}
	return tier{backend: s, status: status, cgroups: mount}, nil
}

func noTier(fs proc.FS, why string) tier {
	return tier{
		backend: contain.NewNone(fs, why),
		status:  governor.ContainStatus{Name: "none", Why: why, CatchWhy: "there is nowhere to put what would be caught"},
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
