package doctor

import (
	"os"
	"path/filepath"
	"strings"
)

// place is where this runs.
type place struct {
	container string // "docker", "podman", "lxc", …; "" for none
	wsl       int    // 1 or 2; 0 = not Windows
	chroot    bool
	pidNS     bool   // pids here are not the kernel's own
	model     string // of the board, from the device tree; "" where there is none
}

func (p place) pi() bool { return strings.HasPrefix(p.model, "Raspberry Pi") }

// host is who has to make a change that cannot be made in here; "" = it can.
func (p place) host() string {
	switch {
	case p.container != "":
		return "the host of this container"
	case p.wsl != 0:
		return "Windows"
	}
	return ""
}

// initialPIDNamespace is the inode of the namespace that the kernel starts
// with, the same since Linux 3.8.
const initialPIDNamespace = "pid:[4026531836]"

func (f *facts) where() place {
	var p place
	for _, path := range []string{"/proc/device-tree/model", "/sys/firmware/devicetree/base/model"} {
		if text, err := f.read(path); err == nil {
			p.model = strings.TrimRight(text, "\x00\n")
			break
		}
	}
	if text, err := f.read("/proc/sys/kernel/osrelease"); err == nil && strings.Contains(strings.ToLower(text), "microsoft") {
		p.wsl = 2
		if f.kernel.major < 5 {
			p.wsl = 1 // 4.4, without a kernel of its own
		}
	}
	if name, err := os.Readlink(f.path("/proc/self/ns/pid")); err == nil {
		p.pidNS = name != initialPIDNamespace
	}
	p.container = f.container(p.pidNS)
	// Only root can see where pid 1 has its root.
	if ours, err := os.Stat(f.path("/")); err == nil {
		if inits, err := os.Stat(f.path("/proc/1/root") + "/."); err == nil && p.container == "" {
			p.chroot = !os.SameFile(ours, inits)
		}
	}
	return p
}

// container names the kind of container around this process. Each kind leaves
// a mark of its own; inside, nothing is certain, and a mark that is missing
// makes it look like a machine. A virtual machine that was made of a container's
// image has that one's mark as well: there the pids are the kernel's own and the
// root is a disk.
func (f *facts) container(pidNS bool) string {
	// systemd writes down what its container manager told it.
	if text, err := f.read("/run/systemd/container"); err == nil {
		if kind := strings.TrimSpace(text); kind != "" && kind != "wsl" {
			return kind
		}
	}
	if text, err := f.read("/proc/1/environ"); err == nil {
		for v := range strings.SplitSeq(text, "\x00") {
			if kind, ok := strings.CutPrefix(v, "container="); ok && kind != "" {
				return kind
			}
		}
	}
	root, known := holding(f.mounts, "/")
	machine := known && !pidNS && strings.HasPrefix(root.source, "/dev/")
	switch {
	case machine:
	case f.has("/run/.containerenv"):
		return "podman"
	case f.has("/.dockerenv"):
		return "docker"
	case f.has("/dev/.lxc-boot-id"), f.has("/dev/lxd/sock"):
		return "lxc"
	}
	for _, m := range f.mounts {
		if m.kind == "fuse.lxcfs" && strings.HasPrefix(m.at, "/proc/") {
			return "lxc"
		}
	}
	if text, err := f.read("/proc/1/cgroup"); err == nil {
		for _, mark := range []string{"docker", "kubepods", "libpod", "lxc"} {
			for line := range strings.Lines(text) {
				if part := "/" + mark; strings.Contains(line, part) {
					return mark
				}
			}
		}
	}
	return ""
}

func (f *facts) environment() Check {
	const name = "environment"
	p := f.place
	switch {
	case p.container != "":
		c := Check{Name: name, State: Warn, Found: "inside a container (" + p.container + ")",
			Means: "the memory, the kernel and its command line are the host's. In here headroomd can guard at most what this container may do: it sees no other process, and a limit of the container counts before its own"}
		c.Remedy = "run headroomd on the host: it guards what runs in containers as well (contain_containers)"
		return c
	case p.wsl == 1:
		return Check{Name: name, State: Fail, Found: "Windows Subsystem for Linux 1, which has no Linux kernel",
			Means:  "there are no cgroups, no BPF and no freezer: nothing can be held or capped",
			Remedy: "turn this distribution into one of WSL 2, in a Windows terminal", Commands: []string{"wsl --set-version DISTRIBUTION 2"}}
	case p.wsl == 2:
		return Check{Name: name, State: Warn, Found: "Windows Subsystem for Linux 2",
			Means:  "the memory is what Windows lends to the virtual machine, and the kernel's words are set in Windows",
			Remedy: `kernel words go to %UserProfile%\.wslconfig, under [wsl2], as kernelCommandLine = …; "wsl --shutdown" makes them count. systemd needs [boot] systemd=true in /etc/wsl.conf`}
	case p.chroot:
		return Check{Name: name, State: Warn, Found: "inside a chroot",
			Means:  "files are the chroot's, processes are the machine's: what is said about files (settings, units, boot words) may be of another system",
			Remedy: "run headroomd doctor outside of the chroot"}
	case p.pidNS:
		return Check{Name: name, State: Warn, Found: "inside a pid namespace",
			Means:  "the kernel tells of execs by the pids of the outer namespace, so they can only be found by looking through /proc",
			Remedy: "run headroomd outside of the namespace"}
	case p.model != "":
		return ok(name, p.model)
	}
	return ok(name, "a machine of its own, or a virtual one")
}

// below reports whether a path is another or lies below it.
func below(path, dir string) bool {
	path, dir = filepath.Clean(path), filepath.Clean(dir)
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
