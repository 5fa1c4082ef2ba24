package guest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Alive reports whether pid is a process that is not a zombie.
func Alive(pid int) bool {
	state := ProcessState(pid)
	return state != "" && state != "Z" && state != "X"
}

// ProcessState is the letter of /proc/PID/stat's third field; "" for no such
// process.
func ProcessState(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, after, _ := strings.Cut(string(data[strings.LastIndexByte(string(data), ')')+1:]), " ")
	state, _, _ := strings.Cut(after, " ")
	return state
}

// Argv is the command line of pid as the process shows it; nil when it is gone.
func Argv(pid int) []string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}

// FindProcesses returns the pids of live processes whose command line, joined
// by spaces, contains words.
func FindProcesses(words string) []int {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var pids []int
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		if strings.Contains(strings.Join(Argv(pid), " "), words) && Alive(pid) {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// ProcessMemory is RssAnon + RssShmem of pid in KB: what counts as touched
// before a cap was in force.
func ProcessMemory(pid int) (kb int64, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, ":")
		if name == "RssAnon" || name == "RssShmem" {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("%s of process %d: %w", name, pid, err)
			}
			kb += n
		}
	}
	return kb, nil
}

// Tracer is the pid that traces pid; 0 for none, or when pid is gone.
func Tracer(pid int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, "TracerPid:"); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(value))
			return n
		}
	}
	return 0
}

// startOf is field 22 of /proc/PID/stat.
func startOf(pid int) string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}
