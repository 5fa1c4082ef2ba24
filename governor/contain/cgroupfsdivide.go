package contain

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// wanted are the controllers that jobs are given, as far as they are had.
var wanted = []string{"memory", "pids", "cpu", "io"}

// divide makes the cgroup of the jobs and hands the controllers down to it.
func (c *Cgroupfs) divide() error {
	// Processes are allowed beside what is handed down in the machine's root
	// alone, and that has no cgroup.type. The root of a container's cgroup
	// namespace has one.
	if _, err := c.cg.read(c.base, "cgroup.type"); c.base != "/" || err == nil {
		if err := c.clear(); err != nil {
			return err
		}
	}
	jobs := path.Join(c.base, jobsDir)
	if err := c.mkdir(jobs); err != nil {
		return err
	}
	for _, at := range []string{c.base, jobs} {
		have, err := c.cg.controllers(at)
		if err != nil {
			return err
		}
		for _, name := range wanted {
			if !slices.Contains(have, name) {
				continue
			}
			// One by one: one that is refused takes the others along.
			if err := c.cg.write(at, "cgroup.subtree_control", "+"+name); err != nil {
				c.log.Warn("hand a controller down", "controller", name, "cgroup", at, "err", err)
			}
		}
	}
	have, err := c.cg.controllers(jobs)
	if err != nil {
		return err
	}
	down, err := c.cg.read(jobs, "cgroup.subtree_control")
	c.memory = err == nil && slices.Contains(have, "memory") && slices.Contains(strings.Fields(string(down)), "memory")
	return err
}

// clear moves what sits in the base itself to a cgroup below it.
func (c *Cgroupfs) clear() error {
	if err := c.oursAlone(); err != nil {
		return err
	}
	rest := path.Join(c.base, restDir)
	if err := c.mkdir(rest); err != nil {
		return err
	}
	for range walks {
		pids, err := c.cg.procs(c.base)
		if err != nil || len(pids) == 0 {
			return err
		}
		for _, pid := range pids {
			if err := c.move(rest, pid); err != nil && !gone(err) {
				return fmt.Errorf("move pid %d out of it: %w", pid, err)
			}
		}
	}
	return errors.New("its processes fork faster than they can be moved")
}

// oursAlone refuses a delegated cgroup in which another user's processes sit:
// the kernel would let them be moved, and they are not this governor's.
func (c *Cgroupfs) oursAlone() error {
	if c.euid == 0 {
		return nil
	}
	pids, err := c.cg.procs(c.base)
	if err != nil {
		return err
	}
	for _, pid := range pids {
		x := proc.Exec{ID: proc.ID{PID: pid}}
		if err := c.fs.ReadFacts(&x); isGone(err) {
			continue
		} else if err != nil {
			return fmt.Errorf("whose is pid %d: %w", pid, err)
		}
		if x.UID != uint32(c.euid) {
			return fmt.Errorf("pid %d in it belongs to uid %d, and is not uid %d's to move (give the governor a cgroup of its own): %w",
				pid, x.UID, c.euid, errors.ErrUnsupported)
		}
	}
	return nil
}

// mkdir makes a cgroup, if there is none yet. A container sees its hierarchy
// read-only as a rule.
func (c *Cgroupfs) mkdir(at string) error {
	err := os.Mkdir(c.cg.dir(at), 0o755)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case errors.Is(err, unix.EROFS):
		return fmt.Errorf("%s is mounted read-only (mount it writable in this container): %w", c.cg.root, errors.ErrUnsupported)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %w", err, errors.ErrUnsupported)
	}
	return err
}
