package proc

import (
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxPeekName is the kernel's own bound of a path, in bytes.
const maxPeekName = 4096

// peek is the read of Peek, on whatever thread it runs.
func (fs FS) peek(id ID, name string, limit int) ([]byte, error) {
	if name == "" || len(name) >= maxPeekName {
		return nil, errors.New("not a file's name")
	}
	// All files below one descriptor of /proc/PID are of one process, even if
	// the pid passes to another meanwhile.
	dir, err := open(unix.AT_FDCWD, fs.path(id.PID, ""), unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil, gone(err)
	}
	defer unix.Close(dir)
	s, err := readStat(dir, "stat")
	switch {
	case err != nil:
		return nil, err
	case s.State == 'Z' || s.State == 'X' || id.Start != 0 && id.Start != s.ID.Start:
		return nil, ErrGone
	}
	var who fsIDs
	err = withFile(dir, "status", smallFile, func(text []byte) (err error) {
		who, err = parseFSIDs(text)
		return err
	})
	if err != nil {
		return nil, gone(err)
	}
	cwd, err := open(dir, "cwd", unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil, gone(err)
	}
	defer unix.Close(cwd)
	if err := local(cwd); err != nil {
		return nil, err
	}
	var data []byte
	err = as(who, func() (err error) {
		data, err = peekBelow(cwd, name, limit)
		return err
	})
	return data, err
}

// peekBelow reads a file below the directory that dir is open on.
func peekBelow(dir int, name string, limit int) ([]byte, error) {
	// O_PATH opens nothing: no device notices it, no FIFO waits.
	how := unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
	}
	fd, err := unix.Openat2(dir, name, &how)
	for tries := 0; (err == unix.EAGAIN || err == unix.EINTR) && tries < 3; tries++ {
		fd, err = unix.Openat2(dir, name, &how) // a rename somewhere meanwhile
	}
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if err := local(fd); err != nil {
		return nil, err
	}
	return readRegular(fd, limit)
}

// ReadSmall returns the content of the regular file at path, with the rights
// of the reader. Like Peek it opens nothing that is not a regular file; a file
// of more than limit bytes is an error.
func ReadSmall(path string, limit int) ([]byte, error) {
	fd, err := open(unix.AT_FDCWD, path, unix.O_PATH)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", path, err)
	}
	defer unix.Close(fd)
	data, err := readRegular(fd, limit)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", path, err)
	}
	return data, nil
}

// readRegular reads what path, an O_PATH descriptor, stands for.
func readRegular(path, limit int) ([]byte, error) {
	var st unix.Stat_t
	if err := unix.Fstat(path, &st); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, errors.New("not a regular file")
	}
	if st.Size > int64(limit) {
		return nil, fmt.Errorf("more than %d bytes", limit)
	}
	// By its number the very same file is opened: a name could have passed to a
	// FIFO meanwhile. O_NONBLOCK for a lease, which else holds an open for 45 s.
	fd, err := open(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(path), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	data, err := readAll(make([]byte, 0, st.Size+1), fd, limit+1)
	if err == nil && len(data) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// local refuses a file that is on no ordinary local file system. Those of the
// kernel (proc, sysfs, tracefs) act when they are read, and those of a network
// or a program (NFS, FUSE) may never answer.
func local(fd int) error {
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		return err
	}
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.TMPFS_MAGIC, unix.RAMFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, unix.MSDOS_SUPER_MAGIC, unix.EXFAT_SUPER_MAGIC,
		unix.SQUASHFS_MAGIC, unix.EROFS_SUPER_MAGIC_V1, unix.NILFS_SUPER_MAGIC, unix.REISERFS_SUPER_MAGIC,
		zfsMagic, bcachefsMagic, jfsMagic:
		return nil
	}
	return fmt.Errorf("not on a local file system (type %#x): %w", uint32(st.Type), errors.ErrUnsupported)
}

// Of file systems that package unix does not name.
const (
	zfsMagic      = 0x2fc12fc1
	bcachefsMagic = 0xca451a4e
	jfsMagic      = 0x3153464a
)
