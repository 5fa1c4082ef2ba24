package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/doctor"
)

// card is a directory with the boot file of a board and a kernel that lacks
// memory pressure.
func card(t *testing.T) (root, file string) {
	t.Helper()
	root = t.TempDir()
	file = filepath.Join(root, "boot/firmware/cmdline.txt")
	for path, text := range map[string]string{
		file: "root=/dev/mmcblk0p2 rootwait\n",
		filepath.Join(root, "proc/sys/kernel/osrelease"): "6.12.34\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root, file
}

// TestFixAsks types the answer at a terminal.
func TestFixAsks(t *testing.T) {
	tests := []struct {
		name, typed, want string
	}{
		{"yes", "y\n", "root=/dev/mmcblk0p2 rootwait psi=1\n"},
		{"in a word", "Yes\n", "root=/dev/mmcblk0p2 rootwait psi=1\n"},
		{"no", "n\n", "root=/dev/mmcblk0p2 rootwait\n"},
		{"enter is no", "\n", "root=/dev/mmcblk0p2 rootwait\n"},
		{"the end of the input is no", "\x04", "root=/dev/mmcblk0p2 rootwait\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, file := card(t)
			person, terminal, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer person.Close()
			if _, err := person.WriteString(tt.typed); err != nil {
				t.Fatal(err)
			}
			in, out := os.Stdin, os.Stdout
			os.Stdin, os.Stdout = terminal, terminal
			defer func() { os.Stdin, os.Stdout = in, out }()
			var shown bytes.Buffer
			done := make(chan struct{})
			go func() {
				defer close(done)
				io.Copy(&shown, person) // ends with EIO when the terminal is closed
			}()
			run([]string{"doctor", "--root", root, "--fix"})
			terminal.Close()
			<-done
			if got, err := os.ReadFile(file); err != nil || string(got) != tt.want {
				t.Errorf("the file is %q, %v; want %q\n%s", got, err, tt.want, shown.Bytes())
			}
			if !strings.Contains(shown.String(), "Make this change? [y/N]") {
				t.Errorf("it did not ask:\n%s", shown.Bytes())
			}
		})
	}
}

func TestVerdict(t *testing.T) {
	mended := doctor.Check{State: doctor.Fail, Fix: &doctor.Edit{Path: "/x"}}
	tests := []struct {
		name   string
		checks []doctor.Check
		fixed  map[string]bool
		fails  bool
	}{
		{"nothing fails", []doctor.Check{{State: doctor.Warn}, {State: doctor.Unknown}}, nil, false},
		{"one fails", []doctor.Check{{State: doctor.Fail}}, nil, true},
		{"mended", []doctor.Check{mended}, map[string]bool{"/x": true}, false},
		{"not mended", []doctor.Check{mended}, nil, true},
		{"another is mended", []doctor.Check{mended, {State: doctor.Fail}}, map[string]bool{"/x": true}, true},
	}
	for _, tt := range tests {
		if err := verdict(tt.checks, tt.fixed); (err != nil) != tt.fails || err != nil && !errors.Is(err, errSaid) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestShownDiff(t *testing.T) {
	if got := shownDiff("- a\x1b[2J\r\n+ b\n"); got != "- a\\x1b[2J\n+ b\n" {
		t.Errorf("shown %q", got)
	}
}

func TestBesides(t *testing.T) {
	root := t.TempDir()
	put := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("proc/meminfo", "MemTotal: 1048576 kB\nMemAvailable: 524288 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n")
	b := &besides{root: root}
	if got := b.list(96); got == nil || len(got) != 0 {
		t.Errorf("nobody is there: %+v", got)
	}
	put("proc/9/comm", "earlyoom\n")
	put("proc/9/cmdline", "earlyoom\x00-m\x0012\x00")
	put("proc/9/stat", "9 (earlyoom) S 1 9 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0\n")
	put("proc/9/status", "Uid:\t0\t0\t0\t0\n")
	put("proc/9/cgroup", "0::/system.slice/earlyoom.service\n")
	if got := b.list(96); len(got) != 0 {
		t.Errorf("looked again at once: %+v", got)
	}
	got := b.list(97) // the settings were changed
	if len(got) != 1 || got[0].ActsAtMB != 122 {
		t.Fatalf("guards %+v", got)
	}
	if words := besidesWords(append(got, governor.GuardStatus{Name: "oomd", ActsAtMB: -1})); words != "earlyoom (acts below 122 MB), oomd" {
		t.Errorf("in words %q", words)
	}
}

func TestParseSystemctl(t *testing.T) {
	tests := []struct{ text, want string }{
		{"systemd 252 (252.39-1~deb12u1)\n+PAM +AUDIT\n", "252.39-1~deb12u1"},
		{"systemd 257 (257~rc1)\n", "257"},
		{"systemd 249\n", "249"},
		{"systemctl: command not found\n", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if got := parseSystemctl(tt.text); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}
