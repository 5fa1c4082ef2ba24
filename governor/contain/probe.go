package contain

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Probes are what the systemd tier rests on. Each is nil, an error wrapping
// errors.ErrUnsupported that says what is missing, or another error.
type Probes struct {
	Systemd          error  // systemd is pid 1 and the governor may ask it
	Unified          error  // a cgroup2 file system, with systemd's tree in it
	MemoryController error  // memory.max can be enforced
	CgroupRoot       string // where the hierarchy is mounted; "" where it is not
}

// places are the files that tell of a machine; tests put theirs in a
// temporary directory.
type places struct {
	mountinfo string // "/proc/self/mountinfo"
	booted    string // "/run/systemd/system": there if, and only if, systemd is pid 1
	runUser   string // "/run/user": a directory for each user that is logged in
	euid      int
}

func thisMachine() places {
	return places{mountinfo: "/proc/self/mountinfo", booted: "/run/systemd/system", runUser: "/run/user", euid: os.Geteuid()}
}

// Probe asks the machine what the systemd tier would find. cgroupRoot is "" for
// the mounted hierarchy.
func Probe(cgroupRoot string) Probes { return thisMachine().probe(cgroupRoot) }

func (m places) probe(cgroupRoot string) Probes {
	p := Probes{CgroupRoot: cgroupRoot}
	p.Systemd = m.systemd()
	if cgroupRoot == "" {
		p.CgroupRoot, p.Unified = FindCgroupRoot(m.mountinfo)
	}
	switch {
	case p.Unified == nil:
		p.MemoryController = memoryController(cgroups{p.CgroupRoot})
	case errors.Is(p.Unified, errors.ErrUnsupported):
		p.MemoryController = fmt.Errorf("no memory controller without the unified hierarchy: %w", errors.ErrUnsupported)
	default:
		p.MemoryController = fmt.Errorf("memory controller: %w", p.Unified)
	}
	return p
}

func (m places) systemd() error {
	_, err := os.Stat(m.booted)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("systemd is not running this machine (no %s): %w", m.booted, errors.ErrUnsupported)
	case err != nil:
		return fmt.Errorf("ask whether systemd runs this machine: %w", err)
	case m.euid != 0:
		return m.userManager()
	}
	return nil
}

// userManager asks whether a user has a service manager of his own: one runs
// while he is logged in through PAM, or lingers.
func (m places) userManager() error {
	at := filepath.Join(m.runUser, strconv.Itoa(m.euid), "systemd", "private")
	_, err := os.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("not root, and uid %d has no service manager of its own (no %s; loginctl enable-linger starts it): %w",
			m.euid, at, errors.ErrUnsupported)
	case err != nil:
		return fmt.Errorf("ask for the service manager of uid %d: %w", m.euid, err)
	}
	return nil
}

// memoryController reads cgroup.controllers of the root: /proc/cgroups does
// not say what the command line turned off for cgroup v2.
func memoryController(c cgroups) error {
	list, err := c.controllers("/")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s has no cgroup.controllers: %w", c.root, errors.ErrUnsupported)
	case err != nil:
		return fmt.Errorf("memory controller: %w", err)
	case !slices.Contains(list, "memory"):
		return fmt.Errorf("this kernel runs without the memory controller (add cgroup_enable=memory to its command line): %w", errors.ErrUnsupported)
	}
	return nil
}
