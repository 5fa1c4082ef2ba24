package contain

import (
	"context"
	"errors"
	"fmt"
	"io"

	sd "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"
)

// Bus is one systemd manager, as far as containing needs it.
type Bus interface {
	// Start starts a transient unit, waits for its job and returns the job's
	// result ("done" is the only good one). It calls queued, where not nil, when
	// the manager has taken the job.
	Start(ctx context.Context, unit, mode string, props []sd.Property, queued func()) (result string, err error)
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

// errBusGone says that a connection broke: systemd re-executed itself or the
// bus was restarted. A new connection may well answer.
var errBusGone = errors.New("the connection to the manager broke")

// systemdBus is a Bus over go-systemd. conn has two connections, one for calls
// and one for signals; raw are these two, for what go-systemd offers only
// without a context.
type systemdBus struct {
	conn *sd.Conn
	raw  []*dbus.Conn
}

const (
	systemdName = "org.freedesktop.systemd1"
	systemdPath = "/org/freedesktop/systemd1"
)

func (b *systemdBus) Start(ctx context.Context, unit, mode string, props []sd.Property, queued func()) (string, error) {
	// A buffer of 1, because go-systemd sends the result while it holds the
	// lock that the next StartTransientUnit needs: an unread result would
	// stop every later job of this connection.
	done := make(chan string, 1)
	if _, err := b.conn.StartTransientUnitContext(ctx, unit, mode, props, done); err != nil {
		return "", brokenOr(ctx, err)
	}
	if queued != nil {
		queued()
	}
	select {
	case result := <-done:
		return result, nil
	case <-ctx.Done():
		return "", fmt.Errorf("wait for the start job of %q: %w", unit, ctx.Err())
	case <-b.raw[0].Context().Done():
	case <-b.raw[1].Context().Done():
	}
	return "", fmt.Errorf("wait for the start job of %q: %w", unit, errBusGone)
}

func (b *systemdBus) Set(ctx context.Context, unit string, props []sd.Property) error {
	return brokenOr(ctx, b.conn.SetUnitPropertiesContext(ctx, unit, true, props...))
}

func (b *systemdBus) Get(ctx context.Context, unit, iface string, names ...string) (map[string]any, error) {
	path := dbus.ObjectPath(systemdPath)
	if unit != "" {
		path += dbus.ObjectPath("/unit/" + sd.PathBusEscape(unit))
	}
	obj := b.raw[0].Object(systemdName, path)
	out := make(map[string]any)
	if len(names) == 0 {
		var all map[string]dbus.Variant
		err := obj.CallWithContext(ctx, "org.freedesktop.DBus.Properties.GetAll", 0, systemdName+"."+iface).Store(&all)
		if err != nil {
			return nil, brokenOr(ctx, err)
		}
		for k, v := range all {
			out[k] = v.Value()
		}
		return out, nil
	}
	calls := make([]*dbus.Call, len(names)) // asked together, answered in one go
	for i, name := range names {
		calls[i] = obj.GoWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, make(chan *dbus.Call, 1), systemdName+"."+iface, name)
	}
	for i, name := range names {
		var v dbus.Variant
		if err := (<-calls[i].Done).Store(&v); err != nil {
			return nil, fmt.Errorf("property %s: %w", name, brokenOr(ctx, err))
		}
		out[name] = v.Value()
	}
	return out, nil
}

func (b *systemdBus) Jobs(ctx context.Context) ([]Job, error) {
	list, err := b.conn.ListJobsContext(ctx)
	if err != nil {
		return nil, brokenOr(ctx, err)
	}
	jobs := make([]Job, len(list))
	for i, j := range list {
		jobs[i] = Job{Unit: j.Unit, Type: j.JobType}
	}
	return jobs, nil
}

func (b *systemdBus) Close() error {
	b.conn.Close()
	return nil
}

// brokenOr marks an error that is neither the manager's answer nor the end of
// ctx: then the connection itself broke.
func brokenOr(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || busErrorName(err) != "" {
		return err
	}
	return fmt.Errorf("%w: %w", errBusGone, err)
}

// busErrorName is the D-Bus name of an error that a manager answered with, ""
// for any other.
func busErrorName(err error) string {
	var e dbus.Error
	if errors.As(err, &e) {
		return e.Name
	}
	var p *dbus.Error
	if errors.As(err, &p) && p != nil {
		return p.Name
	}
	return ""
}

// startWith starts a transient unit together with another that it triggers, in
// mode "fail", and waits for its job.
func (b *systemdBus) startWith(ctx context.Context, unit string, props []sd.Property, aux []sd.PropertyCollection) error {
	done := make(chan string, 1)
	if _, err := b.conn.StartTransientUnitAux(ctx, unit, "fail", props, aux, done); err != nil {
		return brokenOr(ctx, err)
	}
	select {
	case result := <-done:
		if result != "done" {
			return &jobError{unit: unit, result: result}
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-b.raw[0].Context().Done():
	case <-b.raw[1].Context().Done():
	}
	return errBusGone
}
