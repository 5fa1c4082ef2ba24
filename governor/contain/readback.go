package contain

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/headroomd/headroomd/loader/proc"
)

// findScope learns where the scope is from where the processes are: systemd
// accepts limits that no controller enforces and moves what sits in another
// unit without complaint, so its answers are not asked for.
func (s *scopes) findScope(sc *Scope) error {
	for _, id := range []proc.ID{sc.Placeholder, sc.Main} {
		if id.PID <= 0 {
			continue
		}
		at, err := s.fs.Cgroup(id.PID)
		if err != nil || path.Base(at) != sc.Unit {
			continue
		}
		sc.Cgroup = at
		if sc.CgroupID, err = s.cg.id(at); err != nil {
			return fmt.Errorf("read back %q: %w", sc.Unit, err)
		}
		return nil
	}
	if err := s.same(sc.Main); err != nil {
		return err
	}
	at, err := s.fs.Cgroup(sc.Main.PID)
	if err != nil {
		return err
	}
	return fmt.Errorf("read back %q: the manager said done, but pid %d is in %q", sc.Unit, sc.Main.PID, at)
}

// readPlaces counts who is in the scope. A main process that ended before it
// was moved leaves a scope for nobody, unless descendants were moved.
func (s *scopes) readPlaces(sc *Scope, o Origin) error {
	where := ParseOrigin(sc.Cgroup)
	if where.Manager != o.Manager || where.Slice != o.Slice {
		sc.Notes = append(sc.Notes, fmt.Sprintf("the scope is %q, asked for below %s of the %s manager", sc.Cgroup, o.Slice, o.Manager))
	}
	procs, err := s.cg.procs(sc.Cgroup)
	switch {
	case err != nil && gone(err):
		// It was stopped in the meantime, and the process with it.
		return fmt.Errorf("read back %q: %w", sc.Unit, ErrNoScope)
	case err != nil:
		return fmt.Errorf("read back %q: %w", sc.Unit, err)
	}
	sc.Moved = len(without(procs, sc.Placeholder.PID))
	switch sameErr := s.same(sc.Main); {
	case sameErr != nil && sc.Moved == 0:
		return sameErr
	case sameErr == nil && !slices.Contains(procs, sc.Main.PID):
		// A zombie is listed nowhere.
		if st, err := s.fs.Stat(sc.Main.PID); err == nil && st.State == 'Z' {
			if sc.Moved > 0 {
				return nil
			}
			return fmt.Errorf("place pid %d: %w", sc.Main.PID, proc.ErrGone)
		}
		at, _ := s.fs.Cgroup(sc.Main.PID)
		return fmt.Errorf("read back %q: pid %d is in %q", sc.Unit, sc.Main.PID, at)
	}
	return nil
}

// readLimits reads what is in force and notes what differs from want.
func (s *scopes) readLimits(sc *Scope, want Limits) {
	var err error
	sc.MemoryMax, err = s.cg.limit(sc.Cgroup, "memory.max")
	sc.MemoryController = err == nil
	sc.MemorySwapMax = 0
	if !sc.MemoryController {
		sc.MemoryMax = 0
		if want.MemoryMax != 0 {
			sc.Notes = append(sc.Notes, "no memory controller here: MemoryMax is not enforced")
		}
	} else if want.MemoryMax != 0 {
		if page := uint64(os.Getpagesize()); sc.MemoryMax != want.MemoryMax && sc.MemoryMax != want.MemoryMax/page*page {
			sc.Notes = append(sc.Notes, fmt.Sprintf("memory.max is %s, asked for %d", words(sc.MemoryMax), want.MemoryMax))
		}
		sc.MemorySwapMax, err = s.cg.limit(sc.Cgroup, "memory.swap.max")
		page := uint64(os.Getpagesize())
		switch {
		case err != nil:
			sc.Notes = append(sc.Notes, "no memory.swap.max: the job may swap without limit")
			sc.MemorySwapMax = Infinity
		case sc.MemorySwapMax != want.MemorySwapMax && sc.MemorySwapMax != want.MemorySwapMax/page*page:
			sc.Notes = append(sc.Notes, fmt.Sprintf("memory.swap.max is %s, asked for %d", words(sc.MemorySwapMax), want.MemorySwapMax))
		}
	} else if swap, err := s.cg.limit(sc.Cgroup, "memory.swap.max"); err == nil {
		sc.MemorySwapMax = swap
	}
}

func words(limit uint64) string {
	if limit == Infinity {
		return "max"
	}
	return fmt.Sprint(limit)
}

func without(pids []int, drop int) []int {
	return slices.DeleteFunc(slices.Clone(pids), func(p int) bool { return p == drop })
}

// Usage is one reading of a scope; what is not there is -1.
func (s *scopes) Usage(sc Scope) Usage {
	if err := s.sameCgroup(sc); err != nil {
		u := noUsage()
		u.Gone = true
		return u
	}
	u := s.cg.usage(sc.Cgroup)
	u.Procs = without(u.Procs, sc.Placeholder.PID)
	return u
}

// Check reads a scope back once more. escaped are descendants of its processes
// that left it without being put into another job; note says what else is not
// as it was, "" if nothing.
//
// It goes through the whole process table: 10-40 us a process.
func (s *scopes) Check(ctx context.Context, sc Scope) (escaped []int, note string) {
	s.hold.reap()
	if err := s.sameCgroup(sc); err != nil {
		return nil, err.Error()
	}
	procs, err := s.cg.procs(sc.Cgroup)
	if err != nil {
		return nil, fmt.Sprintf("read back %q: %v", sc.Unit, err)
	}
	member := make(map[int]bool, len(procs)+1)
	for _, p := range procs {
		member[p] = p != sc.Placeholder.PID
	}
	if s.same(sc.Main) == nil {
		member[sc.Main.PID] = true
	}
	if escaped, err = s.escaped(ctx, sc, member); err != nil {
		note = err.Error()
	}
	if sc.MemoryController {
		now, err := s.cg.limit(sc.Cgroup, "memory.max")
		switch {
		case err != nil:
			note = fmt.Sprintf("memory.max cannot be read any more: %v", err)
		case now != sc.MemoryMax:
			note = fmt.Sprintf("memory.max is %s, it was %s", words(now), words(sc.MemoryMax))
		}
	}
	return escaped, note
}

// escaped follows the children of the members, outside the scope too.
func (s *scopes) escaped(ctx context.Context, sc Scope, member map[int]bool) ([]int, error) {
	all, err := s.fs.List()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	children := make(map[int][]int)
	for _, pid := range all {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if st, err := s.fs.Stat(pid); err == nil && st.State != 'Z' {
			children[st.PPID] = append(children[st.PPID], pid)
		}
	}
	var found []int
	seen := make(map[int]bool)
	todo := make([]int, 0, len(member))
	for pid, is := range member {
		if is {
			todo = append(todo, pid)
		}
	}
	for len(todo) > 0 {
		pid := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[pid] {
			continue
		}
		seen[pid] = true
		todo = append(todo, children[pid]...)
		at, err := s.fs.Cgroup(pid)
		if err != nil || at == sc.Cgroup || IsScopeName(ParseOrigin(at).Unit) {
			continue
		}
		found = append(found, pid)
	}
	slices.Sort(found)
	return found, nil
}

// SetLimits changes what a running scope is held to, and reads it back. It
// goes through the manager: a value that was only written to memory.max is
// undone by the next daemon-reload.
func (s *Systemd) SetLimits(ctx context.Context, sc Scope, l Limits) (Scope, error) {
	if err := s.sameCgroup(sc); err != nil {
		return sc, fmt.Errorf("set limits: %w", err)
	}
	if props := limitProperties(l); len(props) > 0 {
		if err := s.manager(sc.Manager).set(ctx, sc.Unit, props); err != nil {
			return sc, fmt.Errorf("set limits of %q: %w", sc.Unit, err)
		}
	}
	sc.Notes = nil
	s.readLimits(&sc, l)
	return sc, nil
}

// Release ends the placeholders of a job that is over; the scope then goes by
// itself. What else is in it is let go and stays.
func (s *scopes) Release(_ context.Context, sc Scope) error {
	err := s.Thaw(sc)
	s.hold.stop(sc.Placeholder)
	s.hold.stop(sc.OriginHolder)
	return err
}
