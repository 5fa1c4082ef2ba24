package governor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const systemConfigPath = "/etc/headroom/headroom.toml"

// maxConfigBytes is the most that is read of one file; the documented one with
// all its comments has less than 4 KB.
const maxConfigBytes = 256 << 10

// DefaultConfigPath is /etc/headroom/headroom.toml for root, and otherwise
// headroom/headroom.toml below $XDG_CONFIG_HOME or ~/.config; "" where the user
// has neither.
func DefaultConfigPath() string {
	if os.Geteuid() == 0 {
		return systemConfigPath
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "headroom", "headroom.toml")
}

// Load reads the settings: Default, then the file at path, then the files
// *.toml in the directory path + ".d" in the order of their names. A key that
// is set again replaces the value from before, lists included. An empty path
// stands for DefaultConfigPath, and then a missing file is no error.
//
// The error names every fault with its file and line (ConfigError); the Config
// beside it is Default.
func Load(path string) (Config, error) {
	optional := path == ""
	if optional {
		if path = DefaultConfigPath(); path == "" {
			return Default(), nil
		}
	}
	c := Default()
	var all []error
	switch data, err := readConfig(path); {
	case optional && errors.Is(err, fs.ErrNotExist):
	case err != nil:
		all = append(all, err)
	default:
		all = append(all, c.decode(path, data)...)
	}
	more, err := dropIns(path + ".d")
	if err != nil {
		all = append(all, err)
	}
	for _, file := range more {
		data, err := readConfig(file)
		if err != nil {
			all = append(all, err)
			continue
		}
		all = append(all, c.decode(file, data)...)
	}
	if err := errors.Join(all...); err != nil {
		return Default(), err
	}
	return c, nil
}

// dropIns are the files of a directory that may be missing, sorted by name.
// Hidden ones are what editors leave behind.
func dropIns(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list settings: %w", err)
	}
	var files []string
	for _, entry := range entries {
		if name := entry.Name(); filepath.Ext(name) == ".toml" && name[0] != '.' {
			files = append(files, filepath.Join(dir, name))
		}
	}
	return files, nil
}

// readConfig does not wait on a FIFO that lies in a file's place.
func readConfig(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open settings: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open settings: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open settings: %s is not an ordinary file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxConfigBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	if len(data) > maxConfigBytes {
		return nil, fmt.Errorf("read settings: %s is larger than %d KB", path, maxConfigBytes>>10)
	}
	return data, nil
}
