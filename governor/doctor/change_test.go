package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	wanted = Edit{Path: "/boot/firmware/cmdline.txt", Kind: Cmdline, Add: []string{"psi=1"}}
	noon   = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
)

const wantedBackup = "cmdline.txt.headroom-backup-2026-12-01"

func TestChange(t *testing.T) {
	root := raspberry.at(t)
	path := filepath.Join(root, wanted.Path)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	c, err := wanted.Change(root)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Diff(), "- "+piLine+"\n+ "+piLine+" psi=1\n"; got != want {
		t.Errorf("shown %q, want %q", got, want)
	}
	if text, _ := os.ReadFile(path); string(text) != piLine+"\n" {
		t.Fatalf("it was changed before it was to be: %q", text)
	}
	backup, err := c.Write(noon)
	if err != nil || filepath.Base(backup) != wantedBackup {
		t.Fatalf("backup %q, %v", backup, err)
	}
	for file, want := range map[string]string{path: piLine + " psi=1\n", backup: piLine + "\n"} {
		text, err := os.ReadFile(file)
		if err != nil || string(text) != want {
			t.Errorf("%s: %q, %v; want %q", file, text, err, want)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: %v, %v; want mode 0640", file, info.Mode(), err)
		}
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}

	// A second time there is nothing to do, and no second backup.
	c, err = wanted.Change(root)
	if err != nil || c.Before != c.After || c.Diff() != "" {
		t.Fatalf("%+v, %v", c, err)
	}
	if backup, err := c.Write(noon); backup != "" || err != nil {
		t.Errorf("backup %q, %v", backup, err)
	}
}

// TestBackups: one with the same text serves, one with another stays.
func TestBackups(t *testing.T) {
	root := raspberry.at(t)
	path := filepath.Join(root, wanted.Path)
	write := func(line string) string {
		t.Helper()
		if err := os.WriteFile(path, []byte(line), 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := wanted.Change(root)
		if err != nil {
			t.Fatal(err)
		}
		backup, err := c.Write(noon)
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Base(backup)
	}
	for _, tt := range []struct{ line, want string }{
		{"root=/dev/a\n", wantedBackup},
		{"root=/dev/a\n", wantedBackup},
		{"root=/dev/b\n", wantedBackup + "-2"},
	} {
		if got := write(tt.line); got != tt.want {
			t.Errorf("%q is kept as %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestChangeRefused(t *testing.T) {
	tests := []struct {
		name  string
		make  func(path string) error
		wants string
	}{
		{"a link", func(path string) error { return os.Symlink("elsewhere.txt", path) }, "it is a link"},
		{"a FIFO", func(path string) error { return syscall.Mkfifo(path, 0o644) }, "not an ordinary file"},
		{"a directory", func(path string) error { return os.Mkdir(path, 0o755) }, "not an ordinary file"},
		{"a second name", func(path string) error {
			return errors.Join(os.WriteFile(path, []byte("root=/dev/sda1\n"), 0o644), os.Link(path, path+".2"))
		}, "more than one name"},
		{"a huge file", func(path string) error {
			return os.WriteFile(path, []byte("root="+strings.Repeat("a ", maxEdited)), 0o644)
		}, "larger than 64 KB"},
		{"two lines", func(path string) error { return os.WriteFile(path, []byte("root=a\nb\n"), 0o644) }, "edited by hand"},
		{"nothing", func(string) error { return nil }, "no such file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := raspberry.but(machine{wanted.Path: "gone", "/boot/firmware/elsewhere.txt": "root=a\n"}).at(t)
			if err := tt.make(filepath.Join(root, wanted.Path)); err != nil {
				t.Fatal(err)
			}
			if _, err := wanted.Change(root); err == nil || !strings.Contains(err.Error(), tt.wants) {
				t.Errorf("error %v, want %q", err, tt.wants)
			}
			if text, _ := os.ReadFile(filepath.Join(root, "/boot/firmware/elsewhere.txt")); string(text) != "root=a\n" {
				t.Errorf("the file that the link leads to: %q", text)
			}
		})
	}
}

// TestChangedMeanwhile: between the question and the answer somebody else may
// have edited the file.
func TestChangedMeanwhile(t *testing.T) {
	root := raspberry.at(t)
	path := filepath.Join(root, wanted.Path)
	for _, other := range []func() error{
		func() error { return os.WriteFile(path, []byte("root=/dev/b\n"), 0o644) },
		func() error { // the same text in another file
			text, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path+".new", text, 0o644), os.Rename(path+".new", path))
		},
		func() error { return os.Remove(path) },
	} {
		c, err := wanted.Change(root)
		if err != nil {
			t.Fatal(err)
		}
		if err := other(); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(path)
		if backup, err := c.Write(noon); err == nil {
			t.Errorf("written, with backup %q", backup)
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("it was %q and is %q", before, after)
		}
	}
}

// TestUnwritable: where no backup can be made nothing is changed.
func TestUnwritable(t *testing.T) {
	root := raspberry.at(t)
	path := filepath.Join(root, wanted.Path)
	c, err := wanted.Change(root)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= maxBackups; i++ {
		name := path + ".headroom-backup-2026-12-01"
		if i > 1 {
			name += "-" + strconv.Itoa(i)
		}
		if err := os.Symlink("/nowhere/at/all", name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Write(noon); err == nil {
		t.Error("written without a backup")
	}
	if text, _ := os.ReadFile(path); string(text) != piLine+"\n" {
		t.Errorf("it is %q", text)
	}
	if _, err := os.Lstat("/nowhere"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a link was followed: %v", err)
	}
}
