package proc

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestReadCommand(t *testing.T) {
	f := newFake(t)
	f.process(812, 811, 54321, "node", "node", "/usr/bin/npm", "test")
	f.process(813, 811, 54322, "gcc", "gcc", "x.c")
	os.Remove(f.Root() + "/813/exe")
	f.link("813/exe", "/tmp/build/gcc (deleted)")
	f.process(2, 0, 1, "kthreadd")
	f.write("2/cmdline", "")
	os.Remove(f.Root() + "/2/exe")
	f.process(814, 811, 54323, "dead")
	f.write("814/cmdline", "")
	f.write("814/stat", statLine(814, 811, 54323, "dead", 'Z'))
	os.Remove(f.Root() + "/814/exe")
	long := strings.Repeat("x", 200<<10)
	f.process(815, 811, 54324, "ld", "ld", long)

	for _, tc := range []struct {
		name string
		pid  int
		argv []string
		exe  string
		err  error
	}{
		{"whole", 812, []string{"node", "/usr/bin/npm", "test"}, "/usr/bin/node", nil},
		{"a binary that was replaced", 813, []string{"gcc", "x.c"}, "/tmp/build/gcc", nil},
		{"no argv: the comm", 2, []string{"[kthreadd]"}, "", nil},
		{"a zombie", 814, nil, "", ErrGone},
		{"no such process", 999, nil, "", ErrGone},
		{"bounded", 815, []string{"ld", long[:maxCmdline-3]}, "/usr/bin/ld", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := Exec{ID: ID{PID: tc.pid}}
			err := f.ReadCommand(&x)
			if !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) {
				t.Fatalf("error %v, want %v", err, tc.err)
			}
			if !slices.Equal(x.Argv, tc.argv) || x.Exe != tc.exe {
				t.Errorf("got %.80q %q, want %.80q %q", x.Argv, x.Exe, tc.argv, tc.exe)
			}
		})
	}
}

func TestReadFacts(t *testing.T) {
	f := newFake(t)
	f.process(812, 811, 54321, "node", "node")
	f.process(813, 811, 54322, "bare", "bare")
	for _, name := range []string{"loginuid", "auxv", "cgroup", "cwd"} {
		os.Remove(f.Root() + "/813/" + name)
	}
	f.process(814, 811, 54323, "dead")
	f.write("814/stat", statLine(814, 811, 54323, "dead", 'Z'))

	full := Exec{ID: ID{812, 54321}, PPID: 811, PGID: 500, SID: 400, TTY: 34816, Threads: 3, UID: 1000, EUID: 0,
		LoginUID: 1000, Secure: true, Cwd: "/home/u/project", Cgroup: "/user.slice/user-1000.slice/session-2.scope"}
	bare := full
	bare.ID, bare.LoginUID, bare.Secure, bare.Cwd, bare.Cgroup = ID{813, 54322}, NoLoginUID, false, "", ""
	for _, tc := range []struct {
		name string
		id   ID
		want Exec
		err  error
	}{
		{"all", ID{PID: 812}, full, nil},
		{"all, of the process that is meant", ID{812, 54321}, full, nil},
		{"a kernel that lacks what is optional", ID{PID: 813}, bare, nil},
		{"another process has the pid", ID{812, 54320}, Exec{ID: ID{812, 54320}}, ErrGone},
		{"a zombie", ID{PID: 814}, Exec{ID: ID{PID: 814}}, ErrGone},
		{"no such process", ID{PID: 999}, Exec{ID: ID{PID: 999}}, ErrGone},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Exec{ID: tc.id}
			err := f.ReadFacts(&got)
			if !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) {
				t.Fatalf("error %v, want %v", err, tc.err)
			}
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

func TestReadOne(t *testing.T) {
	f := newFake(t)
	f.process(812, 811, 54321, "a) R 1 (", "x")
	f.write("loadavg", "0.20 0.18 0.12 1/80 11206\n")

	if s, err := f.Stat(812); err != nil || s.Comm != "a) R 1 (" || s.ID != (ID{812, 54321}) || s.PPID != 811 {
		t.Errorf("stat %+v, %v", s, err)
	}
	f.write("812/comm", "a\nb\n\n")
	if got, err := f.Comm(812); err != nil || got != "a\nb\n" {
		t.Errorf("comm %q, %v", got, err)
	}
	if got, err := f.Cgroup(812); err != nil || got != "/user.slice/user-1000.slice/session-2.scope" {
		t.Errorf("cgroup %q, %v", got, err)
	}
	want := Memory{RssAnon: 1 << 20, RssFile: -1, RssShmem: 0, Swap: 12 << 10}
	if got, err := f.Memory(812); err != nil || got != want {
		t.Errorf("memory %+v, %v", got, err)
	}
	if got, ok, err := f.Environ(812, "NOTIFY_SOCKET"); err != nil || !ok || got != "/run/systemd/notify" {
		t.Errorf("environ %q, %v, %v", got, ok, err)
	}
	if got, err := f.NewestPID(); err != nil || got != 11206 {
		t.Errorf("newest %d, %v", got, err)
	}
	for name, read := range map[string]func() error{
		"stat":    func() error { _, err := f.Stat(9); return err },
		"comm":    func() error { _, err := f.Comm(9); return err },
		"cgroup":  func() error { _, err := f.Cgroup(9); return err },
		"memory":  func() error { _, err := f.Memory(9); return err },
		"cmdline": func() error { _, err := f.Cmdline(9); return err },
		"exe":     func() error { _, err := f.Exe(9); return err },
		"environ": func() error { _, _, err := f.Environ(9, "X"); return err },
		"threads": func() error { _, err := f.Threads(9); return err },
		"tree":    func() error { _, err := f.Descendants(9); return err },
		"parents": func() error { _, err := f.Ancestors(9, 9); return err },
		"pidfd":   func() error { _, err := Open(f.FS, ID{1 << 22, 1}); return err },
	} {
		if err := read(); !errors.Is(err, ErrGone) {
			t.Errorf("%s of a process that is gone: %v", name, err)
		}
	}
	// What is no process's own is not "gone" when it is missing.
	none := NewFS(t.TempDir() + "/none")
	if _, err := none.NewestPID(); err == nil || errors.Is(err, ErrGone) {
		t.Errorf("newest without /proc: %v", err)
	}
	if _, err := none.List(); err == nil || errors.Is(err, ErrGone) {
		t.Errorf("list without /proc: %v", err)
	}
}

func TestList(t *testing.T) {
	f := newFake(t)
	var want []int
	for pid := 1; pid <= 2000; pid++ {
		if err := os.Mkdir(fmt.Sprintf("%s/%d", f.Root(), pid), 0o755); err != nil {
			t.Fatal(err)
		}
		want = append(want, pid)
	}
	for _, name := range []string{"self", "sys", "12x", "0", "-1"} {
		os.Mkdir(f.Root()+"/"+name, 0o755)
	}
	got, err := f.List()
	slices.Sort(got)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %d pids, %v; want %d", len(got), err, len(want))
	}
}

func TestUnreadable(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to become somebody else on one thread")
	}
	f := newFake(t)
	f.process(812, 811, 54321, "node", "node")
	for _, name := range []string{"environ", "auxv"} {
		if err := os.Chmod(f.Root()+"/812/"+name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for dir := f.Root(); dir != os.TempDir() && dir != "/"; dir = dir[:strings.LastIndexByte(dir, '/')] {
		os.Chmod(dir, 0o755)
	}
	asNobody(t, func() {
		if _, ok, err := f.Environ(812, "HOME"); !errors.Is(err, unix.EACCES) || ok {
			t.Errorf("environ of another user: %v, %v; want EACCES: unknown, not absent", ok, err)
		}
		x := Exec{ID: ID{PID: 812}}
		if err := f.ReadFacts(&x); err != nil || x.Secure {
			t.Errorf("facts of another user: %v, secure %v", err, x.Secure)
		}
	})
}
