package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/headroomd/headroomd/governor/control"
	"github.com/headroomd/headroomd/governor/explain"
	"github.com/headroomd/headroomd/governor/journal"
)

// eventsFlags are the flags of events.
type eventsFlags struct {
	follow bool
	asJSON bool
	sum    bool
	since  string
	job    string
	file   string
	socket string
}

func newEventsCommand() *cobra.Command {
	var f eventsFlags
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Show what the governor decided, and the numbers it rested on",
		Long: `Show what the governor decided, and the numbers it rested on: those of the
last 24 hours, oldest first. With no governor running they are read from its
file, /var/log/headroom/events.jsonl as a rule.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runEvents(cmd.Context(), cmd.OutOrStdout(), f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&f.follow, "follow", "f", false, "wait for more, until interrupted")
	flags.BoolVar(&f.asJSON, "json", false, "one JSON object a line")
	flags.BoolVar(&f.sum, "summary", false, "add it all up: what was caught, waited and was killed, or would have been")
	flags.StringVar(&f.since, "since", "24h", "from this `TIME` on: 90s, 1h, 2d, or 2026-11-30T08:00:00Z")
	flags.StringVar(&f.job, "job", "", "only of the job `ID`")
	flags.StringVar(&f.file, "file", "", "read the records in `FILE` instead of asking the governor")
	socketFlag(cmd, &f.socket)
	return cmd
}

func runEvents(ctx context.Context, out io.Writer, f eventsFlags) error {
	since, err := sinceTime(f.since, time.Now())
	if err != nil {
		return err
	}
	if f.follow && f.file != "" {
		return usagef("events: -f follows the governor, not a file")
	}
	if f.sum && (f.follow || f.asJSON) {
		return usagef("events: --summary goes neither with -f nor with --json")
	}
	filter := journal.Filter{Since: since, Job: f.job}
	w := bufio.NewWriter(out)
	show := showRecord(w, f.asJSON)
	if f.sum {
		var ledger explain.Ledger
		show = func(r journal.Record) error { ledger.Add(r); return nil }
		defer func() {
			for _, line := range ledger.Lines() {
				fmt.Fprintln(out, line)
			}
		}()
	}
	if f.file != "" {
		return eventsOf(f.file, filter, show)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err = ask(f.socket, func(c *control.Client) error {
		return c.EventsSince(ctx, since, f.follow, func(r journal.Record) error {
			if !filter.Match(r) {
				return nil
			}
			return show(r)
		})
	})
	switch {
	case ctx.Err() != nil:
		return nil // interrupted: that is how following ends
	case notRunning(err) && !f.follow && f.socket == "":
		return eventsLeft(filter, show)
	}
	return err
}

// eventsLeft shows the records that a governor left which runs no more: the
// machine's, or else the user's own.
func eventsLeft(filter journal.Filter, show func(journal.Record) error) error {
	return leftRecords(func(path string) error { return eventsOf(path, filter, show) })
}

// leftRecords reads the first of the files that a governor may have left.
func leftRecords(read func(path string) error) error {
	machine := placesOf(true).events
	for _, path := range []string{machine, placesOf(false).events} {
		if err := read(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return fmt.Errorf("no governor runs, and none has left records in %s", machine)
}

// eventsOf shows the records of a file.
func eventsOf(path string, filter journal.Filter, show func(journal.Record) error) error {
	records, skipped, err := journal.ReadFile(path, filter)
	if err != nil {
		return err
	}
	for _, r := range records {
		if err := show(r); err != nil {
			return err
		}
	}
	if skipped == 1 {
		return fmt.Errorf("%s: 1 line is no record and was left out", path)
	}
	if skipped > 1 {
		return fmt.Errorf("%s: %d lines are no records and were left out", path, skipped)
	}
	return nil
}

// showRecord writes each record at once: a follower's reader waits for it.
func showRecord(w *bufio.Writer, asJSON bool) func(journal.Record) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return func(r journal.Record) error {
		if asJSON {
			if err := enc.Encode(r); err != nil {
				return fmt.Errorf("write a record: %w", err)
			}
		} else {
			fmt.Fprintf(w, "%s\n", explain.Line(r))
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("write a record: %w", err)
		}
		return nil
	}
}

// sinceTime is the moment that word names: a time, or how long ago it was.
func sinceTime(word string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, word, time.Local); err == nil {
			return t, nil
		}
	}
	ago, err := time.ParseDuration(word)
	if days, ok := strings.CutSuffix(word, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		ago = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || ago < 0 {
		return time.Time{}, usagef("events: --since %q is neither a time nor how long ago, such as 1h or 2d", word)
	}
	return now.Add(-ago), nil
}
