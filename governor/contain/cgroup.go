package contain

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// cgroups reads and writes the unified hierarchy below a root directory,
// usually /sys/fs/cgroup.
type cgroups struct{ root string }

// dir is the directory of a cgroup path. A path that climbs stays below the
// root.
func (c cgroups) dir(path string) string { return filepath.Join(c.root, filepath.Join("/", path)) }

// gone reports whether err says that a cgroup (ENOENT; ENODEV for a file
// opened before its removal) or a process (ESRCH) is no more.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ESRCH)
}

func (c cgroups) read(path, file string) ([]byte, error) {
	return os.ReadFile(filepath.Join(c.dir(path), file))
}

// write writes to a file that the kernel made; it never creates one.
func (c cgroups) write(path, file, text string) error {
	f, err := os.OpenFile(filepath.Join(c.dir(path), file), os.O_WRONLY|os.O_TRUNC|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// id is the kernel's id of a cgroup: the inode of its directory.
func (c cgroups) id(path string) (uint64, error) {
	var st unix.Stat_t
	if err := unix.Stat(c.dir(path), &st); err != nil {
		return 0, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return st.Ino, nil
}

// limit reads a file like memory.max: a number of bytes, or Infinity for "max".
func (c cgroups) limit(path, file string) (uint64, error) {
	b, err := c.read(path, file)
	if err != nil {
		return 0, err
	}
	s := strings.TrimSpace(string(b))
	if s == "max" {
		return Infinity, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s of %q: %w", file, path, err)
	}
	return n, nil
}

// number reads a file with one number; -1 where it is absent or no number.
func (c cgroups) number(path, file string) int64 {
	b, err := c.read(path, file)
	if err != nil {
		return -1
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// table reads a file of "key number" lines; nil where it is absent.
func (c cgroups) table(path, file string) map[string]int64 {
	b, err := c.read(path, file)
	if err != nil {
		return nil
	}
	return parseTable(b)
}

func parseTable(b []byte) map[string]int64 {
	t := make(map[string]int64)
	for line := range bytes.Lines(b) {
		key, value, ok := strings.Cut(strings.TrimSpace(string(line)), " ")
		if !ok {
			continue
		}
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			t[key] = n
		}
	}
	return t
}

// procs lists the processes of a cgroup. A pid of 0 is a process that this
// pid namespace cannot see; it is left out.
func (c cgroups) procs(path string) ([]int, error) {
	b, err := c.read(path, "cgroup.procs")
	if err != nil {
		return nil, err
	}
	var pids []int
	for line := range bytes.Lines(b) {
		if n, err := strconv.Atoi(strings.TrimSpace(string(line))); err == nil && n > 0 {
			pids = append(pids, n)
		}
	}
	return pids, nil
}

// allProcs lists the processes of a cgroup and of those that the job itself
// made below it (a nested systemd, a container without root).
func (c cgroups) allProcs(path string) ([]int, error) {
	pids, err := c.procs(path)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	// A directory's own two links and one for each below it: no listing of some
	// 60 files where there is none.
	if err := unix.Stat(c.dir(path), &st); err != nil || st.Nlink == 2 {
		return pids, nil
	}
	err = filepath.WalkDir(c.dir(path), func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || at == c.dir(path) {
			return nil // what goes away meanwhile has no processes
		}
		below, err := c.procs(strings.TrimPrefix(at, c.root))
		if err == nil {
			pids = append(pids, below...)
		}
		return nil
	})
	return pids, err
}

// attach moves a process, with all its threads. The write waits for a grace
// period of the kernel (8-50 ms), in which the whole machine cannot fork.
func (c cgroups) attach(path string, pid int) error {
	if pid <= 0 {
		return fmt.Errorf("pid %d: the kernel takes 0 for the writer itself", pid)
	}
	return c.write(path, "cgroup.procs", strconv.Itoa(pid))
}

// freeze stops or lets go all processes of a cgroup, unseen by their parents.
func (c cgroups) freeze(path string, on bool) error {
	text := "0"
	if on {
		text = "1"
	}
	return c.write(path, "cgroup.freeze", text)
}

// frozen reports whether a cgroup itself was told to freeze (not whether one
// above it was).
func (c cgroups) frozen(path string) bool { return c.number(path, "cgroup.freeze") == 1 }

// controllers are those that a cgroup may use.
func (c cgroups) controllers(path string) ([]string, error) {
	b, err := c.read(path, "cgroup.controllers")
	return strings.Fields(string(b)), err
}

// noUsage is a reading of which nothing is known.
func noUsage() Usage {
	return Usage{Current: -1, Swap: -1, Peak: -1, Working: -1, OOMKills: -1, CPUUsec: -1}
}

// usage is one reading of a cgroup. It takes some seven reads of kernel files.
func (c cgroups) usage(path string) Usage {
	u := noUsage()
	procs, err := c.allProcs(path)
	if err != nil {
		u.Gone, u.Unread = gone(err), !gone(err)
		return u
	}
	u.Procs = procs
	u.Current = c.number(path, "memory.current")
	u.Swap = c.number(path, "memory.swap.current")
	u.Peak = c.number(path, "memory.peak")
	u.Working = working(c.table(path, "memory.stat"))
	if n, ok := c.table(path, "memory.events")["oom_kill"]; ok {
		u.OOMKills = n
	}
	if n, ok := c.table(path, "cpu.stat")["usage_usec"]; ok {
		u.CPUUsec = n
	}
	return u
}

// working is what of a cgroup's memory cannot be dropped, in bytes. memory.stat
// has "kernel" since Linux 5.18; before, its larger parts are added up.
func working(stat map[string]int64) int64 {
	anon, ok := stat["anon"]
	if !ok {
		return -1
	}
	sum := anon + stat["shmem"]
	if kernel, ok := stat["kernel"]; ok {
		return sum + kernel
	}
	return sum + stat["kernel_stack"] + stat["pagetables"] + stat["percpu"] + stat["slab_unreclaimable"]
}

// FindCgroupRoot returns where the unified hierarchy is mounted, from a file
// like /proc/self/mountinfo. The error wraps errors.ErrUnsupported where there
// is none, or where systemd keeps its tree in cgroup v1 beside it (hybrid).
func FindCgroupRoot(mountinfo string) (string, error) {
	b, err := os.ReadFile(mountinfo)
	if err != nil {
		return "", fmt.Errorf("find the cgroup hierarchy: %w", err)
	}
	var found string
	var legacy bool
	sc := bufio.NewScanner(bytes.NewReader(b))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		before, after, ok := strings.Cut(sc.Text(), " - ")
		where, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(where) < 5 || len(kind) < 3 {
			continue
		}
		switch kind[0] {
		case "cgroup2":
			// A mount of a part of the hierarchy (a bind mount into a
			// container) does not hold the paths of /proc/PID/cgroup.
			if where[3] == "/" && found == "" {
				found = unescapeMount(where[4])
			}
		case "cgroup":
			legacy = legacy || contains(strings.Split(kind[2], ","), "name=systemd")
		}
	}
	switch {
	case found == "":
		return "", fmt.Errorf("no cgroup2 file system is mounted: %w", errors.ErrUnsupported)
	case legacy:
		return "", fmt.Errorf("systemd keeps its tree in cgroup v1 (hybrid hierarchy; boot with systemd.unified_cgroup_hierarchy=1): %w", errors.ErrUnsupported)
	}
	return found, nil
}

// unescapeMount undoes the octal escapes of mountinfo (space, tab, newline,
// backslash).
func unescapeMount(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
