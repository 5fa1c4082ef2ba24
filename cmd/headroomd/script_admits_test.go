package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/control"
	"github.com/headroomd/headroomd/governor/journal"
)

// scriptedHand admits as a script says: its updates one after the other, the
// one of the end when the child is gone.
type scriptedHand struct {
	updates []governor.RunUpdate
	asked   string // file that gets the request
}

func (h scriptedHand) Admit(ctx context.Context, r governor.RunRequest, tell func(governor.RunUpdate)) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(h.asked, append(data, '\n'), 0o644); err != nil {
		return err
	}
	for _, u := range h.updates {
		for u.State == governor.RunEnded {
			if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(r.PID))); err != nil {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		tell(u)
	}
	if n := len(h.updates); n > 0 && h.updates[n-1].State == governor.RunWaiting {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func (scriptedHand) StopJob(context.Context, string, uint32) error { return governor.ErrNoJob }
func (scriptedHand) Reload(context.Context) error                  { return nil }

// scriptedGovernor is "admits SOCKET UPDATES ASKED": a governor at the socket
// that tells every run the updates of the one file, a JSON object a line, and
// writes what it was asked into the other.
func scriptedGovernor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: admits SOCKET UPDATES ASKED")
	}
	h := scriptedHand{asked: ts.MkAbs(args[2])}
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		var u governor.RunUpdate
		ts.Check(json.Unmarshal([]byte(line), &u))
		h.updates = append(h.updates, u)
	}
	server := control.NewServer(ts.MkAbs(args[0]), fixedState{}, journal.New(journal.Options{}), nil)
	server.Serves(h)
	serveUntilTheEnd(ts, server)
}

func serveUntilTheEnd(ts *testscript.TestScript, server *control.Server) {
	listener, err := server.Listen()
	ts.Check(err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, listener) }()
	ts.Defer(func() {
		cancel()
		if err := <-done; err != nil {
			ts.Logf("control server: %v", err)
		}
	})
}
