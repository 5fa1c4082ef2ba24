package doctor

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// hierarchy is what is mounted of cgroups.
type hierarchy struct {
	unified string   // the mount of version 2; "" for none
	closed  bool     // it is mounted read-only
	legacy  []string // controllers that version 1 has
	systemd bool     // systemd keeps its tree in version 1
}

func (f *facts) hierarchy() hierarchy {
	var h hierarchy
	for _, m := range f.mounts {
		switch m.kind {
		case "cgroup2":
			if h.unified == "" || m.at == "/sys/fs/cgroup" {
				h.unified, h.closed = m.at, m.readOnly()
			}
		case "cgroup":
			for _, o := range strings.Split(m.options, ",") {
				switch {
				case o == "name=systemd":
					h.systemd = true
				case slices.Contains(legacyControllers, o):
					h.legacy = append(h.legacy, o)
				}
			}
		}
	}
	return h
}

var legacyControllers = []string{"memory", "pids", "cpu", "cpuacct", "cpuset", "blkio", "io", "devices", "freezer"}

func (f *facts) cgroupVersion() Check {
	const name = "cgroup-version"
	if f.mountErr != nil {
		return unknown(name, "what is mounted", f.mountErr)
	}
	h := f.hierarchy()
	means := "a job can be given no cgroup of its own with a memory cap; only headroomd's own look at what it takes remains"
	switch {
	case h.unified != "" && h.closed:
		c := Check{Name: name, State: Fail, Found: "version 2, mounted read-only at " + h.unified, Means: means,
			Remedy: "mount it writable", Commands: []string{f.sudo("mount -o remount,rw " + h.unified)}}
		if host := f.place.host(); host != "" {
			c.Remedy, c.Commands = "this is for "+host+" to allow (docker run --privileged --cgroupns=private)", nil
		}
		return c
	case h.unified != "" && len(h.legacy) == 0 && !h.systemd:
		return ok(name, "version 2, at "+h.unified)
	case h.unified == "" && len(h.legacy) == 0 && !h.systemd:
		c := Check{Name: name, State: Fail, Found: "no cgroup file system is mounted", Means: means}
		switch {
		case f.place.host() != "":
			c.Remedy = "this is for " + f.place.host() + " to change: give it cgroup version 2 (docker run --cgroupns=private, lxc.mount.auto = cgroup:rw)"
		case f.has("/sbin/openrc"), f.has("/etc/rc.conf"):
			c.Remedy = `set rc_cgroup_mode="unified" in /etc/rc.conf and start the service cgroups at boot`
			c.Commands = []string{f.sudo("rc-update add cgroups"), f.sudo("rc-service cgroups start")}
		default:
			c.Remedy = "mount it at each boot (a line in /etc/fstab, or your init's own way)"
			c.Commands = []string{f.sudo("mount -t cgroup2 none /sys/fs/cgroup")}
		}
		return c
	}
	found := "version 1"
	if h.unified != "" {
		found = "hybrid: version 2 at " + h.unified + " beside version 1"
		if len(h.legacy) > 0 {
			found += ", which has " + strings.Join(h.legacy, ", ")
		}
	}
	c := Check{Name: name, State: Fail, Found: found, Means: "controllers of version 1 are not used: " + means}
	switch {
	case f.place.host() == "" && !f.systemdRuns() && f.has("/etc/rc.conf"):
		c.Remedy = `set rc_cgroup_mode="unified" in /etc/rc.conf, and reboot`
	case f.place.wsl != 0:
		return f.setWords(c, []string{"cgroup_no_v1=all"}, nil)
	case !f.systemdRuns():
		// Whoever mounted version 1 finds no controller in it then.
		c = f.setWords(c, []string{"cgroup_no_v1=all"}, nil)
		c.Remedy += "; your init has to mount version 2 at /sys/fs/cgroup"
		return c
	default:
		return f.setWords(c, []string{"systemd.unified_cgroup_hierarchy=1"}, []string{"systemd.unified_cgroup_hierarchy=0", "systemd.legacy_systemd_cgroup_controller=1"})
	}
	return c
}

// controllers are those that a cgroup may use.
func (f *facts) controllers(dir string) ([]string, error) {
	text, err := f.read(path.Join(dir, "cgroup.controllers"))
	return strings.Fields(text), err
}

func (f *facts) memoryController() Check {
	const name = "memory-controller"
	if f.mountErr != nil {
		return unknown(name, "what is mounted", f.mountErr)
	}
	h := f.hierarchy()
	soft := "the kernel enforces no cap: headroomd can only look what a job takes and kill its largest process some 20 MB late (soft cap)"
	if h.unified == "" {
		return Check{Name: name, State: Fail, Found: "no cgroup version 2 is mounted, so it has no memory controller", Means: soft,
			Remedy: "see cgroup-version"}
	}
	// cgroup.controllers and not /proc/cgroups: that does not say what the
	// command line turned off for version 2.
	list, err := f.controllers(h.unified)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Check{Name: name, State: Fail, Found: h.unified + " has no cgroup.controllers", Means: soft, Remedy: "see cgroup-version"}
	case err != nil:
		return unknown(name, h.unified+"/cgroup.controllers", err)
	case slices.Contains(list, "memory"):
		return ok(name, "enforces caps (memory in "+h.unified+"/cgroup.controllers)")
	}
	c := Check{Name: name, State: Fail, Found: "memory is not in " + h.unified + "/cgroup.controllers", Means: soft}
	if slices.Contains(h.legacy, "memory") {
		c.Found += ": version 1 has it"
		c.Remedy = "see cgroup-version"
		return c
	}
	if f.place.container != "" {
		c.Remedy = "this is for the host of this container: the memory controller has to be on there (run headroomd doctor there) and given to the container"
		return c
	}
	add, off := []string{"cgroup_enable=memory"}, slices.Contains(f.words, "cgroup_disable=memory")
	switch {
	case off && f.byFirmware("cgroup_disable=memory"):
		c.Found += "; the firmware itself starts the kernel with cgroup_disable=memory, and a word in cmdline.txt, which comes after that, overrules it"
	case off:
		c.Found += "; the kernel was started with cgroup_disable=memory"
	case f.built("CONFIG_MEMCG") == "n":
		c.Found += "; the kernel is built without it (CONFIG_MEMCG)"
		c.Remedy = "no word helps: it takes a kernel that is built with CONFIG_MEMCG, as your distribution's own is"
		return c
	}
	return f.setWords(c, add, []string{"cgroup_disable=memory"})
}

// byFirmware reports whether a word comes from the device tree rather than from
// the boot loader's file.
func (f *facts) byFirmware(word string) bool {
	for _, p := range []string{"/proc/device-tree/chosen/bootargs", "/sys/firmware/devicetree/base/chosen/bootargs"} {
		if text, err := f.read(p); err == nil && slices.Contains(strings.Fields(strings.TrimRight(text, "\x00")), word) {
			b := f.bootFile()
			own, err := f.read(b.path)
			return b.path == "" || err != nil || !slices.Contains(strings.Fields(own), word)
		}
	}
	return false
}

// swapAccounting needs a cgroup that is not the root, which has no limits.
func (f *facts) swapAccounting() Check {
	const name = "swap-accounting"
	h := f.hierarchy()
	list, err := f.controllers(h.unified)
	if h.unified == "" || err != nil || !slices.Contains(list, "memory") {
		return notApplicable(name, "without the memory controller nothing is counted")
	}
	seen := false
	for _, group := range []string{"system.slice", "user.slice", "init.scope", "."} {
		dir := path.Join(h.unified, group)
		if f.has(path.Join(dir, "memory.swap.max")) {
			return ok(name, "swap of a job is counted and capped")
		}
		seen = seen || f.has(path.Join(dir, "memory.max"))
	}
	if !seen {
		return unknown(name, "whether swap is counted (no cgroup with memory.max was found)", nil)
	}
	c := Check{Name: name, State: Warn, Found: "cgroups have no memory.swap.max",
		Means: "a job that reaches its cap swaps without a limit: a slow disk makes the machine stand still for it"}
	return f.setWords(c, []string{"swapaccount=1"}, []string{"swapaccount=0"})
}

func (f *facts) psi() Check {
	const name = "psi"
	const file = "/proc/pressure/memory"
	text, err := f.read(file)
	switch {
	case err == nil && strings.HasPrefix(text, "some "):
		return ok(name, "the kernel tells how long tasks stand still for want of memory")
	case !f.kernel.known(): // no /proc at all
		return unknown(name, file, err)
	case err == nil, errors.Is(err, fs.ErrNotExist), isNotSupported(err):
	default:
		return unknown(name, file, err)
	}
	c := Check{Name: name, State: Fail, Found: "no " + file,
		Means: "headroomd judges by free memory alone: it cannot tell a machine that is nearly full and well from one that is standing still"}
	value, given := f.word("psi")
	switch {
	case given && value == "0":
		c.Found += "; the kernel was started with psi=0"
	case f.kernel.known() && f.kernel.before(4, 20):
		c.Found += "; it came with Linux 4.20, this is " + f.kernel.String()
		c.Remedy = "no word helps: it takes a newer kernel"
		return c
	case f.built("CONFIG_PSI") == "n":
		c.Found += "; the kernel is built without it (CONFIG_PSI)"
		c.Remedy = "no word helps: it takes a kernel that is built with CONFIG_PSI, as your distribution's own is"
		return c
	}
	return f.setWords(c, []string{"psi=1"}, []string{"psi=0"})
}
