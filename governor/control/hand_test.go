//go:build linux

package control

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor"
)

// hand is a governor that does what a test says.
type hand struct {
	admit  func(context.Context, governor.RunRequest, func(governor.RunUpdate)) error
	stop   func(string, uint32) error
	reload error
}

func (h hand) Admit(ctx context.Context, r governor.RunRequest, tell func(governor.RunUpdate)) error {
	return h.admit(ctx, r, tell)
}
func (h hand) StopJob(_ context.Context, job string, by uint32) error { return h.stop(job, by) }
func (h hand) Reload(context.Context) error                           { return h.reload }

func serveHand(t *testing.T, h Hand) *Client {
	t.Helper()
	return dial(t, serveWith(t, fixed{}, nil, h))
}

func TestRunIsToldStepByStep(t *testing.T) {
	var asked governor.RunRequest
	c := serveHand(t, hand{admit: func(_ context.Context, r governor.RunRequest, tell func(governor.RunUpdate)) error {
		asked = r
		tell(governor.RunUpdate{State: governor.RunWaiting, Job: "make-1", Behind: "npm-2", BehindFamily: "node-test", BehindPID: 812})
		tell(governor.RunUpdate{State: governor.RunPlaced, Job: "make-1", MemoryCapMB: 650})
		tell(governor.RunUpdate{State: governor.RunEnded, Job: "make-1", PeakMB: 600})
		return nil
	}})
	var states []string
	request := governor.RunRequest{PID: 812, Start: 54321, Argv: []string{"make", "-j2"}, Family: "c-make"}
	err := c.Run(t.Context(), request, func(u governor.RunUpdate) error {
		states = append(states, fmt.Sprint(u.State, u.BehindPID, u.MemoryCapMB, u.PeakMB))
		return nil
	})
	if want := "waiting812 0 0 placed0 650 0 ended0 0 600"; err != nil || strings.Join(states, " ") != want {
		t.Errorf("told %q, %v, want %q", states, err, want)
	}
	if asked.Asker != os.Getpid() || asked.UID != uint32(os.Getuid()) || asked.PID != 812 || asked.Start != 54321 || asked.Argv[1] != "-j2" {
		t.Errorf("asked %+v", asked)
	}
}

// Whoever gives up waiting is withdrawn.
func TestRunEndsWithItsAsker(t *testing.T) {
	withdrawn := make(chan struct{})
	c := serveHand(t, hand{admit: func(ctx context.Context, _ governor.RunRequest, tell func(governor.RunUpdate)) error {
		tell(governor.RunUpdate{State: governor.RunWaiting})
		<-ctx.Done()
		close(withdrawn)
		return ctx.Err()
	}})
	ctx, cancel := context.WithCancel(t.Context())
	err := c.Run(ctx, governor.RunRequest{}, func(governor.RunUpdate) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	select {
	case <-withdrawn:
	case <-time.After(10 * time.Second):
		t.Error("it still waits")
	}
}

func TestRunRefusedBeforeItBegins(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"not a child", governor.ErrNotChild, "not a waiting child"},
		{"stopped", governor.ErrStopped, "stopped"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := serveHand(t, hand{admit: func(context.Context, governor.RunRequest, func(governor.RunUpdate)) error { return tt.err }})
			err := c.Run(t.Context(), governor.RunRequest{}, func(governor.RunUpdate) error { return nil })
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// A governor that goes away in the middle is told apart from a job that ended.
func TestRunCutShort(t *testing.T) {
	c := serveHand(t, hand{admit: func(_ context.Context, _ governor.RunRequest, tell func(governor.RunUpdate)) error {
		tell(governor.RunUpdate{State: governor.RunWaiting})
		return governor.ErrStopped
	}})
	if err := c.Run(t.Context(), governor.RunRequest{}, func(governor.RunUpdate) error { return nil }); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("got %v", err)
	}
}

func TestStopAndReload(t *testing.T) {
	var mu sync.Mutex
	var stopped []string
	h := hand{reload: errors.New(`headroom.toml:3: unknown key "reserve"`), stop: func(job string, by uint32) error {
		mu.Lock()
		defer mu.Unlock()
		stopped = append(stopped, fmt.Sprint(job, " ", by))
		switch job {
		case "none":
			return governor.ErrNoJob
		case "other":
			return governor.ErrNotYours
		}
		return nil
	}}
	c := serveHand(t, h)
	if err := c.Stop(t.Context(), "make-1a2b3c4d"); err != nil {
		t.Error(err)
	}
	for job, want := range map[string]string{"none": "no such job", "other": "another user's"} {
		if err := c.Stop(t.Context(), job); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("stop %s: %v, want %q", job, err, want)
		}
	}
	// Whoever runs the governor may stop every job.
	if len(stopped) != 3 || stopped[0] != "make-1a2b3c4d 0" {
		t.Errorf("asked to stop %q", stopped)
	}
	if err := c.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "headroom.toml:3") {
		t.Errorf("reload: %v", err)
	}
	if err := dial(t, serve(t, fixed{}, nil)).Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "only tells") {
		t.Errorf("reload of one without a hand: %v", err)
	}
}

func TestRequestsThatChangeSomethingAreChecked(t *testing.T) {
	path := serveWith(t, fixed{}, nil, hand{admit: func(context.Context, governor.RunRequest, func(governor.RunUpdate)) error {
		t.Error("a broken request was let in")
		return nil
	}})
	tests := []struct{ name, head, body, want string }{
		{"not JSON", "Content-Type: application/json\r\n", "{", "400"},
		{"an unknown word", "Content-Type: application/json\r\n", `{"uid":0}`, "400"},
		{"the form of a web page", "Content-Type: application/x-www-form-urlencoded\r\n", "pid=1", "415"},
		{"too large", "Content-Type: application/json\r\n", `{"line":"` + strings.Repeat("a", maxRunBody) + `"}`, "400"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := raw(t, path, fmt.Sprintf("POST /v1/run HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s", tt.head, len(tt.body), tt.body))
			if !strings.Contains(got, tt.want) {
				t.Errorf("answered %.80q, want %s", got, tt.want)
			}
		})
	}
}
