package contain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

const (
	// stopEach is how often a scope that is being stopped is looked at.
	stopEach = 50 * time.Millisecond

	// killRounds bounds the freeze-kill-thaw rounds: a fork that was under way
	// when the scope froze is seen by the next one.
	killRounds = 4

	// killWait is how long killed processes have to be gone. On a machine that
	// thrashes, giving back a large process's memory takes seconds.
	killWait = 3 * time.Second
)

// Stop ends all members of a scope: it lets them go, asks with SIGTERM, and
// after the grace kills what is left, round by round while they stand frozen
// and cannot fork; cgroup.kill (Linux 5.14), which takes the placeholder and
// with it the counters, comes last. A scope that is gone is stopped. It takes
// the grace and some 15 s at most; the end of ctx cuts the grace short, and
// nothing is killed then. Whatever happens, nothing stays frozen.
func (s *scopes) Stop(ctx context.Context, sc Scope, grace time.Duration) error {
	if err := s.sameCgroup(sc); err != nil {
		if errors.Is(err, ErrNoScope) {
			return nil
		}
		return fmt.Errorf("stop %q: %w", sc.Unit, err)
	}
	// A process acts on SIGTERM only when it runs; but SIGKILL ends a frozen
	// one too, so this failing is no reason to give up.
	thawErr := s.Thaw(sc)
	s.signal(sc, unix.SIGTERM, unix.SIGCONT)
	if s.emptied(ctx, sc, grace) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("stop %q: %w", sc.Unit, errors.Join(err, thawErr))
	}
	for range killRounds {
		thawErr = s.killFrozen(sc)
		if s.emptied(ctx, sc, killWait) {
			return nil
		}
	}
	killErr := s.cg.write(sc.Cgroup, "cgroup.kill", "1")
	if s.emptied(ctx, sc, killWait) {
		return nil
	}
	left, _ := s.members(sc)
	return fmt.Errorf("stop %q: %d processes do not end (%v): %w", sc.Unit, len(left), left[:min(len(left), 5)],
		errors.Join(thawErr, killErr, ctx.Err(), errStuck))
}

// errStuck says that killed processes are still there: the kernel waits for a
// device or a network file system on their behalf.
var errStuck = errors.New("killed and still there")

// killFrozen kills the members while none of them can fork.
func (s *scopes) killFrozen(sc Scope) error {
	if err := s.cg.freeze(sc.Cgroup, true); err != nil {
		s.log.Debug("freeze to kill", "unit", sc.Unit, "err", err)
	}
	s.signal(sc, unix.SIGKILL)
	return s.Thaw(sc)
}

// signal sends signals to every member.
func (s *scopes) signal(sc Scope, signals ...unix.Signal) {
	members, _ := s.members(sc)
	for _, pid := range members {
		if err := s.send(sc.Cgroup, pid, signals...); err != nil && !isGone(err) {
			s.log.Warn("signal a member", "unit", sc.Unit, "pid", pid, "err", err)
		}
	}
}

// emptied waits until a scope has no member; false if it still has after d.
func (s *scopes) emptied(ctx context.Context, sc Scope, d time.Duration) bool {
	end := time.NewTimer(d)
	defer end.Stop()
	tick := time.NewTicker(stopEach)
	defer tick.Stop()
	for over := false; ; {
		if left, err := s.members(sc); err == nil && len(left) == 0 || err != nil && gone(err) {
			return true
		}
		if over {
			return false
		}
		select {
		case <-tick.C:
		case <-end.C:
			over = true
		case <-ctx.Done():
			over = true
		}
	}
}

// sendTo sends signals to a process that is in a cgroup or below it, by pidfd:
// its pid may be another's by the time that it is read.
func sendTo(fs proc.FS, cgroup string, pid int, signals ...unix.Signal) error {
	st, err := fs.Stat(pid)
	if err != nil {
		return err
	}
	h, err := proc.Open(fs, st.ID)
	if err != nil {
		return err
	}
	defer h.Close()
	at, err := fs.Cgroup(pid)
	switch {
	case err != nil:
		return err
	case !below(at, cgroup):
		return fmt.Errorf("pid %d is in %q by now: %w", pid, at, proc.ErrGone)
	}
	for _, sig := range signals {
		if err := h.Signal(sig); err != nil {
			return err
		}
		if sig == unix.SIGKILL {
			_ = h.Reap() // its memory is why it is killed, as often as not
		}
	}
	return nil
}
