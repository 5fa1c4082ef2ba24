package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/loader"
	"github.com/headroomd/headroomd/loader/proc"
)

// dyingSource ends at its first reading.
type dyingSource struct {
	fd     int
	closed bool
}

func newDyingSource(t *testing.T) *dyingSource {
	fd, err := unix.Eventfd(1, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	return &dyingSource{fd: fd}
}

func (s *dyingSource) Name() string                { return "bpf" }
func (s *dyingSource) FD() int                     { return s.fd }
func (s *dyingSource) Read(func(*proc.Exec)) error { return errors.New("the ring is gone") }
func (s *dyingSource) Counters() loader.Counters   { return loader.Counters{} }
func (s *dyingSource) Close() error                { s.closed = true; return unix.Close(s.fd) }

// The end of a source is no end of the guard: the next best takes over, it is
// told, and findings go on.
func TestSourceEnds(t *testing.T) {
	fs := proc.NewFS("/proc")
	dying := newDyingSource(t)
	records := make(chan journal.Record, 8)
	w := &watch{
		options: loader.Options{Want: "poll", FS: fs, Names: map[string]uint32{"make": 1}},
		tracer:  contain.NewTracer(contain.Options{FS: fs}),
		judge:   governor.NewJudge(fs, classifier.Builtin(), os.Getpid()),
		found:   func(governor.Finding, governor.Catch) {},
		record:  func(r journal.Record) { records <- r },
		log:     slog.New(slog.DiscardHandler),
		source:  dying, choice: loader.Choice{Name: "bpf"}, ignored: make(map[uint64]string),
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.run(ctx) }()
	var next string
	select {
	case r := <-records:
		// perf as root, else poll: what there is after BPF.
		next = r.Source
		if r.Event != journal.Source || next != "perf" && next != "poll" || r.Reason == "" {
			t.Errorf("told %+v, want the change with its reason", r)
		}
	case err := <-ended:
		t.Fatalf("the guard ended: %v", err)
	case <-time.After(20 * time.Second):
		t.Fatal("nothing was told")
	}
	if got := w.Status().Name; got != next {
		t.Errorf("source %q, told was %q", got, next)
	}
	if !dying.closed {
		t.Error("the ended source is still open")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("end: %v", err)
	}
}
