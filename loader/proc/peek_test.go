package proc

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// patient waits as long as it takes: how fast this machine is proves nothing.
func patient(fs FS) *Peeker {
	p := NewPeeker(fs)
	p.wait = time.Minute
	return p
}

func TestPeek(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), bytes.Repeat([]byte("x"), size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := func(name, target string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write("package.json", 100)
	write("web/package.json", 7)
	write("empty", 0)
	write("exact", 1000)
	write("large", 1001)
	write("huge", MaxPeek+1)
	write("secret", 5)
	link("inside", "web/package.json")
	link("up", "web/../package.json")
	link("out", "../../../../../../../../etc/passwd")
	link("absolute", "/etc/passwd")
	link("rooted", "/package.json")
	link("device", "/dev/zero")
	link("magic", "/proc/self/cwd/package.json")
	link("loop", "loop")
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	me, err := NewFS("/proc").Stat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, file string
		size       int   // -1: an error
		want       error // that it wraps, if it matters
	}{
		{"a file", "package.json", 100, nil},
		{"below", "web/package.json", 7, nil},
		{"an empty one", "empty", 0, nil},
		{"as large as allowed", "exact", 1000, nil},
		{"larger", "large", -1, nil},
		{"larger than anything allowed", "huge", -1, nil},
		{"none", "missing", -1, fs.ErrNotExist},
		{"a link", "inside", 7, nil},
		{"a link with ..", "up", 100, nil},
		{"a link out of it", "out", -1, fs.ErrNotExist},
		{"a link to a path from the root", "absolute", -1, fs.ErrNotExist},
		{"which begins here", "rooted", 100, nil},
		{".. ends here, too", "../../../package.json", 100, nil},
		{"a device", "device", -1, fs.ErrNotExist},
		{"a link of the kernel's", "magic", -1, fs.ErrNotExist},
		{"a link to itself", "loop", -1, unix.ELOOP},
		{"a FIFO", "fifo", -1, nil},
		{"a directory", "web", -1, nil},
		{"no name", "", -1, nil},
		{"a long name", strings.Repeat("a/", 4000), -1, nil},
	}
	p := patient(NewFS("/proc"))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data, err := p.Peek(me.ID, tt.file, 1000)
			if (err != nil) != (tt.size < 0) || err == nil && len(data) != tt.size {
				t.Errorf("%d bytes, %v; want %d", len(data), err, tt.size)
			}
			if tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "xxxxx") {
				t.Errorf("the error %v has content", err)
			}
		})
	}
	if _, err := p.Peek(ID{PID: me.ID.PID, Start: me.ID.Start + 1}, "package.json", 1000); !errors.Is(err, ErrGone) {
		t.Errorf("another process of that pid: %v", err)
	}
	if _, err := p.Peek(ID{PID: 1 << 30}, "package.json", 1000); !errors.Is(err, ErrGone) {
		t.Errorf("no process: %v", err)
	}
	t.Chdir("/proc/self")
	if _, err := p.Peek(me.ID, "status", MaxPeek); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a file of the kernel's: %v", err)
	}
	if p.GaveUp() != 0 || p.hung.Load() != 0 {
		t.Errorf("%d were given up, %d hang", p.GaveUp(), p.hung.Load())
	}
}

// A file system that hangs holds nobody, and no more than two threads.
func TestPeekHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := NewPeeker(NewFS("/proc"))
		p.read = func(ID, string, int) ([]byte, error) { <-release; return []byte("late"), nil }
		for i := range 4 {
			start := time.Now()
			_, err := p.Peek(ID{PID: 1}, "package.json", 10)
			want := peekTime
			if i >= maxHung {
				want = 0
			}
			if !errors.Is(err, ErrSlow) || time.Since(start) != want {
				t.Errorf("call %d: %v after %v, want %v", i, err, time.Since(start), want)
			}
		}
		if p.GaveUp() != 4 || p.hung.Load() != maxHung {
			t.Errorf("%d were given up, %d hang", p.GaveUp(), p.hung.Load())
		}
		close(release)
		synctest.Wait()
		if data, err := p.Peek(ID{PID: 1}, "package.json", 10); err != nil || string(data) != "late" {
			t.Errorf("after it woke up: %q, %v", data, err)
		}
	})
}

// stranger is a sleeping child of another user in dir.
func stranger(t *testing.T, dir string, uid uint32) ID {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	s, err := NewFS("/proc").Stat(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return s.ID
}

// Root reads with the rights of the process, and has its own again afterwards.
// Who is not root reads for nobody else.
func TestPeekRights(t *testing.T) {
	if os.Geteuid() != 0 {
		if err := as(fsIDs{uid: 1, gid: 1}, func() error { t.Error("it was done"); return nil }); !errors.Is(err, unix.EPERM) {
			t.Errorf("as another user: %v", err)
		}
		return
	}
	const uid = 54321
	dir, err := os.MkdirTemp("", "peek")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"open": 0o644, "roots": 0o600, "theirs": 0o600, "group": 0o640} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(name), mode); err != nil {
			t.Fatal(err)
		}
		if name == "theirs" {
			if err := os.Chown(path, uid, uid); err != nil {
				t.Fatal(err)
			}
		}
	}
	id := stranger(t, dir, uid)
	p := patient(NewFS("/proc"))
	for name, want := range map[string]error{"open": nil, "theirs": nil, "roots": unix.EACCES, "group": unix.EACCES} {
		if data, err := p.Peek(id, name, 100); !errors.Is(err, want) || err == nil && string(data) != name {
			t.Errorf("%s: %q, %v, want %v", name, data, err, want)
		}
	}

	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, _ := unix.Getgroups()
	err = as(fsIDs{uid, uid}, func() error {
		if now, _ := unix.Getgroups(); len(now) != 0 {
			t.Errorf("a member of %v", now)
		}
		return nil
	})
	after, _ := unix.Getgroups()
	fsuid, _ := unix.SetfsuidRetUid(-1)
	fsgid, _ := unix.SetfsgidRetGid(-1)
	if err != nil || fsuid != 0 || fsgid != os.Getegid() || !slices.Equal(before, after) {
		t.Errorf("afterwards: uid %d, gid %d, groups %v (before %v), %v", fsuid, fsgid, after, before, err)
	}
	if _, err := os.ReadFile(filepath.Join(dir, "theirs")); err != nil {
		t.Errorf("root's rights are gone: %v", err)
	}
}

func TestReadSmall(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "zero")); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadSmall(path, 4); err != nil || string(data) != "text" {
		t.Errorf("%q, %v", data, err)
	}
	for name, file := range map[string]string{"too large": path, "a device": filepath.Join(dir, "zero"), "a directory": dir} {
		if _, err := ReadSmall(file, 3); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadSmall(filepath.Join(dir, "b"), 3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestParseFSIDs(t *testing.T) {
	for text, want := range map[string]fsIDs{
		"Uid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n": {4, 8},
		"Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n": {0, 0},
	} {
		if got, err := parseFSIDs([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "Uid:\t1\t2\t3\t4\n", "Uid:\t1\nGid:\t1\n", "Uid:\t1\t2\t3\t4294967295\nGid:\t1\t1\t1\t1\n", "Uid:\ta\ta\ta\ta\nGid:\t1\t1\t1\t1\n"} {
		if got, err := parseFSIDs([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func FuzzParseFSIDs(f *testing.F) {
	f.Add([]byte("Uid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n"))
	f.Fuzz(func(t *testing.T, text []byte) { parseFSIDs(text) })
}
