package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/headroomd/headroomd/governor/control"
	"github.com/headroomd/headroomd/governor/explain"
	"github.com/headroomd/headroomd/governor/journal"
)

// whyFlags are the flags of why.
type whyFlags struct {
	asJSON bool
	file   string
	socket string
	kills  func(context.Context, time.Time) ([]explain.Kill, string)
}

// whyAnswer is what why tells, as --json has it.
type whyAnswer struct {
	Job     string           `json:"job,omitempty"`
	PID     int              `json:"pid,omitempty"`
	Story   []string         `json:"story"`
	Kills   []explain.Kill   `json:"kills"`            // by the kernel or another guard
	Records []journal.Record `json:"records"`          // of the job, oldest first
	Unread  string           `json:"unread,omitempty"` // why kills may be missing
}

// whySince is how far back the records are looked through.
const whySince = 31 * 24 * time.Hour

func newWhyCommand() *cobra.Command {
	f := whyFlags{kills: killsSince}
	cmd := &cobra.Command{
		Use:   "why [PID | JOB | last]",
		Short: "Tell the story of a job, or of a process that was killed",
		Long: `Tell the story of a job, from what was recorded of it: what was typed, why it
was taken, how long it waited, which cap it had and how it ended. "last", or
nothing, is the job that began last.

What the kernel's log and other guards (earlyoom, systemd-oomd, nohang) tell of
is added, so that a process that somebody else killed is told apart. That needs
a user who may read the log: root, or the groups adm and systemd-journal.

It works with the governor down.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("why: one job or pid, not %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			word := "last"
			if len(args) == 1 {
				word = args[0]
			}
			return runWhy(cmd.Context(), cmd.OutOrStdout(), f, word)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.asJSON, "json", false, "one JSON object: the story, the records, the kills")
	flags.StringVar(&f.file, "file", "", "read the records in `FILE` instead of asking the governor")
	socketFlag(cmd, &f.socket)
	return cmd
}

func runWhy(ctx context.Context, out io.Writer, f whyFlags, word string) error {
	since := time.Now().Add(-whySince)
	if f.file != "" {
		since = time.Time{}
	}
	var all []journal.Record
	if err := eachRecord(ctx, f.file, f.socket, since, func(r journal.Record) error {
		all = append(all, r)
		return nil
	}); err != nil {
		return fmt.Errorf("why: %w", err)
	}
	if len(all) > 0 {
		since = all[0].Time
	}
	kills, unread := f.kills(ctx, since)
	a, err := whyOf(all, kills, word)
	if err != nil {
		return err
	}
	a.Unread = unread
	if f.asJSON {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		return enc.Encode(a)
	}
	for _, line := range a.Story {
		for _, part := range wrap(line, 78) {
			fmt.Fprintln(out, part)
		}
	}
	if unread != "" && len(a.Kills) == 0 {
		for _, part := range wrap("("+unread+")", 78) {
			fmt.Fprintln(out, part)
		}
	}
	return nil
}

// eachRecord reads the records since then: of a file, of the governor, or of
// the file that one left which runs no more.
func eachRecord(ctx context.Context, file, socket string, since time.Time, each func(journal.Record) error) error {
	filter := journal.Filter{Since: since}
	if file != "" {
		return recordsOf(file, filter, each)
	}
	err := ask(socket, func(c *control.Client) error { return c.EventsSince(ctx, since, false, each) })
	if !notRunning(err) || socket != "" {
		return err
	}
	return leftRecords(func(path string) error { return recordsOf(path, filter, each) })
}

// recordsOf reads a file; a torn line is no reason to tell nothing.
func recordsOf(path string, filter journal.Filter, each func(journal.Record) error) error {
	records, _, err := journal.ReadFile(path, filter)
	for _, r := range records {
		if err := each(r); err != nil {
			return err
		}
	}
	return err
}

// whyOf answers from all records and kills.
func whyOf(all []journal.Record, kills []explain.Kill, word string) (whyAnswer, error) {
	job := word
	pid, isPID := 0, false
	if n, err := strconv.Atoi(word); err == nil && n > 0 {
		pid, isPID = n, true
	}
	switch {
	case isPID:
		job = jobOfPID(all, pid)
	case word == "last":
		job = lastJob(all)
		if job == "" {
			return whyAnswer{}, errors.New("why: no job is on record yet; `headroomd events` shows what is")
		}
	}
	records := slices.DeleteFunc(slices.Clone(all), func(r journal.Record) bool { return job == "" || r.Job != job })
	a := whyAnswer{Job: job, PID: pid, Story: []string{}, Kills: []explain.Kill{}, Records: []journal.Record{}}
	if len(records) == 0 {
		return whyStranger(a, kills, word)
	}
	a.Records, a.Story = records, explain.Job(records)
	unit, pids, from, to := span(records)
	for _, k := range killsOf(kills, unit, pids, from, to) {
		a.Kills = append(a.Kills, k)
		a.Story = append(a.Story, k.Sentence(k.In(unit)))
	}
	return a, nil
}

// whyStranger answers for what was no job: the kernel may have killed it.
func whyStranger(a whyAnswer, kills []explain.Kill, word string) (whyAnswer, error) {
	if a.PID == 0 {
		return a, fmt.Errorf("why: no job %q is on record; `headroomd events` shows which are", word)
	}
	a.Job = ""
	for _, k := range kills {
		if k.PID == a.PID {
			a.Kills = append(a.Kills, k)
			a.Story = append(a.Story, k.Sentence(false))
		}
	}
	if len(a.Kills) == 0 {
		return a, fmt.Errorf("why: nothing is on record of pid %d: the governor did not touch it, and no log that can be read tells of its end", a.PID)
	}
	return a, nil
}

// jobOfPID is the newest job that a process of that number was in.
func jobOfPID(all []journal.Record, pid int) string {
	for _, r := range slices.Backward(all) {
		if r.PID == pid && r.Job != "" {
			return r.Job
		}
	}
	return ""
}

// lastJob is the job that began last: a job's first record has its beginning.
func lastJob(all []journal.Record) string {
	seen := map[string]bool{}
	last := ""
	for _, r := range all {
		if r.Job != "" && !seen[r.Job] {
			seen[r.Job] = true
			last = r.Job
		}
	}
	return last
}

// span is where a job was, its known processes, and its time on record.
func span(records []journal.Record) (unit string, pids []int, from, to time.Time) {
	for _, r := range records {
		if r.Unit != "" {
			unit = r.Unit
		}
		if r.PID != 0 && !slices.Contains(pids, r.PID) {
			pids = append(pids, r.PID)
		}
	}
	from, to = records[0].Time, records[len(records)-1].Time
	if records[len(records)-1].Event != journal.Ended {
		to = time.Now()
	}
	return unit, pids, from, to
}
