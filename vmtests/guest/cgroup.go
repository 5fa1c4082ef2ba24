package guest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Cgroup is a path in the unified hierarchy, "/user.slice/user-1000.slice/…".
type Cgroup string

// CgroupOf is where pid is; "" when it is gone.
func CgroupOf(pid int) Cgroup {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if path, ok := strings.CutPrefix(line, "0::"); ok {
			return Cgroup(strings.TrimSpace(path))
		}
	}
	return ""
}

// Dir is the cgroup's directory.
func (c Cgroup) Dir() string { return filepath.Join("/sys/fs/cgroup", string(c)) }

// Unit is the last element of the path: "session-2.scope".
func (c Cgroup) Unit() string { return filepath.Base(string(c)) }

// Slice is the element before the last: "user-1000.slice".
func (c Cgroup) Slice() string { return filepath.Base(filepath.Dir(string(c))) }

// InJob reports whether the cgroup is a job's scope, or below one.
func (c Cgroup) InJob() bool {
	for name := range strings.SplitSeq(string(c), "/") {
		if strings.HasPrefix(name, "headroom-") && strings.HasSuffix(name, ".scope") {
			return true
		}
	}
	return false
}

// Exists reports whether the cgroup is still there.
func (c Cgroup) Exists() bool {
	_, err := os.Stat(c.Dir())
	return err == nil
}

// Value reads a file that holds one number, or "max", which is -1.
func (c Cgroup) Value(t testing.TB, file string) int64 {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(c.Dir(), file))
	if err != nil {
		t.Fatalf("read cgroup: %v", err)
	}
	n, err := number(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatalf("%s of %s: %v", file, c, err)
	}
	return n
}

// number reads a limit of the kernel's: "max" is -1.
func number(word string) (int64, error) {
	if word == "max" {
		return -1, nil
	}
	return strconv.ParseInt(word, 10, 64)
}

// Field reads one line of a file of names and numbers, such as oom_kill of
// memory.events.
func (c Cgroup) Field(t testing.TB, file, name string) int64 {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(c.Dir(), file))
	if err != nil {
		t.Fatalf("read cgroup: %v", err)
	}
	n, err := field(string(data), name)
	if err != nil {
		t.Fatalf("%s of %s: %v", file, c, err)
	}
	return n
}

func field(data, name string) (int64, error) {
	for line := range strings.Lines(data) {
		words := strings.Fields(line)
		if len(words) == 2 && words[0] == name {
			return strconv.ParseInt(words[1], 10, 64)
		}
	}
	return 0, fmt.Errorf("no field %q in %q", name, data)
}

// Processes are the pids in the cgroup itself; nil when it is gone.
func (c Cgroup) Processes() []int {
	data, err := os.ReadFile(filepath.Join(c.Dir(), "cgroup.procs"))
	if err != nil {
		return nil
	}
	var pids []int
	for word := range strings.FieldsSeq(string(data)) {
		if pid, err := strconv.Atoi(word); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// JobScopes are the scopes of jobs that exist now, anywhere.
func JobScopes() []Cgroup {
	var scopes []Cgroup
	filepath.WalkDir("/sys/fs/cgroup", func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), "headroom-") && strings.HasSuffix(d.Name(), ".scope") {
			scopes = append(scopes, Cgroup(strings.TrimPrefix(path, "/sys/fs/cgroup")))
		}
		return nil
	})
	return scopes
}
