//go:build linux

package control

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/journal"
)

// fixed is a governor that always says the same.
type fixed struct {
	snapshot governor.Snapshot
	err      error
}

func (f fixed) Snapshot(context.Context) (governor.Snapshot, error) { return f.snapshot, f.err }

// serve runs a server till the test ends, and gives its socket.
func serve(t *testing.T, state State, events Events) string { return serveWith(t, state, events, nil) }

func serveWith(t *testing.T, state State, events Events, h Hand) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "headroom", "headroomd.sock")
	s := NewServer(path, state, events, nil)
	s.Serves(h)
	l, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("serve: %s", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the server does not end")
		}
	})
	return path
}

func dial(t *testing.T, path string) *Client {
	t.Helper()
	c, err := Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestStatus(t *testing.T) {
	want := governor.Snapshot{Version: "1.2", Mode: "observe", Jobs: []governor.JobStatus{{ID: "a", UID: 7, Command: "npm test"}}}
	c := dial(t, serve(t, fixed{snapshot: want}, journal.New(journal.Options{})))
	for range 3 {
		got, err := c.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got.Version != "1.2" || got.Mode != "observe" || len(got.Jobs) != 1 || got.Jobs[0].ID != "a" {
			t.Errorf("got %+v", got)
		}
		if got.Queue == nil || got.Largest == nil || got.Jobs[0].Lightened == nil {
			t.Errorf("a list is null: %+v", got)
		}
	}
}

func TestStatusFails(t *testing.T) {
	c := dial(t, serve(t, fixed{err: errors.New("busy\x1b[2J")}, journal.New(journal.Options{})))
	_, err := c.Status(t.Context())
	if want := `ask for status: busy\x1b[2J`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestEvents(t *testing.T) {
	j := journal.New(journal.Options{})
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range 3 {
		j.Add(journal.Record{Time: start.Add(time.Duration(i) * time.Second), Event: journal.Started, PID: i + 1})
	}
	c := dial(t, serve(t, fixed{}, j))
	tests := []struct {
		name  string
		since time.Time
		want  int
	}{
		{"all", time.Time{}, 3},
		{"from the second", start.Add(time.Second), 2},
		{"none", start.Add(time.Hour), 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := 0
			err := c.EventsSince(t.Context(), test.since, false, func(r journal.Record) error {
				got++
				return nil
			})
			if err != nil || got != test.want {
				t.Errorf("got %d records, %v, want %d", got, err, test.want)
			}
		})
	}
	stop := errors.New("enough")
	if err := c.Events(t.Context(), false, func(journal.Record) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want the caller's own error", err)
	}
}

func TestFollow(t *testing.T) {
	j := journal.New(journal.Options{})
	j.Add(journal.Record{Event: journal.Started})
	c := dial(t, serve(t, fixed{}, j))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := make(chan journal.Record, 8)
	ended := make(chan error, 1)
	go func() {
		ended <- c.Events(ctx, true, func(r journal.Record) error {
			got <- r
			return nil
		})
	}()
	want := func(event string) {
		t.Helper()
		select {
		case r := <-got:
			if r.Event != event {
				t.Errorf("got %s, want %s", r.Event, event)
			}
		case err := <-ended:
			t.Fatalf("following ended: %v", err)
		case <-time.After(10 * time.Second):
			t.Fatalf("no %s came", event)
		}
	}
	want(journal.Started)
	j.Add(journal.Record{Event: journal.Source})
	want(journal.Source)
	j.Add(journal.Record{Event: journal.Lost, LostEvents: 3})
	want(journal.Lost)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// A follower outlives the deadlines of a request and of an answer.
func TestFollowForLong(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as the deadline of a request")
	}
	t.Parallel()
	j := journal.New(journal.Options{})
	c := dial(t, serve(t, fixed{}, j))
	got := make(chan journal.Record, 1)
	go c.Events(t.Context(), true, func(r journal.Record) error {
		got <- r
		return nil
	})
	time.Sleep(readTimeout + time.Second)
	j.Add(journal.Record{Event: journal.Started})
	select {
	case <-got:
	case <-time.After(5 * time.Second):
		t.Error("the follower was dropped")
	}
}

// The end of the server ends its followers, without an error for them.
func TestServerEndsFollowers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	j := journal.New(journal.Options{})
	j.Add(journal.Record{Event: journal.Started})
	ctx, cancel := context.WithCancel(t.Context())
	s := NewServer(path, fixed{}, j, nil)
	l, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	c := dial(t, path)
	err = c.Events(t.Context(), true, func(journal.Record) error {
		cancel()
		return nil
	})
	if err != nil {
		t.Errorf("the follower: %s", err)
	}
	if err := <-served; err != nil {
		t.Errorf("the server: %s", err)
	}
	if _, err := net.Dial("unix", path); err == nil {
		t.Error("the socket still answers")
	}
}

func TestDialNobody(t *testing.T) {
	_, err := Dial(filepath.Join(t.TempDir(), "none"))
	if !errors.Is(err, ErrNoDaemon) {
		t.Errorf("got %v, want ErrNoDaemon", err)
	}
}
