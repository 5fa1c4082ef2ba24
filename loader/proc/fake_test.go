package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fake is a /proc in a directory.
type fake struct {
	FS
	t *testing.T
}

func newFake(t *testing.T) fake {
	return fake{NewFS(t.TempDir()), t}
}

// write makes a file; name is relative to the root.
func (f fake) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.Root(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f fake) link(name, target string) {
	f.t.Helper()
	if err := os.Symlink(target, filepath.Join(f.Root(), name)); err != nil {
		f.t.Fatal(err)
	}
}

// process makes a whole process.
func (f fake) process(pid, ppid int, start uint64, comm string, argv ...string) {
	f.t.Helper()
	dir := fmt.Sprint(pid) + "/"
	f.write(dir+"stat", statLine(pid, ppid, start, comm, 'S'))
	f.write(dir+"status", "Name:\t"+comm+"\nState:\tS (sleeping)\nUid:\t1000\t0\t0\t0\nGid:\t1\t2\t3\t4\nVmSwap:\t     12 kB\nRssAnon:\t    1024 kB\nRssShmem:\t       0 kB\n")
	f.write(dir+"comm", comm+"\n")
	f.write(dir+"loginuid", "1000")
	f.write(dir+"cgroup", "4:memory:/old\n0::/user.slice/user-1000.slice/session-2.scope\n")
	f.write(dir+"cmdline", strings.Join(argv, "\x00")+"\x00")
	f.write(dir+"environ", "HOME=/home/u\x00NOTIFY_SOCKET=/run/systemd/notify\x00EMPTY=\x00")
	f.write(dir+"auxv", string(auxv64(33, 0x7ffd00000000, 16, 0xbfebfbff, 23, 1, 0, 0)))
	f.write(fmt.Sprintf("%d/task/%d/comm", pid, pid), comm+"\n")
	f.link(dir+"exe", "/usr/bin/"+comm)
	f.link(dir+"cwd", "/home/u/project")
}

func statLine(pid, ppid int, start uint64, comm string, state byte) string {
	return fmt.Sprintf("%d (%s) %c %d 500 400 34816 500 4194304 1 2 3 4 70 80 5 6 20 0 3 0 %d 1000000 250 18446744073709551615 1 1 0 0\n",
		pid, comm, state, ppid, start)
}
