package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/loader"
	"github.com/headroomd/headroomd/loader/proc"
)

// watch holds the source of execs, and wires it, the judge and the tracer to
// the governor. It is the governor's Sight.
type watch struct {
	options loader.Options
	// The rules and patterns for which every exec is reported.
	nameless []string
	cgroups  string // the mount of the unified hierarchy; "" for none
	tracer   *contain.Tracer
	judge    *governor.Judge
	can      bool        // processes can be stopped here
	catch    atomic.Bool // stop what is found; without it findings are only told
	found    func(governor.Finding, governor.Catch)
	record   func(journal.Record)
	log      *slog.Logger

	mu      sync.Mutex
	source  loader.Source
	choice  loader.Choice
	ignored map[uint64]string
}

// open chooses the source.
func (w *watch) open() error {
	source, choice, err := loader.Open(w.options)
	if err != nil {
		return err
	}
	w.source, w.choice = source, choice
	w.ignored = make(map[uint64]string)
	return nil
}

// run reads execs until ctx ends. A source that ends is followed by the next
// best one; when there is none left the error says so.
func (w *watch) run(ctx context.Context) error {
	for {
		err := w.tracer.Run(ctx, w.source, w.look)
		w.mu.Lock()
		ended := w.source
		w.mu.Unlock()
		if ctx.Err() != nil {
			return ended.Close()
		}
		if err == nil {
			return fmt.Errorf("source %s ended without a word", ended.Name())
		}
		if err := w.next(ended, err); err != nil {
			return err
		}
	}
}

// gapTicks is how far back the scan after a change of source looks: 5 s. To
// open a source takes at most one, when it waits for its own trial exec.
const gapTicks = 500

// next opens the source that comes after the one that ended.
func (w *watch) next(ended loader.Source, cause error) error {
	if err := ended.Close(); err != nil {
		w.log.Warn("close the ended source", "source", ended.Name(), "err", err)
	}
	w.mu.Lock()
	options := w.options
	w.mu.Unlock()
	source, choice, err := loader.OpenAfter(options, ended.Name(), cause)
	if err != nil {
		return fmt.Errorf("source %s ended (%w) and there is no other: %w", ended.Name(), cause, err)
	}
	w.mu.Lock()
	w.source, w.choice = source, choice
	if f, ok := source.(loader.Filter); ok {
		for id, dir := range w.ignored {
			if err := f.Ignore(id, dir); err != nil {
				w.log.Warn("drop a job's execs in the kernel", "cgroup", dir, "err", err)
			}
		}
	}
	w.mu.Unlock()
	w.record(journal.Record{Event: journal.Source, Source: choice.Name, Reason: choice.Why})
	// What was started while the one had ended and the other was being opened.
	now := governor.TicksNow()
	w.Scan(now - min(now, gapTicks))
	return nil
}

// use has the source tell of what other rules know.
func (w *watch) use(rules *classifier.Set, catch bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	names, all := rules.Names()
	if f, ok := w.source.(interface {
		SetNames(names map[string]uint32, all bool) error
	}); ok {
		if err := f.SetNames(names, all); err != nil {
			return fmt.Errorf("have the source tell of other names: %w", err)
		}
	}
	w.options.Names, w.options.All, w.nameless = names, all, rules.Nameless()
	w.catch.Store(w.can && catch)
	return nil
}

// look is the tracer's judge.
func (w *watch) look(x *proc.Exec) *contain.Catch {
	f, ok := w.judge.Look(x)
	if !ok {
		return nil
	}
	if !w.catch.Load() || f.Leave != "" {
		w.found(f, nil)
		return nil
	}
	return &contain.Catch{
		ID: f.Exec.ID, Stop: true, AllThreads: f.Exec.Late, Seen: f.Exec.Seen,
		Deliver: func(t *contain.Tracee) {
			switch t.State() {
			case contain.Gone, contain.Reaped:
				return
			case contain.Refused:
				if errors.Is(t.Err(), contain.ErrHeld) {
					return // an earlier exec of the same process is being seen to
				}
			}
			w.found(f, caught{t})
		},
	}
}

// caught is a tracee as the governor knows it.
type caught struct{ *contain.Tracee }

func (c caught) Stopped() bool { return c.State() == contain.Stopped }

// Ignore drops what runs in the cgroup, in the kernel where it can be. The
// judge drops it in any case.
func (w *watch) Ignore(id uint64, cgroup string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	dir := filepath.Join(w.cgroups, cgroup)
	w.ignored[id] = dir
	if f, ok := w.source.(loader.Filter); ok {
		return f.Ignore(id, dir)
	}
	return nil
}

// Attend undoes Ignore.
func (w *watch) Attend(id uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.ignored, id)
	if f, ok := w.source.(loader.Filter); ok {
		return f.Attend(id)
	}
	return nil
}

// Scan judges every process that started at or after the tick, on the tracer's
// thread.
func (w *watch) Scan(since uint64) {
	w.tracer.Call(func() {
		fs := w.options.FS
		pids, err := fs.List()
		if err != nil {
			w.log.Warn("scan the process table", "err", err)
			return
		}
		for _, pid := range pids {
			st, err := fs.Stat(pid)
			if err != nil || st.ID.Start < since || st.State == 'Z' {
				continue
			}
			w.tracer.Consider(&proc.Exec{ID: proc.ID{PID: pid}, Comm: st.Comm, Source: "scan", Seen: time.Now(), Late: true})
		}
	})
}

// Status says how execs are seen.
func (w *watch) Status() governor.SourceStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.source.Counters()
	return governor.SourceStatus{Name: w.choice.Name, Why: w.choice.Why, ReportAll: w.options.All,
		ReportAllWhy: someOf(w.nameless), Names: len(w.options.Names), Seen: c.Seen, Reported: c.Reported, Lost: c.Lost}
}

// someOf are the first few of a list in one line.
func someOf(all []string) string {
	const most = 3
	if len(all) > most {
		return fmt.Sprintf("%s; and %d more", strings.Join(all[:most], "; "), len(all)-most)
	}
	return strings.Join(all, "; ")
}
