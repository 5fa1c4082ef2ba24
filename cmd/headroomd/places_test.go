package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOwnDir(t *testing.T) {
	tests := []struct {
		name string
		make func(dir string) error
		want string // "" for fine
	}{
		{"own", func(dir string) error { return os.Mkdir(dir, 0o700) }, ""},
		{"open to read", func(dir string) error { return os.Mkdir(dir, 0o755) }, ""},
		{"others may write", func(dir string) error {
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			return os.Chmod(dir, 0o777)
		}, "written to by others"},
		{"a link", func(dir string) error { return os.Symlink("/", dir) }, "no directory"},
		{"a file", func(dir string) error { return os.WriteFile(dir, nil, 0o600) }, "no directory"},
		{"absent", func(string) error { return nil }, "no such file"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "headroom")
			if err := test.make(dir); err != nil {
				t.Fatal(err)
			}
			err := ownDir(dir)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestOwnDirOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a directory of another")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if err := ownDir(dir); err == nil || !strings.Contains(err.Error(), "12345") {
		t.Errorf("got %v, want the owner", err)
	}
}

func TestPlacesOfAUser(t *testing.T) {
	t.Setenv("HOME", "/home/pi")
	t.Setenv("XDG_CONFIG_HOME", "relative is ignored")
	t.Setenv("XDG_STATE_HOME", "/var/pi")
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/1000")
	got := placesOf(false)
	want := places{config: "/home/pi/.config/headroom/headroom.toml", socket: "/run/user/1000/headroom/headroomd.sock",
		events: "/var/pi/headroom/events.jsonl", peaks: "/var/pi/headroom/peaks.json", held: "/run/user/1000/headroom/held.json", boxes: "/run/user/1000/headroom/containers.json"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if m := placesOf(true); !m.machine || m.socket != "/run/headroom/headroomd.sock" {
		t.Errorf("the machine's: %+v", m)
	}
}
