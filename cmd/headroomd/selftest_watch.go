package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/watchdog"
)

const (
	// A slope needs some readings; these are those of a calm machine's second.
	dryReadings = 4
	dryEvery    = 250 * time.Millisecond
)

// dryRun says what the watchdog sees, and whom it would stop. Nothing is done.
func (s *selftest) dryRun(ctx context.Context) {
	const name = "watchdog"
	lines := watchdog.Lines{ReserveMB: s.limits.ReserveMB, CriticalMB: s.limits.CriticalMB}
	var watch watchdog.Watch
	var seen watchdog.Judgement
	var available int64
	for i := range dryReadings {
		if i > 0 {
			select {
			case <-time.After(dryEvery):
			case <-ctx.Done():
			}
		}
		r := s.memory()
		if available = r.MemAvailable; available < 0 {
			s.failed(name, askDoctor, "available memory cannot be read: nobody would be stopped in time")
			return
		}
		seen = watch.See(r, lines, time.Now())
	}
	slope := "how fast it changes is not known yet"
	if !math.IsNaN(seen.Slope) {
		slope = fmt.Sprintf("%+.0f MB/s", seen.Slope/(1<<20))
	}
	s.passed(name, "%d MB available, %s: %s (a job is stopped below %d MB); %s",
		watchdog.MB(available), slope, seen.Level, s.limits.CriticalMB, s.victim(ctx))
}

// victim is whom the governor would stop; it is asked and not told to.
func (s *selftest) victim(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	snapshot, err := askStatus(ctx, s.socket)
	switch {
	case notRunning(err):
		return "no governor runs here now, so nobody would be stopped"
	case err != nil:
		return fmt.Sprintf("the governor was asked and does not answer: %v", err)
	}
	newest := governor.JobStatus{}
	for _, j := range snapshot.Jobs {
		if j.Isolated && j.Since.After(newest.Since) {
			newest = j
		}
	}
	if newest.ID == "" {
		return "the governor runs and has no job now, so there is nothing that it would stop"
	}
	return fmt.Sprintf("the governor would stop %s (pid %d, %d MB), its newest job; nothing was done", newest.ID, newest.PID, newest.MemoryMB)
}
