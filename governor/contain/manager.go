package contain

import (
	"context"
	"errors"
	"fmt"
	"sync"

	sd "github.com/coreos/go-systemd/v22/dbus"
)

// manager is one systemd manager with its connection. It bounds the calls in
// flight and connects again after a break.
type manager struct {
	name  string
	dial  func(ctx context.Context, manager string) (Bus, error)
	turns chan struct{} // a slot per call in flight

	mu      sync.Mutex
	bus     Bus
	ver     string
	tasks   uint64     // DefaultTasksMax; 0 unknown
	learned *abilities // of an accepted start; nil before the first
}

// call runs f on the connection. After a break a question is asked once more
// on a new connection; a start is not, because it may have been heard.
func (m *manager) call(ctx context.Context, again bool, f func(Bus) error) error {
	select {
	case m.turns <- struct{}{}:
		defer func() { <-m.turns }()
	case <-ctx.Done():
		return fmt.Errorf("wait for a turn at the %s manager: %w", m.name, ctx.Err())
	}
	for {
		b, err := m.connect(ctx)
		if err != nil {
			return err
		}
		if err = f(b); !errors.Is(err, errBusGone) {
			return err
		}
		m.drop(b)
		if !again {
			return err
		}
		again = false
	}
}

func (m *manager) connect(ctx context.Context) (Bus, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bus == nil {
		b, err := m.dial(ctx, m.name)
		if err != nil {
			return nil, err
		}
		m.bus = b
	}
	return m.bus, nil
}

// drop forgets a broken connection, unless another call has replaced it.
// What the manager told of itself goes with it: it may be a newer systemd.
func (m *manager) drop(b Bus) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bus == b {
		b.Close()
		m.bus, m.ver, m.tasks, m.learned = nil, "", 0, nil
	}
}

func (m *manager) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bus != nil {
		m.bus.Close()
		m.bus = nil
	}
}

func (m *manager) get(ctx context.Context, unit, iface string, names ...string) (map[string]any, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var props map[string]any
	err := m.call(ctx, true, func(b Bus) (err error) {
		props, err = b.Get(ctx, unit, iface, names...)
		return err
	})
	return props, err
}

func (m *manager) jobs(ctx context.Context) ([]Job, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var jobs []Job
	err := m.call(ctx, true, func(b Bus) (err error) {
		jobs, err = b.Jobs(ctx)
		return err
	})
	return jobs, err
}

// start starts a transient scope. A result other than "done" is an error.
func (m *manager) start(ctx context.Context, unit string, props []sd.Property, queued func()) error {
	ctx, cancel := context.WithTimeout(ctx, jobTimeout)
	defer cancel()
	return m.call(ctx, false, func(b Bus) error {
		// "fail": a start must never replace a job that somebody else queued,
		// least of all a stop.
		result, err := b.Start(ctx, unit, "fail", props, queued)
		if err == nil && result != "done" {
			err = &jobError{unit: unit, result: result}
		}
		return err
	})
}

// jobError is a start job that ended, but not well.
type jobError struct{ unit, result string }

func (e *jobError) Error() string {
	return fmt.Sprintf("start %q: its job ended as %q", e.unit, e.result)
}

func (m *manager) set(ctx context.Context, unit string, props []sd.Property) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return m.call(ctx, true, func(b Bus) error { return b.Set(ctx, unit, props) })
}

// version is the manager's, as it says it ("257.13-1~deb13u1").
func (m *manager) version(ctx context.Context) (string, error) {
	v, _, err := m.itself(ctx)
	return v, err
}

// itself is what the manager says of itself, asked once a connection.
func (m *manager) itself(ctx context.Context) (version string, defaultTasks uint64, err error) {
	m.mu.Lock()
	version, defaultTasks = m.ver, m.tasks
	m.mu.Unlock()
	if version != "" {
		return version, defaultTasks, nil
	}
	props, err := m.get(ctx, "", "Manager", "Version", "DefaultTasksMax")
	if err != nil {
		return "", 0, err
	}
	version, _ = props["Version"].(string)
	defaultTasks, _ = props["DefaultTasksMax"].(uint64)
	m.mu.Lock()
	m.ver, m.tasks = version, defaultTasks
	m.mu.Unlock()
	return version, defaultTasks, nil
}
