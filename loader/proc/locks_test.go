package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestHoldsLock(t *testing.T) {
	const plain = "pos:\t0\nflags:\t0100001\nmnt_id:\t27\n"
	tests := []struct {
		name string
		fds  map[int]string
		want int // -1 none
	}{
		{"no descriptors", nil, -1},
		{"none has one", map[int]string{0: plain, 1: plain}, -1},
		{"flock", map[int]string{0: plain, 3: plain + "lock:\t1: FLOCK  ADVISORY  WRITE 812 00:1e:77 0 EOF\n"}, 3},
		{"a shared one", map[int]string{9: plain + "lock:\t1: FLOCK  ADVISORY  READ 812 00:1e:77 0 EOF\n"}, 9},
		{"on descriptor 0", map[int]string{0: plain + "lock:\t1: OFDLCK ADVISORY  WRITE -1 00:1e:77 0 EOF\n"}, 0},
		{"POSIX", map[int]string{5: plain + "lock:\t1: POSIX  ADVISORY  WRITE 812 00:1e:77 0 EOF\n"}, 5},
		{"lease", map[int]string{5: plain + "lock:\t1: LEASE  ACTIVE    READ 812 00:1e:77 0 EOF\n"}, -1},
		{"lease and lock", map[int]string{5: plain + "lock:\t1: LEASE  ACTIVE    READ 812 00:1e:77 0 EOF\nlock:\t2: FLOCK  ADVISORY  WRITE 812 00:1e:77 0 EOF\n"}, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			f.process(7, 1, 5, "x", "x")
			if err := os.Mkdir(filepath.Join(f.Root(), "7/fdinfo"), 0o755); err != nil {
				t.Fatal(err)
			}
			for fd, text := range tt.fds {
				f.write(fmt.Sprintf("7/fdinfo/%d", fd), text)
			}
			fd, held, err := f.HoldsLock(7)
			if err != nil || fd != tt.want || held != (tt.want >= 0) {
				t.Errorf("got %d, %v, %v, want %d", fd, held, err, tt.want)
			}
		})
	}
	if _, held, err := newFake(t).HoldsLock(7); held || !errors.Is(err, ErrGone) {
		t.Errorf("a process that is gone: %v, %v", held, err)
	}
	f := newFake(t)
	f.write("7/fdinfo/0", "flags:\tx\n")
	if _, _, err := f.HoldsLock(7); err == nil {
		t.Error("no error for what is not an fdinfo")
	}
}

func TestHoldsLockNative(t *testing.T) {
	lock, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	c := exec.Command("sleep", "60")
	c.ExtraFiles = []*os.File{lock}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	var fs FS
	if fd, held, err := fs.HoldsLock(c.Process.Pid); held || err != nil {
		t.Errorf("before: %d, %v, %v", fd, held, err)
	}
	// The child has the same open file, so the lock is its, too.
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if fd, held, err := fs.HoldsLock(c.Process.Pid); fd != 3 || !held || err != nil {
		t.Errorf("got %d, %v, %v, want 3", fd, held, err)
	}
	if os.Getuid() == 0 {
		asNobody(t, func() {
			if _, held, err := fs.HoldsLock(c.Process.Pid); held || err != nil {
				t.Errorf("another's locks: %v, %v", held, err)
			}
		})
	}
}

func FuzzParseFDInfo(f *testing.F) {
	f.Add([]byte("pos:\t0\nflags:\t0100001\nmnt_id:\t27\nlock:\t1: FLOCK  ADVISORY  WRITE 812 00:1e:77 0 EOF\n"))
	f.Add([]byte("flags:\t9\nlock:"))
	f.Fuzz(func(t *testing.T, text []byte) {
		info, err := parseFDInfo(text)
		if err == nil && (info.access < 0 || info.access > 3 || info.mount < -1) {
			t.Errorf("%+v of %q", info, text)
		}
		mountType(text, 27)
	})
}
