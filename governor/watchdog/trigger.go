//go:build linux

package watchdog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Trigger has the kernel say at once when tasks have stood still for want of
// memory, on the whole machine or in one cgroup. It is a wake-up and no
// judgement: what follows is a reading.
type Trigger struct {
	path string
	fd   int
	stop int // an eventfd that ends Run
}

// The kernel takes windows of 0.5 to 10 s. Without CAP_SYS_RESOURCE it takes
// multiples of 2 s alone (Linux ≥ 6.5), or none at all (before).
const (
	triggerStall  = 200 * time.Millisecond
	triggerWindow = time.Second
	plainStall    = 400 * time.Millisecond
	plainWindow   = 2 * time.Second
)

// MachinePressure is the file for the whole machine.
const MachinePressure = "/proc/pressure/memory"

// CgroupPressure is the file of a cgroup (Linux ≥ 4.20), below the mount of
// the unified hierarchy.
func CgroupPressure(root, cgroup string) string {
	return filepath.Join(root, cgroup, "memory.pressure")
}

// OpenTrigger asks for word of a pressure file. The error wraps
// errors.ErrUnsupported where the kernel has no PSI, or gives none of it to
// this user.
func OpenTrigger(path string) (*Trigger, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil {
		for _, w := range [][2]time.Duration{{triggerStall, triggerWindow}, {plainStall, plainWindow}} {
			words := fmt.Sprintf("some %d %d\x00", w[0].Microseconds(), w[1].Microseconds())
			if _, err = unix.Write(fd, []byte(words)); err == nil {
				break
			}
		}
		if err != nil {
			unix.Close(fd)
		}
	}
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.EOPNOTSUPP):
		return nil, fmt.Errorf("%s: this kernel runs without PSI (psi=1): %w", path, errors.ErrUnsupported)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EINVAL):
		return nil, fmt.Errorf("%s: the kernel gives this user no word of pressure: %w", path, errors.ErrUnsupported)
	default:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	stop, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("%s: %w", path, os.NewSyscallError("eventfd", err))
	}
	return &Trigger{path: path, fd: fd, stop: stop}, nil
}

// Run sends a word for each stall until ctx ends or the cgroup is gone, and
// closes the trigger. A word that nobody has taken yet stands for those after.
func (t *Trigger) Run(ctx context.Context, words chan<- struct{}) error {
	defer unix.Close(t.fd)
	done := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		select {
		case <-ctx.Done():
			unix.Write(t.stop, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		case <-done:
		}
	}()
	defer func() { close(done); <-finished; unix.Close(t.stop) }()
	for {
		fds := []unix.PollFd{{Fd: int32(t.fd), Events: unix.POLLPRI}, {Fd: int32(t.stop), Events: unix.POLLIN}}
		switch _, err := unix.Poll(fds, -1); {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", t.path, os.NewSyscallError("poll", err))
		case fds[1].Revents != 0:
			return nil
		case fds[0].Revents&unix.POLLERR != 0:
			return fmt.Errorf("%s: its cgroup is gone", t.path)
		case fds[0].Revents&unix.POLLPRI != 0:
			select {
			case words <- struct{}{}:
			default:
			}
		}
	}
}
