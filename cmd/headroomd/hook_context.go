package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/governor/control"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/loader/proc"
)

const (
	// headsUpEvery is how often a session is told that memory is tight.
	headsUpEvery = 10 * time.Minute

	// firstLook is how far back a session that is new looks for its jobs.
	firstLook = 2 * time.Minute

	// shownJobs bounds what is told at once: a model reads every word.
	shownJobs = 5
)

// session is what is remembered of one session of an agent.
type session struct {
	Told   time.Time `json:"told"`     // events until then were told
	HeadUp time.Time `json:"heads_up"` // when it was last told that memory is tight
}

// context is what a model should know: which jobs of its user were killed or
// stopped since it was last told, and that memory is tight. "" is nothing.
func (h *hook) context(ctx context.Context, id string) string {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	file := sessionFile(id)
	s := h.load(file)
	var lines []string
	lines = append(lines, h.losses(ctx, s.Told)...)
	s.Told = h.now
	if line := h.headsUp(ctx, s.HeadUp); line != "" {
		lines = append(lines, line)
		s.HeadUp = h.now
	}
	h.save(file, s)
	return strings.Join(lines, "\n")
}

// losses are the user's jobs that died of memory since the last time.
func (h *hook) losses(ctx context.Context, since time.Time) []string {
	uid, seen := uint32(os.Getuid()), map[string]bool{}
	var lines []string
	err := ask(h.options.socket, func(c *control.Client) error {
		return c.EventsSince(ctx, since, false, func(r journal.Record) error {
			if r.UID == nil || *r.UID != uid || !r.Time.After(since) || seen[r.Job+r.Event] {
				return nil
			}
			line := lossWords(r)
			if line == "" {
				return nil
			}
			seen[r.Job+r.Event] = true
			if lines = append(lines, line); len(lines) == shownJobs {
				return errStop
			}
			return nil
		})
	})
	if err != nil && !errors.Is(err, errStop) {
		return nil // without a governor there is nothing to tell
	}
	return lines
}

// lossWords tells of one job; "" for what is no loss.
func lossWords(r journal.Record) string {
	what := journal.Escape(r.Command, 80)
	switch r.Event {
	case journal.OOMKill:
		s := fmt.Sprintf("headroomd: `%s` went over its memory cap of %d MB and its largest process was killed (usually exit code 137). Nothing else was hurt.", what, r.MemoryCapMB)
		if len(r.Notes) > 0 {
			s += " To try: " + journal.Escape(r.Notes[0], 200)
		}
		return s
	case journal.Swept:
		return fmt.Sprintf("headroomd: `%s` was stopped as a whole (%s).", what, journal.Escape(r.Reason, 200))
	case journal.Refused:
		return fmt.Sprintf("headroomd: `%s` was not started (%s).", what, journal.Escape(r.Reason, 200))
	}
	return ""
}

// headsUp is one line when memory is tight, at most every ten minutes.
func (h *hook) headsUp(ctx context.Context, last time.Time) string {
	if h.now.Sub(last) < headsUpEvery {
		return ""
	}
	e, err := newExplainer(ctx, h.options.config, h.options.socket)
	if err != nil {
		return ""
	}
	m := machineMemory()
	limits := e.config.Resolve(m)
	if m.AvailableMB < 0 || m.AvailableMB-limits.ReserveMB >= limits.MinStartMB {
		return ""
	}
	return fmt.Sprintf("headroomd: memory is tight here (%d of %d MB available). Prefer single-worker options and one heavy command at a time.", m.AvailableMB, m.TotalMB)
}

var sessionName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// sessionFile is where a session is remembered; "" where it cannot be.
func sessionFile(id string) string {
	if !sessionName.MatchString(id) {
		return ""
	}
	s, err := openSlots(runDir(), 1, proc.FS{})
	if err != nil {
		return ""
	}
	return filepath.Join(s.dir, "session-"+id+".json")
}

func (h *hook) load(file string) session {
	s := session{Told: h.now.Add(-firstLook)}
	if file == "" {
		return s
	}
	data, err := os.ReadFile(file)
	var old session
	if err == nil && len(data) < 4096 && json.Unmarshal(data, &old) == nil && old.Told.Before(h.now) && !old.Told.IsZero() {
		return old
	}
	return s
}

// save remembers the session. Where that fails it is told things twice.
func (h *hook) save(file string, s session) {
	if file == "" {
		return
	}
	data, err := json.Marshal(s)
	if err != nil {
		return
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return
	}
	f.Write(data)
	f.Close()
}
