package contain

import (
	"errors"
	"fmt"
	"io/fs"
)

// Freeze stops all processes of a scope; their parents see an ordinary slow
// command. The files are written directly: systemd's own FreezeUnit waits for
// its job queue.
//
// What a frozen process does not see (seen on Linux 6.18): a signal that ends
// it by default ends it at once; one that it has a handler for waits, and so
// does a stop signal, until it is thawed (see Signals). A process that was stopped before it
// was frozen stays in state T, which its shell has been told of; SIGCONT then
// leaves it frozen, without an instruction in between.
func (s *scopes) Freeze(sc Scope) error {
	if err := s.sameCgroup(sc); err != nil {
		return err
	}
	if err := s.cg.freeze(sc.Cgroup, true); err != nil {
		return fmt.Errorf("freeze %q: %w", sc.Unit, err)
	}
	return nil
}

// Thaw lets a frozen scope go. A scope that is gone needs no thawing.
func (s *scopes) Thaw(sc Scope) error {
	if err := s.cg.freeze(sc.Cgroup, false); err != nil && !gone(err) {
		return fmt.Errorf("thaw %q: %w", sc.Unit, err)
	}
	return nil
}

// freezePlaced makes sure that the scope of a job that is to wait is frozen, or notes
// why it is not: then the job simply runs.
func (s *scopes) freezePlaced(sc *Scope, seen arrival) arrival {
	if seen.at == "" {
		// The manager was done before anybody looked.
		seen = arrival{at: sc.Cgroup, err: s.cg.freeze(sc.Cgroup, true)}
		seen.frozen = seen.err == nil
	}
	err := seen.err
	switch sc.Frozen = err == nil && s.cg.frozen(sc.Cgroup); {
	case errors.Is(err, fs.ErrNotExist):
		sc.Notes = append(sc.Notes, "not held: this kernel freezes no cgroup (needs Linux 5.2)")
	case err != nil:
		sc.Notes = append(sc.Notes, fmt.Sprintf("not held: freeze %q: %v", sc.Unit, err))
	case !sc.Frozen:
		sc.Notes = append(sc.Notes, "not held: somebody let it go")
	}
	return seen
}

// letGo thaws what was frozen for a placing that failed.
func (s *scopes) letGo(seen arrival) {
	if !seen.frozen {
		return
	}
	if err := s.cg.freeze(seen.at, false); err != nil && !gone(err) {
		s.log.Error("a process may stay frozen: headroomd release lets it go", "cgroup", seen.at, "err", err)
	}
}
