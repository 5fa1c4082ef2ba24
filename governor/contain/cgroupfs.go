package contain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

const (
	// jobsDir is the cgroup that the jobs are in, below the governor's part of
	// the hierarchy: one place to look for them, and to take controllers down to.
	jobsDir = "headroom"

	// restDir takes the processes that sat in a delegated cgroup itself: a
	// cgroup that hands controllers down may have none.
	restDir = "headroom-rest"

	// cgroupfsManager is Scope.Manager of this tier: nobody is asked.
	cgroupfsManager = "cgroupfs"
)

// CgroupfsOptions say where Cgroupfs finds the kernel's files. The zero value
// is the running machine.
type CgroupfsOptions struct {
	FS         proc.FS
	CgroupRoot string // "" = the cgroup2 mount named in /proc/self/mountinfo
	Log        *slog.Logger
}

// Cgroupfs makes cgroups itself, where no systemd does: on Alpine, in a
// container, in a part of the hierarchy that was handed to a user.
type Cgroupfs struct {
	scopes
	base   string // the part that is the governor's: "/" or what was delegated
	euid   int
	memory bool

	mu   sync.Mutex
	over map[string]bool // cgroups of released jobs in which something still was
}

// NewCgroupfs finds the part of the hierarchy that the governor may divide:
// all of it as root without systemd, else the cgroup that it runs in, if that
// was delegated to it. The error wraps errors.ErrUnsupported, with what is
// missing, where there is none.
//
// It changes nothing but this: what sits in a delegated cgroup itself is moved
// one level down, since the kernel hands no controllers to a cgroup beside
// processes.
func NewCgroupfs(_ context.Context, o CgroupfsOptions) (*Cgroupfs, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	booted := false
	if o.CgroupRoot == "" {
		root, err := FindCgroupRoot("/proc/self/mountinfo")
		if err != nil {
			return nil, err
		}
		o.CgroupRoot = root
		_, err = os.Stat(thisMachine().booted)
		booted = err == nil
	}
	c := &Cgroupfs{scopes: newScopes(o.FS, o.CgroupRoot, o.Log, noPlaceholders{}), euid: os.Geteuid()}
	own, err := o.FS.Cgroup(os.Getpid())
	if err != nil {
		return nil, fmt.Errorf("find the own cgroup: %w", err)
	}
	if err := c.findBase(own, booted); err != nil {
		return nil, err
	}
	if err := c.divide(); err != nil {
		return nil, fmt.Errorf("divide cgroup %q: %w", c.base, err)
	}
	return c, nil
}

// findBase settles what the governor may divide.
func (c *Cgroupfs) findBase(own string, booted bool) error {
	if path.Base(own) == restDir {
		own = path.Dir(own) // of an earlier governor
	}
	if c.euid == 0 && !booted {
		c.base = "/"
		return nil
	}
	if own == "/" {
		return fmt.Errorf("uid %d may not divide the root of the cgroup hierarchy: %w", c.euid, errors.ErrUnsupported)
	}
	if booted && !c.delegated(own) {
		return fmt.Errorf("systemd manages cgroup %q and has not delegated it (Delegate=yes): %w", own, errors.ErrUnsupported)
	}
	for _, file := range []string{"", "cgroup.procs", "cgroup.subtree_control"} {
		if err := unix.Access(filepath.Join(c.cg.dir(own), file), unix.W_OK); err != nil {
			return fmt.Errorf("cgroup %q is not uid %d's to divide (%s: %w): %w", own, c.euid, file, err, errors.ErrUnsupported)
		}
	}
	c.base = own
	return nil
}

// delegated reports whether systemd leaves a cgroup to who runs in it; it marks
// those that it does.
func (c *Cgroupfs) delegated(own string) bool {
	mark := make([]byte, 8)
	for _, name := range []string{"trusted.delegate", "user.delegate"} {
		if n, err := unix.Getxattr(c.cg.dir(own), name, mark); err == nil && string(mark[:n]) == "1" {
			return true
		}
	}
	return false
}

// Describe says in one line what jobs are put in.
func (c *Cgroupfs) Describe() string {
	line := fmt.Sprintf("cgroups below %s of the hierarchy at %s, without a service manager", path.Join(c.base, jobsDir), c.cg.root)
	if !c.memory {
		line += ", no memory controller: caps are not enforced by the kernel"
	}
	return line
}

// MemoryController reports whether the kernel enforces memory.max here.
func (c *Cgroupfs) MemoryController() bool { return c.memory }

// Trial makes a cgroup with a cap and reads it back: that the kernel takes it is
// known before the first job. It settles what MemoryController tells.
func (c *Cgroupfs) Trial(context.Context) error {
	at := path.Join(c.base, jobsDir, trialUnit())
	if err := os.Mkdir(c.cg.dir(at), 0o755); err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	defer os.Remove(c.cg.dir(at))
	if !c.memory {
		return nil
	}
	if err := c.cg.write(at, "memory.max", fmt.Sprint(trialMemory)); err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	got, err := c.cg.limit(at, "memory.max")
	c.memory = err == nil && got == trialMemory
	return nil
}

// Close removes the cgroups of released jobs in which nothing runs any more; the
// others stay, with their limits.
func (c *Cgroupfs) Close() error {
	c.tidy("")
	return nil
}

// tidy removes a released job's cgroup, and those that were not empty when
// theirs were released. What nobody has released is left alone, empty or not:
// its counters are not read yet, or its process is on the way. "" is none.
func (c *Cgroupfs) tidy(released string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over == nil {
		c.over = make(map[string]bool)
	}
	if IsScopeName(path.Base(released)) {
		c.over[released] = true
	}
	for at := range c.over {
		if err := os.Remove(c.cg.dir(at)); err == nil || gone(err) {
			delete(c.over, at) // else EBUSY: something runs in it
		}
	}
}

// sweep removes the jobs' cgroups that are empty: before the first job, what a
// former governor left.
func (c *Cgroupfs) sweep() {
	jobs := path.Join(c.base, jobsDir)
	entries, _ := os.ReadDir(c.cg.dir(jobs))
	for _, e := range entries {
		if e.IsDir() && IsScopeName(e.Name()) {
			os.Remove(filepath.Join(c.cg.dir(jobs), e.Name())) // EBUSY where something runs
		}
	}
}

// noPlaceholders is for cgroups that stay until they are removed.
type noPlaceholders struct{}

func (noPlaceholders) start(uint32, *os.File) (proc.ID, error) { return proc.ID{}, nil }
func (noPlaceholders) stop(proc.ID)                            {}
func (noPlaceholders) reap()                                   {}
func (noPlaceholders) close()                                  {}
