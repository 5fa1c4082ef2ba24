package contain

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// scopes is what is done to a job's cgroup without asking anybody: reading,
// freezing, joining, ending. Both tiers with cgroups have it.
type scopes struct {
	fs   proc.FS
	cg   cgroups
	log  *slog.Logger
	hold placeholders

	// What a directory cannot imitate: a test puts its own here.
	adjust func(pid int) error                // raises oom_score_adj
	move   func(cgroup string, pid int) error // writes cgroup.procs
	send   func(cgroup string, pid int, signals ...unix.Signal) error
}

func newScopes(fs proc.FS, root string, log *slog.Logger, hold placeholders) scopes {
	cg := cgroups{root}
	return scopes{
		fs: fs, cg: cg, log: log, hold: hold,
		adjust: raiseOOMScore,
		move:   cg.attach,
		send: func(cgroup string, pid int, signals ...unix.Signal) error {
			return sendTo(fs, cgroup, pid, signals...)
		},
	}
}

// placeholders is what scopes need of a keeper.
type placeholders interface {
	start(uid uint32, cgroup *os.File) (proc.ID, error)
	stop(proc.ID)
	reap()
	close()
}

// sameCgroup refuses a scope whose cgroup is gone, or is another's of the same
// name by now.
func (s *scopes) sameCgroup(sc Scope) error {
	if !IsScopeName(path.Base(sc.Cgroup)) {
		return fmt.Errorf("%q is no cgroup of a job", sc.Cgroup)
	}
	id, err := s.cg.id(sc.Cgroup)
	switch {
	case err != nil && gone(err):
		return fmt.Errorf("%q: %w", sc.Unit, ErrNoScope)
	case err != nil:
		return err
	case sc.CgroupID != 0 && id != sc.CgroupID:
		return fmt.Errorf("%q was replaced by another of its name: %w", sc.Unit, ErrNoScope)
	}
	return nil
}

// ErrNoScope says that a scope has ended.
var ErrNoScope = errors.New("the scope is gone")
