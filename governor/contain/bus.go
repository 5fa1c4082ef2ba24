package contain

import (
	"context"
	"io"

	sd "github.com/coreos/go-systemd/v22/dbus"
)

// Bus is one systemd manager, as far as containing needs it.
type Bus interface {
	// Start starts a transient unit, waits for its job and returns the job's
	// result ("done" is the only good one).
	Start(ctx context.Context, unit, mode string, props []sd.Property) (result string, err error)
	// Set changes properties of a running unit until it ends.
	Set(ctx context.Context, unit string, props []sd.Property) error
	// Get reads properties of a unit's interface ("Unit", "Service", "Scope"),
	// or of the manager itself where unit is "". Without names it reads all.
	Get(ctx context.Context, unit, iface string, names ...string) (map[string]any, error)
	// Jobs lists the queued and running jobs.
	Jobs(ctx context.Context) ([]Job, error)
	io.Closer
}

// Job is one entry of a manager's queue.
type Job struct {
	Unit string
	Type string // "start", "stop", "restart", …
}
