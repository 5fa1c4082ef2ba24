package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/control"
)

// machineSocket is where the governor of the whole machine answers.
const machineSocket = "/run/headroom/headroomd.sock"

// userSocket is where a user's own governor answers; "" where there is no
// runtime directory for it.
func userSocket() string {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "headroom", "headroomd.sock")
}

func socketFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "socket", "", "ask the governor at the socket `PATH`")
}

// sockets are those to try: the one that was named, or else the machine's and
// then the user's own.
func sockets(named string) []string {
	if named != "" {
		return []string{named}
	}
	return []string{placesOf(true).socket, placesOf(false).socket}
}

// ask puts a question to the first governor that is there.
func ask(named string, question func(*control.Client) error) error {
	var first error
	for _, path := range sockets(named) {
		client, err := control.Dial(path)
		if err == nil {
			err = question(client)
			client.Close()
		}
		if err == nil || !notRunning(err) {
			return err
		}
		if first == nil {
			first = fmt.Errorf("nobody listens at %s: %w", path, control.ErrNoDaemon)
		}
	}
	return first
}

func askStatus(ctx context.Context, named string) (governor.Snapshot, error) {
	var s governor.Snapshot
	err := ask(named, func(c *control.Client) (err error) {
		s, err = c.Status(ctx)
		return err
	})
	return s, err
}

// notRunning tells a governor that is not there from one that cannot be asked.
func notRunning(err error) bool { return errors.Is(err, control.ErrNoDaemon) }
