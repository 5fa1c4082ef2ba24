package proc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxLockFDs bounds how many descriptors are asked for locks. What locks a
// command in (`flock L make`, `exec 9>L; flock 9`) has a low number, and the
// kernel lists them in ascending order.
const maxLockFDs = 64

// HoldsLock reports whether one of the process's first 64 descriptors holds a
// file lock, and which: flock and open file description locks, which are
// inherited, and POSIX locks, which last over an exec. Right after an exec it
// is what the caller left open: somebody may wait for it. False where the
// reader's rights do not suffice; 4 µs a descriptor.
func (fs FS) HoldsLock(pid int) (fd int, held bool, err error) {
	fds, err := fs.descriptors(pid, maxLockFDs)
	if err != nil {
		if denied(err) {
			return -1, false, nil
		}
		return -1, false, gone(err)
	}
	for _, fd := range fds {
		info, err := fs.fdInfo(pid, fd)
		switch {
		case err == nil && info.locked:
			return fd, true, nil
		case denied(err):
			return -1, false, nil
		case err == nil, errors.Is(gone(err), ErrGone): // closed meanwhile
		default:
			return -1, false, err
		}
	}
	return -1, false, nil
}

// descriptors lists the first descriptors of a process, most of them.
func (fs FS) descriptors(pid, most int) ([]int, error) {
	path := fs.path(pid, "fdinfo")
	dir, err := open(unix.AT_FDCWD, path, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer unix.Close(dir)
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	var fds []int
	for len(fds) < most {
		n, err := unix.Getdents(dir, (*buf)[:cap(*buf)])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", path, err)
		}
		if n == 0 {
			break
		}
		fds = appendDescriptors(fds, (*buf)[:n])
	}
	return fds[:min(len(fds), most)], nil
}

// appendDescriptors reads the records that appendPIDs reads, in which 0 is a
// name like others.
func appendDescriptors(fds []int, records []byte) []int {
	const length, name = 16, 19
	for len(records) > name {
		n := int(binary.NativeEndian.Uint16(records[length:]))
		if n <= name || n > len(records) {
			return fds
		}
		text, _, _ := bytes.Cut(records[name:n], []byte{0})
		if fd, ok := number(text); ok && fd <= 1<<30 {
			fds = append(fds, int(fd))
		}
		records = records[n:]
	}
	return fds
}

// isLock reads what follows "lock:": a number and the kind. A lease is no lock
// that anybody waits for with a process in his way.
func isLock(text []byte) bool {
	_, rest := field(text) // "1:"
	kind, _ := field(rest)
	switch string(kind) {
	case "FLOCK", "OFDLCK", "POSIX":
		return true
	}
	return false
}

// fdInfo is what /proc/PID/fdinfo/N says of a descriptor.
type fdInfo struct {
	access int // O_RDONLY, O_WRONLY or O_RDWR
	mount  int // id of its mount, -1 unknown (before Linux 3.15)
	locked bool
}

func (fs FS) fdInfo(pid, fd int) (fdInfo, error) {
	var info fdInfo
	err := withFile(unix.AT_FDCWD, fs.path(pid, "fdinfo/"+strconv.Itoa(fd)), smallFile, func(text []byte) (err error) {
		info, err = parseFDInfo(text)
		return err
	})
	return info, err
}

// parseFDInfo reads lines such as "flags:\t0100001" (octal), "mnt_id:\t14" and
// "lock:\t1: FLOCK  ADVISORY  WRITE 812 00:1e:77 0 EOF".
func parseFDInfo(text []byte) (fdInfo, error) {
	info := fdInfo{mount: -1}
	rest, ok := line(text, "flags")
	if !ok {
		return info, fmt.Errorf("no flags in fdinfo %q", clip(text))
	}
	f, _ := field(rest)
	flags, err := strconv.ParseUint(string(f), 8, 32)
	if err != nil {
		return info, fmt.Errorf("not flags in fdinfo: %q", clip(f))
	}
	info.access = int(flags & unix.O_ACCMODE)
	if rest, ok := line(text, "mnt_id"); ok {
		f, _ := field(rest)
		if n, ok := number(f); ok && n <= math.MaxInt32 {
			info.mount = int(n)
		}
	}
	for len(text) > 0 && !info.locked {
		var l []byte
		l, text, _ = bytes.Cut(text, []byte{'\n'})
		if rest, ok := bytes.CutPrefix(l, []byte("lock:")); ok {
			info.locked = isLock(rest)
		}
	}
	return info, nil
}
