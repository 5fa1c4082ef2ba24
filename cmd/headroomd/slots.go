package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// slots are the places for heavy commands of one user where no governor gives
// them out: lock files in a directory of his. The kernel takes a lock back when
// its holder dies, so none can be lost.
type slots struct {
	dir string
	n   int
	fs  proc.FS
}

// holder is who has a slot, as the lock file says.
type holder struct {
	PID    int       `json:"pid"`
	Start  uint64    `json:"start"` // clock ticks after the boot: tells the pid from another's later
	Family string    `json:"family"`
	Since  time.Time `json:"since"`
}

// maxHolder bounds what is read of a lock file.
const maxHolder = 4 << 10

// runDir is where the lock files are: the user's runtime directory, or one in
// /tmp of which it is made sure that it is the user's own.
func runDir() string {
	if socket := userSocket(); socket != "" {
		return filepath.Dir(socket)
	}
	return filepath.Join("/tmp", "headroom-"+strconv.Itoa(os.Getuid()))
}

// openSlots makes the directory where it is not there. It refuses one that is
// not a plain directory of this user's which nobody else may enter: whoever
// can write there could keep every slot.
func openSlots(dir string, n int, fs proc.FS) (*slots, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return nil, fmt.Errorf("look at %s: %w", dir, err)
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return nil, fmt.Errorf("%s is no directory", dir)
	case int(st.Uid) != os.Geteuid():
		return nil, fmt.Errorf("%s belongs to uid %d", dir, st.Uid)
	case st.Mode&0o077 != 0:
		return nil, fmt.Errorf("%s is open to others (mode %04o): chmod 700 it", dir, st.Mode&0o7777)
	}
	return &slots{dir: dir, n: max(n, 1), fs: fs}, nil
}

// take takes a free slot; nil where all are taken. Closing the file gives it
// back.
func (s *slots) take(me holder) (*os.File, error) {
	for i := range s.n {
		f, err := os.OpenFile(s.file(i), os.O_RDWR|os.O_CREATE|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open a slot: %w", err)
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			s.sign(f, me)
			return f, nil
		}
		f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", s.file(i), err)
		}
	}
	return nil, nil
}

func (s *slots) file(i int) string { return filepath.Join(s.dir, fmt.Sprintf("slot-%d.lock", i)) }

// sign notes who has the slot. Without the note it is had all the same.
func (s *slots) sign(f *os.File, me holder) {
	data, err := json.Marshal(me)
	if err == nil && f.Truncate(0) == nil {
		f.WriteAt(append(data, '\n'), 0)
	}
}

// holders are those who have slots now, the oldest first as far as is known.
// One that cannot be named is counted with an empty family.
func (s *slots) holders() []holder {
	var all []holder
	for i := range s.n {
		f, err := os.OpenFile(s.file(i), os.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		if s.taken(f) {
			all = append(all, s.read(f))
		}
		f.Close()
	}
	return all
}

// taken asks without taking: a shared lock can be had beside other askers.
func (s *slots) taken(f *os.File) bool {
	if unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil {
		return true
	}
	unix.Flock(int(f.Fd()), unix.LOCK_UN)
	return false
}

// read is the note in a lock file, empty when it is not of a live process.
func (s *slots) read(f *os.File) holder {
	var h holder
	data, err := io.ReadAll(io.LimitReader(f, maxHolder))
	if err != nil || json.Unmarshal(data, &h) != nil {
		return holder{}
	}
	if st, err := s.fs.Stat(h.PID); err != nil || st.ID.Start != h.Start {
		return holder{}
	}
	return h
}
