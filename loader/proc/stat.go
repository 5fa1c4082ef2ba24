package proc

import (
	"bytes"
	"fmt"

	"golang.org/x/sys/unix"
)

// Stat is what /proc/PID/stat says of a process.
type Stat struct {
	ID      ID
	Comm    string // the process may have chosen it: any bytes
	State   byte   // R, S, D, T (stopped), t (traced), Z, X, I
	PPID    int
	PGID    int // process group
	SID     int // session
	TTY     int // device number, 0 for none
	Threads int
	UTime   uint64 // clock ticks (USER_HZ, 100 a second), of all threads
	STime   uint64
}

// smallFile bounds the files of a few lines: stat has some 350 bytes, status
// 1,500, a cgroup path at most 4,096.
const smallFile = 16 << 10

// Stat reads /proc/PID/stat. A zombie has one, too.
func (fs FS) Stat(pid int) (Stat, error) {
	return readStat(unix.AT_FDCWD, fs.path(pid, "stat"))
}

func readStat(dir int, path string) (Stat, error) {
	var s Stat
	err := withFile(dir, path, smallFile, func(text []byte) (err error) {
		s, err = parseStat(text)
		return err
	})
	return s, gone(err)
}

// Cgroup is the path in the unified hierarchy ("/user.slice/…"), "" where the
// process is in none.
func (fs FS) Cgroup(pid int) (string, error) {
	var path string
	err := withFile(unix.AT_FDCWD, fs.path(pid, "cgroup"), smallFile, func(text []byte) error {
		path = parseCgroup(text)
		return nil
	})
	return path, gone(err)
}

// Memory is what a process holds, in bytes, from /proc/PID/status. A size is
// -1 where the kernel does not say it: those by kind need Linux 4.5, and
// kernel threads and zombies have none.
type Memory struct {
	RssAnon  int64
	RssFile  int64
	RssShmem int64
	Swap     int64
}

// Memory reads the sizes. They lag by up to some 64 pages a thread, which the
// kernel counts apart.
func (fs FS) Memory(pid int) (Memory, error) {
	m := Memory{RssAnon: -1, RssFile: -1, RssShmem: -1, Swap: -1}
	err := withFile(unix.AT_FDCWD, fs.path(pid, "status"), smallFile, func(text []byte) error {
		if len(text) == 0 {
			return fmt.Errorf("status is empty")
		}
		m = parseMemory(text)
		return nil
	})
	return m, gone(err)
}

// Comm is the name that the kernel has for the process, from /proc/PID/comm:
// at most 15 bytes, which it may have chosen. Cheaper than Stat by far.
func (fs FS) Comm(pid int) (string, error) {
	var comm string
	err := withFile(unix.AT_FDCWD, fs.path(pid, "comm"), smallFile, func(text []byte) error {
		comm = string(bytes.TrimSuffix(text, []byte{'\n'}))
		return nil
	})
	return comm, gone(err)
}
