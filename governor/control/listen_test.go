//go:build linux

package control

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestListen(t *testing.T) {
	tests := []struct {
		name   string
		before func(t *testing.T, path string)
		want   string // part of the error; "" for none
		is     error
	}{
		{name: "nothing there", before: func(*testing.T, string) {}},
		{name: "left by a crash", before: func(t *testing.T, path string) {
			l := occupy(t, path)
			l.SetUnlinkOnClose(false)
			l.Close()
		}},
		{name: "somebody answers", before: func(t *testing.T, path string) { occupy(t, path) }, is: ErrInUse},
		{name: "a governor has it", before: func(t *testing.T, path string) {
			l, err := listen(path, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
		}, is: ErrInUse},
		{name: "a file", before: func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte("dear"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, want: "not a socket"},
		{name: "a link", before: func(t *testing.T, path string) {
			if err := os.Symlink("/etc/passwd", path); err != nil {
				t.Fatal(err)
			}
		}, want: "not a socket"},
		{name: "a link in the lock's place", before: func(t *testing.T, path string) {
			if err := os.Symlink(path+".victim", path+".lock"); err != nil {
				t.Fatal(err)
			}
		}, want: "lock the socket"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s")
			test.before(t, path)
			l, err := listen(path, 0o666)
			if test.want != "" || test.is != nil {
				if err == nil {
					l.Close()
					t.Fatal("no error")
				}
				if !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) {
					t.Errorf("got %v", err)
				}
				if _, err := os.Lstat(path + ".victim"); err == nil {
					t.Error("the link was followed")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Mode(); got != fs.ModeSocket|0o666 {
				t.Errorf("mode: got %v", got)
			}
			l.Close()
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the socket is still there: %v", err)
			}
			again, err := listen(path, 0o666)
			if err != nil {
				t.Fatalf("a second time: %s", err)
			}
			again.Close()
		})
	}
}

// occupy listens without the lock, as some other program would.
func occupy(t *testing.T, path string) *net.UnixListener {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}
