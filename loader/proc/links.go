package proc

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// PipeID names a pipe or FIFO for as long as anybody has it open: the device
// and the inode. Dev is 0 for pipes that have no name: their inodes are of one
// file system, which the machine has once.
type PipeID struct{ Dev, Ino uint64 }

// Link is one of the descriptors 0, 1 and 2 of a process that leads into a
// pipe. A FIFO opened for both directions has both.
type Link struct {
	FD     int
	Pipe   PipeID
	Reads  bool
	Writes bool
}

// Links are those of the descriptors 0, 1 and 2 that lead into a pipe or a
// FIFO; none where the reader's rights do not suffice. Nothing is opened: a
// FIFO's opening waits for its other end, a file's may be a request to a server.
//
// A socket is none of them. The two ends of a socketpair have inodes of their
// own, so that one says nothing about who has the other; and what two processes
// have of the same inode is the same end.
func (fs FS) Links(pid int) ([]Link, error) {
	var links []Link
	for fd := range 3 {
		l, ok, err := fs.link(pid, fd)
		switch {
		case denied(err):
			return nil, nil
		case errors.Is(gone(err), ErrGone):
			continue // a closed descriptor, or the process is gone
		case err != nil:
			return nil, err
		case ok:
			links = append(links, l)
		}
	}
	if len(links) == 0 {
		if _, err := fs.Comm(pid); err != nil {
			return nil, err
		}
	}
	return links, nil
}

func (fs FS) link(pid, fd int) (Link, bool, error) {
	path := fs.path(pid, "fd/"+strconv.Itoa(fd))
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	b := (*buf)[:cap(*buf)]
	n, err := unix.Readlinkat(unix.AT_FDCWD, path, b)
	if err != nil {
		return Link{}, false, fmt.Errorf("read link %s: %w", path, err)
	}
	target := string(b[:n])
	l := Link{FD: fd}
	switch {
	case strings.HasPrefix(target, "pipe:["):
		ino, ok := number([]byte(strings.TrimSuffix(target[len("pipe:["):], "]")))
		if !ok {
			return Link{}, false, fmt.Errorf("no inode in link %q", clip([]byte(target)))
		}
		l.Pipe.Ino = ino
	case !strings.HasPrefix(target, "/"), strings.HasPrefix(target, "/dev/"):
		return Link{}, false, nil // a socket; a terminal; /dev/null
	}
	info, err := fs.fdInfo(pid, fd)
	if err != nil {
		return Link{}, false, err
	}
	if l.Pipe.Ino == 0 {
		id, ok := fs.namedPipe(pid, path, info.mount)
		if !ok {
			return Link{}, false, nil
		}
		l.Pipe = id
	}
	switch info.access {
	case unix.O_RDONLY:
		l.Reads = true
	case unix.O_WRONLY:
		l.Writes = true
	default:
		l.Reads, l.Writes = true, true
	}
	return l, true, nil
}

// namedPipe asks for the type of the file that a descriptor leads to. Only of a
// file system on this machine's own disks: a server that does not answer, or
// somebody's FUSE daemon, would keep the asker waiting.
func (fs FS) namedPipe(pid int, path string, mount int) (PipeID, bool) {
	if !fs.localMount(pid, mount) {
		return PipeID{}, false
	}
	var st unix.Statx_t
	flags := unix.AT_STATX_DONT_SYNC | unix.AT_NO_AUTOMOUNT
	if err := unix.Statx(unix.AT_FDCWD, path, flags, unix.STATX_TYPE|unix.STATX_INO, &st); err != nil {
		return PipeID{}, false
	}
	if st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return PipeID{}, false
	}
	return PipeID{Dev: unix.Mkdev(st.Dev_major, st.Dev_minor), Ino: st.Ino}, true
}

// localFS are file systems that answer without asking anybody.
var localFS = map[string]bool{
	"ext2": true, "ext3": true, "ext4": true, "xfs": true, "btrfs": true, "f2fs": true, "bcachefs": true,
	"zfs": true, "jfs": true, "tmpfs": true, "devtmpfs": true, "ramfs": true, "rootfs": true, "overlay": true,
}

// maxMountinfo bounds a mount table, in bytes: some 100 a mount, and hosts of
// containers have a thousand mounts.
const maxMountinfo = 256 << 10

func (fs FS) localMount(pid, mount int) bool {
	local := false
	err := withFile(unix.AT_FDCWD, fs.path(pid, "mountinfo"), maxMountinfo, func(text []byte) error {
		local = localFS[mountType(text, mount)]
		return nil
	})
	return err == nil && local
}

// mountType finds the type of a file system by its mount's id in a mountinfo:
// "27 1 8:1 / /mnt rw,noatime shared:1 - ext4 /dev/sda1 rw"; "" unknown.
func mountType(text []byte, mount int) string {
	for len(text) > 0 {
		var l []byte
		l, text, _ = bytes.Cut(text, []byte{'\n'})
		f, rest := field(l)
		if id, ok := number(f); !ok || int(id) != mount {
			continue
		}
		_, after, ok := bytes.Cut(rest, []byte(" - "))
		if !ok {
			return ""
		}
		f, _ = field(after)
		return string(f)
	}
	return ""
}
