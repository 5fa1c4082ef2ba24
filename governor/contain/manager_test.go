package contain

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sd "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"
)

// slowBus answers nothing before its context ends.
type slowBus struct{ now, most, calls atomic.Int32 }

func (b *slowBus) wait(ctx context.Context) error {
	b.calls.Add(1)
	if n := b.now.Add(1); n > b.most.Load() {
		b.most.Store(n)
	}
	<-ctx.Done()
	b.now.Add(-1)
	return ctx.Err()
}

func (b *slowBus) Start(ctx context.Context, _, _ string, _ []sd.Property, _ func()) (string, error) {
	return "", b.wait(ctx)
}
func (b *slowBus) Set(ctx context.Context, _ string, _ []sd.Property) error { return b.wait(ctx) }
func (b *slowBus) Get(ctx context.Context, _, _ string, _ ...string) (map[string]any, error) {
	return nil, b.wait(ctx)
}
func (b *slowBus) Jobs(ctx context.Context) ([]Job, error) { return nil, b.wait(ctx) }
func (b *slowBus) Close() error                            { return nil }

func TestManagerDeadlines(t *testing.T) {
	for _, c := range []struct {
		name string
		call func(*manager) error
		want time.Duration
	}{
		{"get", func(m *manager) error { _, err := m.get(context.Background(), "a", "Unit"); return err }, callTimeout},
		{"jobs", func(m *manager) error { _, err := m.jobs(context.Background()); return err }, callTimeout},
		{"set", func(m *manager) error { return m.set(context.Background(), "a", nil) }, callTimeout},
		{"start", func(m *manager) error { return m.start(context.Background(), "a", nil, nil) }, jobTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := new(slowBus)
				m := &manager{name: "x", turns: make(chan struct{}, callsInFlight), dial: func(context.Context, string) (Bus, error) { return b, nil }}
				begin := time.Now()
				err := c.call(m)
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != c.want || b.calls.Load() != 1 {
					t.Errorf("%v after %v, %d calls", err, time.Since(begin), b.calls.Load())
				}
			})
		})
	}
}

func TestManagerTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(slowBus)
		m := &manager{name: "x", turns: make(chan struct{}, callsInFlight), dial: func(context.Context, string) (Bus, error) { return b, nil }}
		errs := make(chan error, 6)
		for range 6 {
			go func() { _, err := m.jobs(context.Background()); errs <- err }()
		}
		for range 6 {
			if err := <-errs; !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
		if b.most.Load() != callsInFlight {
			t.Errorf("%d calls in flight, want %d", b.most.Load(), callsInFlight)
		}
	})
}

func TestManagerStartIsNotRepeated(t *testing.T) {
	f := newFakeMachine(t)
	b := f.buses[SystemManager]
	m := &manager{name: SystemManager, turns: make(chan struct{}, callsInFlight), dial: f.dial}
	b.broken = 1
	if err := m.start(t.Context(), "headroom-a-00000001.scope", nil, nil); !errors.Is(err, errBusGone) || len(b.started) != 1 {
		t.Errorf("%v, %d starts: it may have been heard", err, len(b.started))
	}
	b.result = "canceled"
	var je *jobError
	if err := m.start(t.Context(), "headroom-a-00000001.scope", nil, nil); !errors.As(err, &je) || je.result != "canceled" {
		t.Errorf("start: %v", err)
	}
	if b.dials != 2 {
		t.Errorf("dialled %d times", b.dials)
	}
}

func TestBrokenOr(t *testing.T) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	answer := fmt.Errorf("x: %w", dbus.NewError("org.freedesktop.systemd1.NoSuchUnit", nil))
	for _, c := range []struct {
		name   string
		ctx    context.Context
		err    error
		broken bool
	}{
		{"none", context.Background(), nil, false},
		{"an answer", context.Background(), answer, false},
		{"an answer by value", context.Background(), dbus.Error{Name: "x.y"}, false},
		{"closed", context.Background(), dbus.ErrClosed, true},
		{"our own patience", over, context.Canceled, false},
	} {
		if got := errors.Is(brokenOr(c.ctx, c.err), errBusGone); got != c.broken {
			t.Errorf("%s: %v, want %v", c.name, got, c.broken)
		}
	}
	if got := busErrorName(answer); got != "org.freedesktop.systemd1.NoSuchUnit" {
		t.Errorf("name %q", got)
	}
}
