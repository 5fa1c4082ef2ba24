package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// places are the files of a governor.
type places struct {
	machine bool   // the whole machine's
	config  string // settings file
	socket  string
	events  string
}

// placesOf are the places of the machine's governor, or of this user's.
func placesOf(root bool) places {
	if root {
		return places{machine: true, config: "/etc/headroom/headroom.toml", socket: machineSocket,
			events: "/var/log/headroom/events.jsonl"}
	}
	home := os.Getenv("HOME")
	socket := userSocket()
	if socket == "" {
		socket = filepath.Join(os.TempDir(), "headroom-"+strconv.Itoa(os.Getuid()), "headroomd.sock")
	}
	return places{
		config: filepath.Join(orEnv("XDG_CONFIG_HOME", filepath.Join(home, ".config")), "headroom", "headroom.toml"),
		socket: socket,
		events: filepath.Join(orEnv("XDG_STATE_HOME", filepath.Join(home, ".local", "state")), "headroom", "events.jsonl"),
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
		modes = map[string]os.FileMode{filepath.Dir(p.socket): 0o755, filepath.Dir(p.events): 0o750}
	}
	for dir, mode := range modes {
		if err := os.MkdirAll(dir, mode); err != nil {
			return fmt.Errorf("make the governor's directory: %w", err)
		}
	}
	return nil
}
