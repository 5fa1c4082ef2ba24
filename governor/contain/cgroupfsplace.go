package contain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/governor/contain/fault"
	"github.com/headroomd/headroomd/loader/proc"
)

// Place makes a cgroup with the limits, and moves the process into it: what is
// moved has its cap from its first instruction there on. A frozen one is frozen
// before anything is in it. After an error the process is where it was. It
// takes one or two of the kernel's grace periods, 10-50 ms each.
func (c *Cgroupfs) Place(ctx context.Context, spec Spec) (sc Scope, err error) {
	begin := time.Now()
	id := spec.Exec.ID
	switch {
	case id.PID <= 1:
		return Scope{}, fmt.Errorf("place pid %d: not a process to be moved", id.PID)
	case !unitName.MatchString(spec.Unit):
		return Scope{}, fmt.Errorf("place pid %d: %q is no name of a job", id.PID, spec.Unit)
	case spec.Origin.Refuse != "":
		return Scope{}, &RefusedError{spec.Origin}
	case spec.Origin.Kind == "job":
		return Scope{}, fmt.Errorf("place pid %d: it is in %q already", id.PID, spec.Origin.Unit)
	}
	if err := c.same(id); err != nil {
		return Scope{}, err
	}
	sc = Scope{Unit: spec.Unit, Manager: cgroupfsManager, Main: id, Cgroup: path.Join(c.base, jobsDir, spec.Unit)}
	if err := os.Mkdir(c.cg.dir(sc.Cgroup), 0o755); err != nil {
		return Scope{}, fmt.Errorf("place pid %d: %w", id.PID, err)
	}
	defer func() {
		if sc.Took = time.Since(begin); err != nil {
			c.undo(sc, spec.Origin.Cgroup)
			sc = Scope{}
		}
	}()
	if sc.CgroupID, err = c.cg.id(sc.Cgroup); err != nil {
		return sc, err
	}
	sc.Notes = append(sc.Notes, c.limit(sc.Cgroup, spec.Limits)...)
	if spec.Frozen {
		ferr := c.cg.freeze(sc.Cgroup, true)
		if sc.Frozen = ferr == nil && c.cg.frozen(sc.Cgroup); !sc.Frozen {
			sc.Notes = append(sc.Notes, fmt.Sprintf("not held: freeze %q: %v", sc.Unit, ferr))
		}
	}
	if spec.Progress != nil {
		spec.Progress()
	}
	if err := c.attach(sc.Cgroup, id.PID); err != nil {
		// ENOENT and ENODEV are the cgroup's end and not the process's.
		if errors.Is(err, unix.ESRCH) {
			err = proc.ErrGone
		}
		return sc, fmt.Errorf("place pid %d: %w", id.PID, err)
	}
	fault.At("placed", id.PID)
	if spec.InForce != nil {
		spec.InForce(sc)
	}
	if spec.Tree {
		if _, err := c.moveBelow(sc, id.PID, spec.Origin.Cgroup); err != nil {
			sc.Notes = append(sc.Notes, err.Error())
		}
	}
	procs, err := c.cg.procs(sc.Cgroup)
	if err != nil {
		return sc, fmt.Errorf("read back %q: %w", sc.Unit, err)
	}
	if sc.Moved = len(procs); sc.Moved == 0 {
		return sc, fmt.Errorf("place pid %d: %w", id.PID, proc.ErrGone)
	}
	c.readLimits(&sc, spec.Limits)
	return sc, nil
}

// undo takes back a placing that failed.
func (c *Cgroupfs) undo(sc Scope, origin string) {
	if err := c.cg.freeze(sc.Cgroup, false); err != nil && !gone(err) {
		c.log.Error("a process may stay frozen: headroomd release lets it go", "cgroup", sc.Cgroup, "err", err)
	}
	procs, _ := c.cg.procs(sc.Cgroup)
	for _, pid := range procs {
		if err := c.move(origin, pid); err != nil && !gone(err) {
			c.log.Warn("move a process back", "pid", pid, "cgroup", origin, "err", err)
		}
	}
	c.tidy(sc.Cgroup)
}

// limit writes the limits and says which the kernel did not take. What it has
// no controller for is readLimits' to tell.
func (c *Cgroupfs) limit(at string, l Limits) []string {
	var notes []string
	set := func(file string, limit uint64) {
		text := "max"
		if limit != Infinity {
			text = strconv.FormatUint(limit, 10)
		}
		if err := c.cg.write(at, file, text); err != nil && !errors.Is(err, fs.ErrNotExist) {
			notes = append(notes, fmt.Sprintf("%s of %q: %v", file, path.Base(at), err))
		}
	}
	if l.MemoryMax != 0 {
		set("memory.swap.max", l.MemorySwapMax)
		set("memory.max", l.MemoryMax)
	}
	if l.TasksMax != 0 {
		set("pids.max", l.TasksMax)
	}
	return notes
}

// SetLimits changes the limits of a running job and reads them back.
func (c *Cgroupfs) SetLimits(_ context.Context, sc Scope, l Limits) (Scope, error) {
	if err := c.sameCgroup(sc); err != nil {
		return sc, fmt.Errorf("set limits: %w", err)
	}
	sc.Notes = c.limit(sc.Cgroup, l)
	c.readLimits(&sc, l)
	return sc, nil
}

// Release lets a job's cgroup go: it is removed as soon as it is empty, here or
// when a later one is released.
func (c *Cgroupfs) Release(_ context.Context, sc Scope) error {
	err := c.Thaw(sc)
	c.tidy(sc.Cgroup)
	return err
}

// Adopt takes over the jobs that a former governor left, and removes what they
// left empty. A frozen one is let go, or with keepFrozen says so.
func (c *Cgroupfs) Adopt(ctx context.Context, keepFrozen bool) ([]Scope, error) {
	c.sweep()
	jobs := path.Join(c.base, jobsDir)
	entries, err := os.ReadDir(c.cg.dir(jobs))
	if err != nil {
		return nil, fmt.Errorf("look for jobs of a former run: %w", err)
	}
	var found []Scope
	for _, e := range entries {
		if !e.IsDir() || !IsScopeName(e.Name()) {
			continue
		}
		sc := Scope{Unit: e.Name(), Manager: cgroupfsManager, Cgroup: path.Join(jobs, e.Name())}
		if sc.CgroupID, err = c.cg.id(sc.Cgroup); err != nil {
			continue
		}
		frozen := c.cg.frozen(sc.Cgroup)
		procs, _ := c.cg.allProcs(sc.Cgroup)
		oldest, members := c.oldest(procs)
		if frozen && (!keepFrozen || members == 0 || len(found) >= adoptPerManager || ctx.Err() != nil) {
			if err := c.cg.freeze(sc.Cgroup, false); err != nil {
				c.log.Error("a process may stay frozen: headroomd release lets it go", "cgroup", sc.Cgroup, "err", err)
			}
			frozen = false
			sc.Notes = append(sc.Notes, "it was frozen and was let go")
		}
		if members == 0 || len(found) >= adoptPerManager {
			continue
		}
		sc.Frozen, sc.Main, sc.Moved = frozen, oldest.ID, members
		c.readLimits(&sc, Limits{})
		found = append(found, sc)
	}
	slices.SortFunc(found, func(a, b Scope) int { return strings.Compare(a.Unit, b.Unit) })
	return found, ctx.Err()
}

// DelegatedTree is the part of the hierarchy that a governor divides which runs
// in this cgroup; "" for one that was given none.
func DelegatedTree(root, own string) string {
	if path.Base(own) != restDir {
		return ""
	}
	return cgroups{root}.dir(path.Dir(own))
}
