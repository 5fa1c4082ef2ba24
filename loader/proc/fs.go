package proc

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// FS is a mounted /proc. The zero FS is /proc itself.
type FS struct{ root string }

// NewFS returns the FS below root, usually "/proc".
func NewFS(root string) FS { return FS{root: filepath.Clean(root)} }

// Root is the directory that the FS reads.
func (fs FS) Root() string {
	if fs.root == "" {
		return "/proc"
	}
	return fs.root
}

// path is that of a file of one process; name may have further slashes.
func (fs FS) path(pid int, name string) string {
	return fs.Root() + "/" + strconv.Itoa(pid) + "/" + name
}

// buffers are what files are read into: the argv of a busy machine's execs
// must not become garbage. 16 KB hold all but the longest command lines.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 16<<10); return &b }}

// withFile reads a file whole, at most limit bytes of it, and hands them to
// parse, which must not keep them. Files are read by plain system calls: an
// os.File would be offered to the runtime's poller, which costs more than the
// reading. A relative path is one below the directory that dir is open on.
func withFile(dir int, path string, limit int, parse func([]byte) error) error {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	text, err := readFile((*buf)[:0], dir, path, limit)
	if cap(text) <= 64<<10 {
		*buf = text[:0]
	}
	if err != nil {
		return err
	}
	if err := parse(text); err != nil {
		return fmt.Errorf("parse %s: %w", path, err)
	}
	return nil
}

// readFile appends a file's content to buf, at most limit bytes of it.
func readFile(buf []byte, dir int, path string, limit int) ([]byte, error) {
	fd, err := open(dir, path, unix.O_RDONLY)
	if err != nil {
		return buf, fmt.Errorf("open %s: %w", path, err)
	}
	defer unix.Close(fd)
	buf, err = readAll(buf, fd, limit)
	if err != nil {
		return buf, fmt.Errorf("read %s: %w", path, err)
	}
	return buf, nil
}

func open(dir int, path string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, path, flags|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// readAll appends what is left of a file. The small ones are a single record
// each, which the kernel gives whole to the first read that has room for it:
// there is no need to ask for their end.
func readAll(buf []byte, fd, limit int) ([]byte, error) {
	for len(buf) < limit {
		if len(buf) == cap(buf) {
			buf = append(buf, make([]byte, max(4096, cap(buf)))...)[:len(buf)]
		}
		room := buf[len(buf):min(cap(buf), limit)]
		n, err := unix.Read(fd, room)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return buf, err
		}
		buf = buf[:len(buf)+n]
		if n == 0 || n < len(room) && limit <= smallFile {
			break
		}
	}
	return buf, nil
}

// readLink is the target of a link, "" where it may not be read.
func readLink(dir int, path string) (string, error) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	b := (*buf)[:cap(*buf)]
	n, err := unix.Readlinkat(dir, path, b)
	switch {
	case err == nil:
		return string(b[:n]), nil
	case denied(err):
		return "", nil
	}
	return "", fmt.Errorf("read link %s: %w", path, err)
}

// gone makes ErrGone of what the kernel says about a file of a process that
// has ended: ENOENT when its directory is looked for, ESRCH from what was
// opened before.
func gone(err error) error {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("%w (%v)", ErrGone, err)
	}
	return err
}

// denied says that the reader's rights do not suffice.
func denied(err error) bool {
	return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)
}

// NewestPID is the pid given out last, to a process or a thread, from the
// fifth field of /proc/loadavg. While it stands still, nothing was forked.
func (fs FS) NewestPID() (int, error) {
	var pid int
	err := withFile(unix.AT_FDCWD, fs.Root()+"/loadavg", smallFile, func(text []byte) (err error) {
		pid, err = parseLoadavg(text)
		return err
	})
	return pid, err
}
