package governor

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/governor/admission"
)

// textLog is a log that can be read.
func textLog() (*slog.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	return slog.New(slog.NewTextHandler(&b, nil)), &b
}

func TestLoadPeaks(t *testing.T) {
	tests := []struct {
		name   string
		make   func(path string) error
		broken bool // it is reported
		aside  bool // and there is something to rename
	}{
		{"none yet", func(string) error { return nil }, false, false},
		{"no JSON", func(p string) error { return os.WriteFile(p, []byte("{"), 0o600) }, true, true},
		{"empty", func(p string) error { return os.WriteFile(p, nil, 0o600) }, true, true},
		{"too large", func(p string) error { return os.WriteFile(p, bytes.Repeat([]byte(" "), maxKeptFile+1), 0o600) }, true, true},
		{"directory", func(p string) error { return os.Mkdir(p, 0o700) }, true, true},
		{"FIFO", func(p string) error { return unix.Mkfifo(p, 0o600) }, true, true},
		{"link", func(p string) error { return os.Symlink("/dev/zero", p) }, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "peaks.json")
			if err := tt.make(path); err != nil {
				t.Fatal(err)
			}
			log, out := textLog()
			p := loadPeaks(path, log)
			if p == nil {
				t.Fatal("no peaks")
			}
			k := admission.PeakKey{UID: 1000, Dir: "/d", Signature: "make"}
			if _, _, ok := p.Peak(k, time.Now()); ok {
				t.Error("it knows what nobody told it")
			}
			if p.Learn(k, 300, time.Now()); !known(p, k, 300) {
				t.Error("it does not learn")
			}
			if reported := strings.Contains(out.String(), path); reported != tt.broken {
				t.Errorf("log %q, want a report: %v", out, tt.broken)
			}
			if _, err := os.Lstat(path + ".broken"); (err == nil) != tt.aside {
				t.Errorf("set aside: %v, want %v", err, tt.aside)
			}
			if _, err := os.Lstat(path); err == nil {
				t.Error("the damaged file is still there")
			}
		})
	}
}

func known(p *admission.Peaks, k admission.PeakKey, mb int64) bool {
	got, _, ok := p.Peak(k, time.Now())
	return ok && got == mb
}

func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "peaks.json")
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	// What a crash left, and what somebody put there.
	for _, leave := range []func() error{
		func() error { return nil },
		func() error { return os.WriteFile(path+".new", []byte("half"), 0o644) },
		func() error { return os.Symlink(other, path+".new") },
	} {
		if err := leave(); err != nil {
			t.Fatal(err)
		}
		if err := replaceFile(path, []byte("[]")); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := readKept(path); string(text) != "[]" || err != nil {
		t.Errorf("read %q, %v", text, err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if text, _ := os.ReadFile(other); string(text) != "theirs" {
		t.Errorf("a link was followed: %q", text)
	}
	if err := replaceFile(path, make([]byte, maxKeptFile+1)); err == nil {
		t.Error("more was written than will be read")
	}
	if err := replaceFile(filepath.Join(dir, "none", "x"), nil); err == nil {
		t.Error("written into a directory that is not there")
	}
	// What cannot be put in its place leaves nothing behind.
	if err := os.Mkdir(filepath.Join(dir, "held"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "held", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(filepath.Join(dir, "held"), []byte("x")); err == nil {
		t.Error("a directory was replaced")
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.new"))
	if len(left) > 0 || err != nil {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestFileTroubles(t *testing.T) {
	var troubles fileTroubles
	full := fmt.Errorf("write x: %w", unix.ENOSPC)
	for i, tt := range []struct {
		path string
		err  error
		want string // "" nothing
	}{
		{"/a", nil, ""},
		{"/a", full, "make room on the disk"},
		{"/a", full, ""},
		{"/b", errors.New("no such directory"), "look at the directory"},
		{"/a", full, ""},
		{"/a", nil, "written again"},
		{"/a", nil, ""},
		{"/a", full, "make room"},
	} {
		log, out := textLog()
		troubles.report(log, tt.path, tt.err)
		if got := out.String(); (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%d: log %q, want %q", i, got, tt.want)
		}
	}
}
