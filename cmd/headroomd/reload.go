package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/governor/note"
)

// reloader reads settings and rules again and puts them in force. The jobs and
// what waits go on.
type reloader struct {
	flags  serveFlags
	places places
	gov    *governor.Governor
	judge  *governor.Judge
	watch  *watch
	notes  *note.Writer
	was    governor.Config // what the source and the tier were opened with
	record func(journal.Record)
	log    *slog.Logger
}

// Reload puts the files as they are now in force. With an error everything
// stays as it was.
func (r *reloader) Reload(ctx context.Context) error {
	c, err := r.flags.settings(r.places.config)
	if err != nil {
		r.log.Error("reload: the old settings stay", "err", err)
		r.record(journal.Record{Event: journal.Rules, Reason: "the old settings stay: " + journal.Escape(err.Error(), 500)})
		return fmt.Errorf("the old settings stay: %w", err)
	}
	rules, faults := loadRules(r.places, c)
	reportFaults(faults, r.log, r.record)
	if err := r.watch.use(rules, enforced(c)); err != nil {
		return fmt.Errorf("the old settings stay: %w", err)
	}
	r.judge.SetRules(rules)
	r.notes.SetMode(note.Mode(c.Notes))
	if err := r.gov.Reload(ctx, c, rules); err != nil {
		return err
	}
	if c.Source != r.was.Source || c.Contain != r.was.Contain {
		r.log.Warn("reload: source and contain are taken at a restart only")
	}
	return nil
}

// onHangup reloads at each SIGHUP until ctx ends.
func (r *reloader) onHangup(ctx context.Context) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	for {
		select {
		case <-hangups:
			if err := r.Reload(ctx); err == nil {
				r.log.Info("settings and rules were read anew")
			}
		case <-ctx.Done():
			return
		}
	}
}

// enforced reports whether what is found is stopped and placed.
func enforced(c governor.Config) bool { return c.Mode == governor.ModeEnforce && c.Isolate }

// hand is what the control socket may ask the governor to do.
type hand struct {
	*governor.Governor
	reload *reloader
}

// Reload is the reloader's, which reads the files first.
func (h hand) Reload(ctx context.Context) error { return h.reload.Reload(ctx) }
