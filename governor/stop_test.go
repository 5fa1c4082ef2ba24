package governor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headroomd/headroomd/governor/journal"
)

func TestFindingsAfterTheEndAreLetGo(t *testing.T) {
	// The tracer is stopped after the governor: what it stops in between must
	// not wait for the bound.
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.start()
		w.cancel()
		<-w.ended
		c := w.caught(200, "npm", "test")
		if c.Stopped() || c.releases() == 0 {
			t.Error("a process that was caught after the end stands still")
		}
		w.stop()
	})
}

func TestSnapshotAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.start()
		w.cancel()
		<-w.ended
		if _, err := w.gov.Snapshot(context.Background()); !errors.Is(err, ErrStopped) {
			t.Errorf("got %v, want ErrStopped", err)
		}
	})
}

func TestSnapshotGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil) // never started: nobody answers
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.gov.Snapshot(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestStop(t *testing.T) {
	many := func(w *world, n int) {
		for i := range n {
			w.caught(200+i, "npm", "test")
		}
	}
	tests := []struct {
		name     string
		do       func(w *world)
		stopped  string // what the last record says
		mostTook time.Duration
	}{
		{"idle", func(w *world) {}, " 0 ", 0},
		{"a job runs on in its scope", func(w *world) {
			many(w, 1)
			w.after(time.Second)
		}, " 1 ", 0},
		{"while one is being placed", func(w *world) {
			many(w, 1)
			w.after(10 * time.Millisecond)
		}, " 0 ", 0},
		{"while kin waits for a scope", func(w *world) {
			many(w, 1)
			w.fork(300, shell, 200, "cc1")
			w.tracer(300, false)
			w.after(10 * time.Millisecond)
		}, " 0 ", 0},
		{"while orders are queued", func(w *world) {
			many(w, 40)
			w.after(10 * time.Millisecond)
		}, " 0 ", 0},
		{"while findings are queued", func(w *world) { many(w, 40) }, " 0 ", 0},
		{"while a scope is released", func(w *world) {
			w.backend.with(func(b *fakeBackend) { b.releaseTakes = 10 * time.Second })
			many(w, 1)
			w.after(500 * time.Millisecond)
			w.proc.exit(200)
			w.after(6 * time.Second)
		}, " 0 ", 0},
		{"a placing that succeeds all the same", func(w *world) {
			w.backend.with(func(b *fakeBackend) { b.placeTakes = 0 })
			many(w, 1)
		}, "", time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, nil, func(w *world) {
				test.do(w)
				begun := time.Now()
				w.cancel()
				<-w.ended
				if took := time.Since(begun); took > test.mostTook {
					t.Errorf("took %v", took)
				}
				last := w.ledger.of(journal.Stopped)
				if len(last) != 1 || !strings.HasSuffix(w.ledger.events(), "stopped") || !strings.Contains(last[0].Reason, test.stopped) {
					t.Errorf("got %+v, want it last and with %q", last, test.stopped)
				}
			})
		})
	}
}
