//go:build linux

package control

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// ErrInUse says that another governor has the socket.
var ErrInUse = errors.New("another headroomd is running")

// listener is the socket with the lock that makes it ours.
type listener struct {
	*net.UnixListener
	lock *os.File
}

// listen takes path. What a crash left there is replaced, but only if it is a
// socket and nobody answers at it; a lock beside it, which the kernel drops
// with its holder, keeps two that start at the same moment apart.
func listen(path string, mode fs.FileMode) (*listener, error) {
	dirMode := fs.FileMode(0o755)
	if mode&0o077 == 0 {
		dirMode = 0o700
	}
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the socket: %w", err)
	}
	l, err := bind(path, mode, lock)
	if err != nil {
		lock.Close()
		return nil, err
	}
	return &listener{UnixListener: l, lock: lock}, nil
}

func bind(path string, mode fs.FileMode, lock *os.File) (*net.UnixListener, error) {
	switch err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, fmt.Errorf("listen at %s: %w", path, ErrInUse)
	case err != nil:
		return nil, fmt.Errorf("lock the socket: %w", err)
	}
	if err := removeStale(path); err != nil {
		return nil, fmt.Errorf("listen at %s: %w", path, err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if err := os.Chmod(path, mode); err != nil {
		l.Close()
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return errors.New("what is there is not a socket")
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		c.Close()
		return ErrInUse
	}
	// Anything but a refusal, such as a full backlog, may be somebody alive.
	if !errors.Is(err, unix.ECONNREFUSED) {
		return fmt.Errorf("ask who is there: %w", err)
	}
	return os.Remove(path)
}

// Close removes the socket before it gives up the lock.
func (l *listener) Close() error {
	err := l.UnixListener.Close()
	l.lock.Close()
	return err
}
