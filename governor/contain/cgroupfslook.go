package contain

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/headroomd/headroomd/loader/proc"
)

// Look says whether a process may be moved from where it sits.
//
// Without units it is the cgroups themselves that tell: one with a limit of its
// own was made for what is in it, and to move a process out would be to lift
// that. What cannot be read off a cgroup (a device filter) is not seen; on
// machines without systemd it is containers that have those, and they are left
// alone.
func (c *Cgroupfs) Look(_ context.Context, x proc.Exec) (Origin, error) {
	if x.ID.PID <= 1 {
		return Origin{Kind: "none", Refuse: "pid 1 and the kernel's own are never moved"}, nil
	}
	at := x.Cgroup
	if at == "" {
		var err error
		if at, err = c.fs.Cgroup(x.ID.PID); err != nil {
			return Origin{}, fmt.Errorf("look where pid %d sits: %w", x.ID.PID, err)
		}
	}
	jobs := path.Join(c.base, jobsDir)
	o := Origin{Cgroup: at, Kind: "cgroup", Manager: cgroupfsManager, Slice: jobs}
	rest, inJobs := strings.CutPrefix(at, jobs+"/")
	engine, boxed := proc.ContainerOf(at)
	switch {
	case inJobs:
		o.Kind = "job"
		o.Unit, _, _ = strings.Cut(rest, "/")
		return o, nil
	case strings.HasPrefix(at, "/.."):
		o.Refuse = "it sits outside the cgroup namespace of the governor"
	case boxed:
		o.Kind, o.Refuse = "container", fmt.Sprintf("it runs in a container (%s): its processes are not moved", engine)
	case c.base != "/" && at != c.base && !strings.HasPrefix(at, c.base+"/"):
		o.Refuse = fmt.Sprintf("it sits in %q, outside the cgroup %q that was delegated to the governor", at, c.base)
	}
	if o.Refuse != "" {
		return o, nil
	}
	if c.euid != 0 {
		owner := proc.Exec{ID: x.ID}
		if err := c.fs.ReadFacts(&owner); err != nil {
			return o, fmt.Errorf("look at pid %d: %w", x.ID.PID, err)
		}
		if owner.UID != uint32(c.euid) || owner.EUID != uint32(c.euid) {
			o.Refuse = fmt.Sprintf("it belongs to uid %d, and this governor guards uid %d alone", owner.UID, c.euid)
			return o, nil
		}
	}
	var err error
	o.Refuse, err = c.limited(at)
	return o, err
}

// ownLimits are the files that hold what is in a cgroup back, hugetlb's apart:
// one of those has the size of a page in its name. misc.max and rdma.max are
// none of them: they have a line for each device, limited or not.
var ownLimits = []string{"memory.max", "memory.high", "memory.swap.max", "memory.swap.high", "memory.zswap.max",
	"pids.max", "cpu.max", "io.max", "cpuset.cpus", "cpuset.mems"}

// limited says what limit of its own a cgroup has, or one between it and the
// part that is the governor's; "" if none has. A cgroup that somebody froze
// counts: what is moved out of it runs.
func (c *Cgroupfs) limited(at string) (string, error) {
	for ; at != c.base && at != "/"; at = path.Dir(at) {
		if c.cg.frozen(at) {
			return fmt.Sprintf("its cgroup %q was frozen by somebody: moving it out would let it go", at), nil
		}
		huge, _ := filepath.Glob(filepath.Join(c.cg.dir(at), "hugetlb.*.max"))
		for i, file := range huge {
			huge[i] = filepath.Base(file)
		}
		for _, file := range slices.Concat(ownLimits, huge) {
			text, err := c.cg.read(at, file)
			if gone(err) {
				continue // no such controller here
			}
			if err != nil {
				return "", fmt.Errorf("look at the limits of %q: %w", at, err)
			}
			value := strings.TrimSpace(string(text))
			if value != "" && value != "max" && !strings.HasPrefix(value, "max ") {
				return fmt.Sprintf("its cgroup %q limits %s: moving it out would lift that", at, file), nil
			}
		}
	}
	return "", nil
}
