package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// descriptor makes one in the fake /proc.
func (f fake) descriptor(pid, fd int, target, flags string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Join(f.Root(), fmt.Sprintf("%d/fd", pid)), 0o755); err != nil {
		f.t.Fatal(err)
	}
	f.link(fmt.Sprintf("%d/fd/%d", pid, fd), target)
	f.write(fmt.Sprintf("%d/fdinfo/%d", pid, fd), "pos:\t0\nflags:\t"+flags+"\nmnt_id:\t14\nino:\t77\n")
}

func TestLinks(t *testing.T) {
	dir := t.TempDir()
	fifo, file := filepath.Join(dir, "fifo"), filepath.Join(dir, "file")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(fifo, &st); err != nil {
		t.Fatal(err)
	}
	named := PipeID{Dev: st.Dev, Ino: st.Ino}

	type fd struct {
		n             int
		target, flags string
	}
	tests := []struct {
		name   string
		mounts string
		fds    []fd
		want   []Link
	}{
		{"terminal", "", []fd{{0, "/dev/pts/3", "02"}, {1, "/dev/pts/3", "02"}, {2, "/dev/pts/3", "02"}}, nil},
		{"middle of a pipeline", "", []fd{{0, "pipe:[7]", "0"}, {1, "pipe:[8]", "01"}, {2, "/dev/pts/3", "02"}},
			[]Link{{0, PipeID{Ino: 7}, true, false}, {1, PipeID{Ino: 8}, false, true}}},
		{"both streams into one", "", []fd{{0, "/dev/null", "0100000"}, {1, "pipe:[8]", "0100001"}, {2, "pipe:[8]", "0100001"}},
			[]Link{{1, PipeID{Ino: 8}, false, true}, {2, PipeID{Ino: 8}, false, true}}},
		{"opened for both", "", []fd{{0, "pipe:[7]", "02"}}, []Link{{0, PipeID{Ino: 7}, true, true}}},
		{"only 0 to 2", "", []fd{{3, "pipe:[7]", "0"}}, nil},
		{"socket", "", []fd{{0, "socket:[7]", "02"}, {1, "anon_inode:[eventfd]", "02"}}, nil},
		{"nonsense in the link", "", []fd{{1, "pipe:[x]", "01"}, {0, "pipe:[9]", "0"}}, nil},
		{"FIFO", "14 1 8:1 / / rw - ext4 /dev/sda1 rw\n", []fd{{1, fifo, "01"}}, []Link{{1, named, false, true}}},
		{"FIFO that is removed", "14 1 8:1 / / rw - ext4 /dev/sda1 rw\n", []fd{{1, fifo + " (deleted)", "01"}}, nil},
		{"file", "14 1 8:1 / / rw - ext4 /dev/sda1 rw\n", []fd{{1, file, "01"}}, nil},
		{"FIFO that a server would have to tell of", "14 1 0:40 / /n rw - nfs4 srv:/n rw\n", []fd{{1, fifo, "01"}}, nil},
		{"FIFO on somebody's FUSE", "14 1 0:40 / /n rw shared:3 - fuse.sshfs srv:/n rw\n", []fd{{1, fifo, "01"}}, nil},
		{"FIFO on a mount that is not listed", "15 1 8:1 / / rw - ext4 /dev/sda1 rw\n", []fd{{1, fifo, "01"}}, nil},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			pid := 100 + i
			f.process(pid, 1, 5, "x", "x")
			f.write(fmt.Sprintf("%d/mountinfo", pid), tt.mounts)
			for _, d := range tt.fds {
				f.descriptor(pid, d.n, d.target, d.flags)
			}
			got, err := f.Links(pid)
			if tt.name == "nonsense in the link" {
				if err == nil {
					t.Errorf("got %v, want an error", got)
				}
				return
			}
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("got %v, %v, want %v", got, err, tt.want)
			}
		})
	}
	if _, err := newFake(t).Links(99); !errors.Is(err, ErrGone) {
		t.Errorf("a process that is gone: %v", err)
	}
}

func TestLinksNative(t *testing.T) {
	c := child(t, "links") // its stdin and stdout are pipes of this process
	var fs FS
	links, err := fs.Links(c.Process.Pid)
	if err != nil || len(links) < 2 {
		t.Fatalf("links %v, %v", links, err)
	}
	in, out := links[0], links[1]
	if in.FD != 0 || !in.Reads || in.Writes || in.Pipe.Dev != 0 || in.Pipe.Ino == 0 ||
		out.FD != 1 || out.Reads || !out.Writes || out.Pipe == in.Pipe {
		t.Errorf("links %+v", links)
	}

	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	both, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	var st unix.Stat_t
	if err := unix.Stat(fifo, &st); err != nil {
		t.Fatal(err)
	}
	d := exec.Command("sleep", "60")
	d.Stdin = both
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	defer d.Wait()
	defer d.Process.Kill()
	links, err = fs.Links(d.Process.Pid)
	if !slices.Equal(links, []Link{{0, PipeID{st.Dev, st.Ino}, true, true}}) || err != nil {
		t.Errorf("links into a FIFO %v, %v, want %d:%d", links, err, st.Dev, st.Ino)
	}

	if os.Getuid() == 0 {
		asNobody(t, func() {
			if links, err := fs.Links(c.Process.Pid); links != nil || err != nil {
				t.Errorf("another's links: %v, %v", links, err)
			}
		})
	}
}

func TestMountType(t *testing.T) {
	const table = "26 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n" +
		"127 26 0:5 / /a\\040-\\040b rw shared:2 master:7 - tmpfs t rw\n27 26 0:6 / /b rw\n"
	for _, tt := range []struct {
		mount int
		want  string
	}{{26, "ext4"}, {127, "tmpfs"}, {27, ""}, {28, ""}, {-1, ""}} {
		if got := mountType([]byte(table), tt.mount); got != tt.want {
			t.Errorf("type of mount %d is %q, want %q", tt.mount, got, tt.want)
		}
	}
}

func BenchmarkLinks(b *testing.B) {
	pid := child(b, "bench").Process.Pid
	var fs FS
	b.ReportAllocs()
	for b.Loop() {
		if _, err := fs.Links(pid); err != nil {
			b.Fatal(err)
		}
	}
}
