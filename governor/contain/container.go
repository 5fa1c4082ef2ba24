package contain

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// containerRoom is what a container may always still grow by, in bytes. The
// kernel reclaims, and then kills, until a cgroup is below a limit that is
// being written: so none is ever written that is not above what is charged.
const containerRoom = 64 << 20

// Containers lowers the memory limits of containers while a job runs in them,
// and gives back what they were. A limit is only ever lowered, and what was
// there is written to a file before it is changed: a governor that dies leaves
// to the next, or to RestoreContainers, what has to be given back.
//
// Limits are written to the cgroup and not set as properties of its unit: a
// property would stay behind as a drop-in, an engine without systemd has no
// unit, and giving back must work when no manager answers. systemd writes what
// it knows at a daemon-reload; Check finds that and lowers the limit again.
//
// Its methods may be called from several goroutines, and write to cgroups.
type Containers struct {
	cg   cgroups
	file string
	log  *slog.Logger
	// Whether what systemd made is delegated; a test puts its own here.
	delegated func(dir string) error

	mu  sync.Mutex
	all map[string]*lowered // by cgroup
}

// NewContainers keeps what it changes in file. root is where the unified
// hierarchy is mounted.
func NewContainers(root, file string, log *slog.Logger) *Containers {
	return &Containers{cg: cgroups{root}, file: file, log: log, delegated: delegated, all: make(map[string]*lowered)}
}

// ContainerCap is what a container is held to. Sizes are in bytes.
type ContainerCap struct {
	MemoryMax     uint64 // as memory.max has it
	MemoryWas     uint64 // before it was lowered
	MemorySwapMax uint64 // as memory.swap.max has it; Infinity also where there is none
	Lowered       bool   // by us; false where it had a lower limit already
	Before        int64  // what was charged that cannot be dropped when the job began
	OOMKills      int64  // since the job began
}

// ErrUncapped wraps why a container is not capped where nothing went wrong.
var ErrUncapped = errors.New("its container is not capped")

// Lower has the container of a job hold, besides what is charged to it now, at
// most what the job is granted. A second call for the same job changes the
// grant. A container that has a lower limit keeps it.
func (c *Containers) Lower(job string, box proc.Container, grant Limits) (ContainerCap, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, err := c.cappable(box)
	if err != nil {
		return ContainerCap{}, err
	}
	l := c.all[box.Cgroup]
	switch {
	case l != nil && l.CgroupID != id:
		delete(c.all, box.Cgroup) // another of its name
		l = nil
	case l != nil && l.job != job:
		l.job = job
		l.begin(c.cg)
	}
	if l == nil {
		if len(c.all) >= maxLowered {
			return ContainerCap{}, fmt.Errorf("%w: %d others are", ErrUncapped, len(c.all))
		}
		l = &lowered{Cgroup: box.Cgroup, CgroupID: id, job: job}
		l.begin(c.cg)
		c.all[box.Cgroup] = l
	}
	if err := c.apply(l, grant); err != nil {
		if !l.Memory.On && !l.Swap.On {
			delete(c.all, l.Cgroup)
		}
		return ContainerCap{}, err
	}
	return l.told(c.cg), nil
}

// cappable says why a container cannot be capped, or returns its cgroup's id.
func (c *Containers) cappable(box proc.Container) (id uint64, err error) {
	if box.Cgroup == "" {
		return 0, fmt.Errorf("%w: it has no cgroup of its own that is known", ErrUncapped)
	}
	if id, err = c.cg.id(box.Cgroup); err != nil {
		if gone(err) {
			err = proc.ErrGone
		}
		return 0, fmt.Errorf("look at the cgroup of container %s: %w", box, err)
	}
	if _, err := c.cg.limit(box.Cgroup, "memory.max"); err != nil {
		if gone(err) {
			return 0, fmt.Errorf("%w: its cgroup has no memory controller", ErrUncapped)
		}
		return 0, err
	}
	if c.cg.number(box.Cgroup, "memory.oom.group") == 1 {
		return 0, fmt.Errorf("%w: all of it would be killed at its limit (memory.oom.group)", ErrUncapped)
	}
	if box.Unit != "" {
		if err := c.delegated(c.cg.dir(box.Cgroup)); err != nil {
			return 0, err
		}
	}
	return id, nil
}

// delegated says what is against the kernel killing in a unit. A unit that is
// not delegated may be stopped by systemd as a whole when one of its processes
// is killed (OOMPolicy=stop, the default); a delegated one goes on.
func delegated(dir string) error {
	for _, name := range []string{"trusted.delegate", "user.delegate"} {
		var b [8]byte
		if n, err := unix.Getxattr(dir, name, b[:]); err == nil && n == 1 && b[0] == '1' {
			return nil
		}
	}
	return fmt.Errorf("%w: systemd may stop all of its unit when one process is killed (it is not delegated)", ErrUncapped)
}

// apply writes what a container is held to, memory first.
func (c *Containers) apply(l *lowered, grant Limits) error {
	if grant.MemoryMax == 0 {
		return fmt.Errorf("%w: no cap could be named", ErrUncapped)
	}
	current := c.cg.number(l.Cgroup, "memory.current")
	if current < 0 {
		return fmt.Errorf("%w: what is charged to it cannot be read", ErrUncapped)
	}
	want := max(plus(uint64(l.before), grant.MemoryMax), uint64(current)+containerRoom)
	if err := c.set(l, &l.Memory, "memory.max", want); err != nil {
		return err
	}
	swap := c.cg.number(l.Cgroup, "memory.swap.current")
	if swap < 0 || grant.MemorySwapMax == Infinity {
		return nil
	}
	if err := c.set(l, &l.Swap, "memory.swap.max", plus(uint64(l.swapBefore), grant.MemorySwapMax)); err != nil {
		c.log.Warn("hold the swap of a container", "cgroup", l.Cgroup, "err", err)
	}
	return nil
}

// plus adds without going round.
func plus(a, b uint64) uint64 {
	if a+b < a {
		return Infinity
	}
	return a + b
}

// set lowers one limit of a container to want, or to what it was where that is
// lower. What is to be written is kept first.
func (c *Containers) set(l *lowered, v *value, file string, want uint64) error {
	have, err := c.cg.limit(l.Cgroup, file)
	if err != nil {
		return fmt.Errorf("read %s of a container: %w", file, err)
	}
	v.see(have)
	page := uint64(os.Getpagesize())
	want = want / page * page // as the kernel will have it
	switch {
	case want >= v.Was && !v.On:
		return nil
	case want >= v.Was:
		want = v.Was
	}
	if want == have {
		return nil
	}
	was := *v
	v.Next = want
	v.On = true
	if err := c.keep(); err != nil {
		*v = was
		return err
	}
	if err := c.cg.write(l.Cgroup, file, limitText(want)); err != nil {
		*v = was
		return fmt.Errorf("%s of a container to %s: %w", file, limitText(want), err)
	}
	v.Set = want
	v.On = want != v.Was
	return nil
}

func limitText(n uint64) string {
	if n == Infinity {
		return "max"
	}
	return fmt.Sprint(n)
}

// Check reads what a container of a job is held to, and lowers it again where
// somebody has put it back: change says so. A limit that somebody lowered
// further is that one's from then on.
func (c *Containers) Check(cgroup string) (now ContainerCap, change string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.all[cgroup]
	if l == nil {
		return ContainerCap{}, "", nil
	}
	if id, err := c.cg.id(cgroup); err != nil || id != l.CgroupID {
		delete(c.all, cgroup)
		return ContainerCap{}, "", fmt.Errorf("container at %q: %w", cgroup, ErrNoScope)
	}
	var changes []string
	for _, f := range l.values() {
		have, err := c.cg.limit(cgroup, f.file)
		if err != nil || !f.v.On || have == f.v.Set {
			continue
		}
		want := f.v.Set
		if have < want {
			f.v.see(have)
			changes = append(changes, fmt.Sprintf("%s was lowered to %s by somebody else and is left so", f.file, limitText(have)))
			continue
		}
		if f.file == "memory.max" {
			want = max(want, uint64(max(c.cg.number(cgroup, "memory.current"), 0))+containerRoom)
		}
		if err := c.set(l, f.v, f.file, want); err != nil {
			return l.told(c.cg), "", err
		}
		if f.v.On {
			changes = append(changes, fmt.Sprintf("%s was put back to %s, as a reload of systemd does, and is lowered to %s again",
				f.file, limitText(have), limitText(f.v.Set)))
		}
	}
	return l.told(c.cg), strings.Join(changes, "; "), nil
}

// Restore gives a container back the limits that it had, if it is still capped
// for that job. A limit that is not what was set here is another's and stays.
func (c *Containers) Restore(job, cgroup string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.all[cgroup]
	if l == nil || l.job != job {
		return nil
	}
	if err := l.restore(c.cg); err != nil {
		return err
	}
	delete(c.all, cgroup)
	return c.keep()
}

// RestoreAll gives all of them back, at the governor's end.
func (c *Containers) RestoreAll() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []error
	for _, l := range c.all {
		if err := l.restore(c.cg); err != nil {
			all = append(all, err)
			continue
		}
		delete(c.all, l.Cgroup)
	}
	return errors.Join(append(all, c.keep())...)
}
