package contain

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// Join moves a process into a running scope by one write, and with tree its
// descendants that sit where it sat. The caller has looked at its origin. A
// process that ended meanwhile is not counted; ErrNoScope says that the scope
// has ended.
func (s *scopes) Join(ctx context.Context, sc Scope, x proc.Exec, tree bool) (moved int, err error) {
	if x.ID.PID <= 1 {
		return 0, fmt.Errorf("join pid %d: not a process to be moved", x.ID.PID)
	}
	if err := s.sameCgroup(sc); err != nil {
		return 0, fmt.Errorf("join pid %d: %w", x.ID.PID, err)
	}
	from, err := s.fs.Cgroup(x.ID.PID)
	if err != nil {
		return 0, fmt.Errorf("join pid %d: %w", x.ID.PID, err)
	}
	if err := s.same(x.ID); err != nil {
		return 0, err
	}
	if from != sc.Cgroup {
		switch err := s.attach(sc.Cgroup, x.ID.PID); {
		case err == nil:
			moved++
		case !errors.Is(err, unix.ESRCH):
			return 0, fmt.Errorf("join pid %d to %q: %w", x.ID.PID, sc.Unit, err)
		}
	}
	if !tree || ctx.Err() != nil || from == sc.Cgroup {
		return moved, nil
	}
	more, err := s.moveBelow(sc, x.ID.PID, from)
	return moved + more, err
}

func (s *scopes) attach(cgroup string, pid int) error {
	if err := s.adjust(pid); err != nil && !gone(err) {
		s.log.Debug("oom_score_adj", "pid", pid, "err", err)
	}
	return s.move(cgroup, pid)
}

// below lists the descendants of a process that sit in the same cgroup as it.
// What is elsewhere (a container, a session opened by su) was put there on
// purpose.
func (s *scopes) below(pid int, cgroup string) ([]int, error) {
	ids, err := s.fs.Descendants(pid)
	if err != nil && !isGone(err) {
		return nil, fmt.Errorf("descendants of %d: %w", pid, err)
	}
	var pids []int
	for _, id := range ids {
		if at, err := s.fs.Cgroup(id.PID); err == nil && at == cgroup {
			pids = append(pids, id.PID)
		}
	}
	return pids, nil
}

// walks bounds how often a tree that keeps forking is gone through. A child is
// born in its parent's cgroup, so each walk can only find the children that
// were forked by those which the walk before had not moved yet.
const walks = 10

// moveBelow moves the descendants of a process until a walk finds none that
// is still in the cgroup that it came from.
func (s *scopes) moveBelow(sc Scope, pid int, from string) (moved int, err error) {
	for range walks {
		pids, err := s.below(pid, from)
		if err != nil {
			return moved, err
		}
		if len(pids) == 0 {
			return moved, nil
		}
		for _, p := range pids {
			switch err := s.attach(sc.Cgroup, p); {
			case err == nil:
				moved++
			case !errors.Is(err, unix.ESRCH):
				return moved, fmt.Errorf("move %d, a descendant of %d: %w", p, pid, err)
			}
		}
	}
	return moved, fmt.Errorf("descendants of %d still outside after %d walks", pid, walks)
}
