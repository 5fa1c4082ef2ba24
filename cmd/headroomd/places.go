package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// places are the files of a governor.
type places struct {
	machine bool   // the whole machine's
	config  string // settings file
	socket  string
	events  string
	peaks   string // what commands took
	held    string // since when they wait
	boxes   string // what containers had before they were capped
}

// placesOf are the places of the machine's governor, or of this user's.
func placesOf(root bool) places {
	if root {
		return places{machine: true, config: "/etc/headroom/headroom.toml", socket: machineSocket,
			events: "/var/log/headroom/events.jsonl", peaks: "/var/lib/headroom/peaks.json", held: "/run/headroom/held.json",
			boxes: "/run/headroom/containers.json"}
	}
	home := os.Getenv("HOME")
	socket := userSocket()
	if socket == "" {
		socket = filepath.Join(os.TempDir(), "headroom-"+strconv.Itoa(os.Getuid()), "headroomd.sock")
	}
	state := filepath.Join(orEnv("XDG_STATE_HOME", filepath.Join(home, ".local", "state")), "headroom")
	return places{
		config: filepath.Join(orEnv("XDG_CONFIG_HOME", filepath.Join(home, ".config")), "headroom", "headroom.toml"),
		socket: socket,
		events: filepath.Join(state, "events.jsonl"),
		peaks:  filepath.Join(state, "peaks.json"),
		held:   filepath.Join(filepath.Dir(socket), "held.json"),
		boxes:  filepath.Join(filepath.Dir(socket), "containers.json"),
	}
}

func orEnv(name, otherwise string) string {
	if dir := os.Getenv(name); filepath.IsAbs(dir) {
		return dir
	}
	return otherwise
}

// make makes the directories. As a service systemd has made them already.
func (p places) make() error {
	modes := map[string]os.FileMode{filepath.Dir(p.socket): 0o700, filepath.Dir(p.events): 0o700}
	if p.machine {
		modes = map[string]os.FileMode{filepath.Dir(p.socket): 0o755, filepath.Dir(p.events): 0o750,
			filepath.Dir(p.peaks): 0o700}
	}
	for dir, mode := range modes {
		if err := os.MkdirAll(dir, mode); err != nil {
			return fmt.Errorf("make the governor's directory: %w", err)
		}
	}
	return ownDir(filepath.Dir(p.socket))
}

// ownDir checks that a directory is this user's and that nobody else can write
// to it. In /tmp anybody could have made it first, and would then be asked in
// the governor's place.
func ownDir(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is no directory: remove it, or set XDG_RUNTIME_DIR", dir)
	case ok && int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to uid %d: have it removed, or set XDG_RUNTIME_DIR", dir, st.Uid)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s may be written to by others (mode %04o): chmod go-w it", dir, info.Mode().Perm())
	}
	return nil
}
