package contain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"
)

const (
	// maxLowered bounds how many containers are capped at once, and with it the
	// file.
	maxLowered     = 256
	maxLoweredFile = 1 << 20
	loweredVersion = 1
)

// lowered is one container whose limits were lowered, as it is kept.
type lowered struct {
	Cgroup   string `json:"cgroup"`
	CgroupID uint64 `json:"cgroup_id"` // another of its name has another
	Memory   value  `json:"memory_max"`
	Swap     value  `json:"memory_swap_max"`

	job        string
	before     int64 // charged when the job began, and not to be dropped
	swapBefore int64
	kills      int64 // as of then
}

// value is one limit.
type value struct {
	Was  uint64 `json:"was"`
	Set  uint64 `json:"set"`
	Next uint64 `json:"next"` // is about to be set; Set once it is
	On   bool   `json:"on"`   // ours is in force
}

// see takes in what is there now: what was not set here is what is to be given
// back.
func (v *value) see(have uint64) {
	if !v.On || have != v.Set && have != v.Next {
		*v = value{Was: have}
	}
}

type loweredValue struct {
	file string
	v    *value
}

func (l *lowered) values() []loweredValue {
	return []loweredValue{{"memory.max", &l.Memory}, {"memory.swap.max", &l.Swap}}
}

// begin notes what the container has when a job begins in it. Where its
// working set cannot be told apart, all that is charged counts as that.
func (l *lowered) begin(cg cgroups) {
	l.before = working(cg.table(l.Cgroup, "memory.stat"))
	if l.before < 0 {
		l.before = max(cg.number(l.Cgroup, "memory.current"), 0)
	}
	l.swapBefore = max(cg.number(l.Cgroup, "memory.swap.current"), 0)
	l.kills = max(cg.table(l.Cgroup, "memory.events")["oom_kill"], 0)
}

func (l *lowered) told(cg cgroups) ContainerCap {
	now := ContainerCap{MemoryWas: l.Memory.Was, Lowered: l.Memory.On, Before: l.before, MemorySwapMax: Infinity,
		OOMKills: max(cg.table(l.Cgroup, "memory.events")["oom_kill"]-l.kills, 0)}
	now.MemoryMax = l.Memory.Was
	if l.Memory.On {
		now.MemoryMax = l.Memory.Set
	}
	if swap, err := cg.limit(l.Cgroup, "memory.swap.max"); err == nil {
		now.MemorySwapMax = swap
	}
	return now
}

// restore gives back what the limits were, where they still are what was set.
func (l *lowered) restore(cg cgroups) error {
	if id, err := cg.id(l.Cgroup); err != nil || id != l.CgroupID {
		return nil // it ended
	}
	var all []error
	for _, f := range l.values() {
		if !f.v.On {
			continue
		}
		have, err := cg.limit(l.Cgroup, f.file)
		switch {
		case err != nil && gone(err):
		case err != nil:
			all = append(all, err)
		case have == f.v.Set || have == f.v.Next:
			if err := cg.write(l.Cgroup, f.file, limitText(f.v.Was)); err != nil && !gone(err) {
				all = append(all, fmt.Errorf("give %s of %q back as %s: %w", f.file, l.Cgroup, limitText(f.v.Was), err))
			}
		}
	}
	return errors.Join(all...)
}

type loweredFile struct {
	Version    int        `json:"version"`
	Containers []*lowered `json:"containers"`
}

// keep writes down what is changed, so that it can be given back by somebody
// else. The file is in memory (/run): it need not be forced to a disk, since
// after a power cut there is no cgroup either.
func (c *Containers) keep() error {
	all := loweredFile{Version: loweredVersion, Containers: []*lowered{}}
	for _, name := range slices.Sorted(maps.Keys(c.all)) {
		all.Containers = append(all.Containers, c.all[name])
	}
	text, err := json.Marshal(all)
	if err == nil {
		next := c.file + ".new"
		if err = os.WriteFile(next, text, 0o600); err == nil {
			err = os.Rename(next, c.file)
		}
	}
	if err != nil {
		return fmt.Errorf("write down what containers had: %w", err)
	}
	return nil
}

// Recover gives back what a governor that died had changed. It is called
// before anything else.
func (c *Containers) Recover() (restored []string, err error) {
	restored, err = RestoreContainers(c.cg.root, c.file)
	if err == nil {
		err = c.keep()
	}
	return restored, err
}

// RestoreContainers gives back to containers what a governor changed that has
// ended, as its file says. root is where the unified hierarchy is mounted. It
// returns the cgroups that it gave something back to. The file stays as it is:
// what is given back is told from what is not by the limits themselves.
func RestoreContainers(root, file string) (restored []string, err error) {
	f, err := os.OpenFile(file, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what containers had: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxLoweredFile))
	var all loweredFile
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err == nil && all.Version != loweredVersion {
		err = fmt.Errorf("version %d is not %d", all.Version, loweredVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("read what containers had (%s): %w", file, err)
	}
	cg := cgroups{root}
	var troubles []error
	for _, l := range all.Containers {
		if l == nil || !path.IsAbs(l.Cgroup) || path.Clean(l.Cgroup) != l.Cgroup || l.CgroupID == 0 {
			troubles = append(troubles, errors.New("an entry names no cgroup"))
			continue
		}
		before := l.read(cg)
		if err := l.restore(cg); err != nil {
			troubles = append(troubles, err)
		}
		if l.read(cg) != before {
			restored = append(restored, l.Cgroup)
		}
	}
	return restored, errors.Join(troubles...)
}

func (l *lowered) read(cg cgroups) (limits [2]uint64) {
	for i, f := range l.values() {
		limits[i], _ = cg.limit(l.Cgroup, f.file)
	}
	return limits
}
