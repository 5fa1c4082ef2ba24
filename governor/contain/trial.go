package contain

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

const (
	// trialPrefix is no job's, so that a trial's scope is never taken for one.
	trialPrefix = "headroomd-trial-"
	trialMemory = 32 << 20
	// trialDeadline: a manager that needs longer would be of no use to a
	// process that stands still meanwhile.
	trialDeadline = 10 * time.Second
)

func trialUnit() string { return trialPrefix + UnitName("x")[len(scopePrefix+"x-"):] }

// Trial places a process of its own that does nothing in a scope with a cap,
// and reads the cap back: that the manager takes such a scope, and that the
// kernel enforces it, is known before the first job and not by it. It also
// brings into memory, here and in the manager, what a placing runs through.
//
// It sets what MemoryController tells. An error says that jobs cannot be
// placed.
func (s *Systemd) Trial(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, trialDeadline)
	defer cancel()
	own, err := s.fs.Cgroup(os.Getpid())
	if err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	id, err := s.hold.start(uint32(os.Geteuid()), nil)
	if err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	defer s.hold.stop(id)
	spec := Spec{
		Description: "trial of a memory cap by headroomd",
		Exec:        proc.Exec{ID: id, Cgroup: own},
		Origin:      Origin{Cgroup: own, Kind: "service", Manager: SystemManager, Slice: "system.slice"},
		Limits:      Limits{MemoryMax: trialMemory, TasksMax: 16},
	}
	if s.user != nil {
		spec.Origin.Manager, spec.Origin.Slice = s.user.manager, userSlice
	}
	// What Look asks; what it would say of the governor itself does not matter.
	if _, err := s.stopping(ctx, spec.Origin); err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	sc := Scope{Unit: trialUnit(), Manager: s.home(), Main: id}
	if _, err := s.start(ctx, spec, &sc, []int{id.PID}); err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	if err := s.findScope(&sc); err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	s.readLimits(&sc, spec.Limits)
	s.mu.Lock()
	s.memory = sc.MemoryController && sc.MemoryMax == trialMemory
	s.mu.Unlock()
	return nil
}
