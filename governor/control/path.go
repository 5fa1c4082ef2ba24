package control

import (
	"errors"
	"os"
	"path/filepath"
)

// SystemSocket is where the governor of the whole machine listens.
const SystemSocket = "/run/headroom/headroomd.sock"

// SocketPath is where this user's governor listens: SystemSocket for root,
// otherwise headroom/headroomd.sock in $XDG_RUNTIME_DIR.
func SocketPath() (string, error) {
	if os.Geteuid() == 0 {
		return SystemSocket, nil
	}
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if !filepath.IsAbs(dir) {
		return "", errors.New("find the socket: XDG_RUNTIME_DIR is not set")
	}
	return filepath.Join(dir, "headroom", "headroomd.sock"), nil
}
