package main

import (
	"context"
	"fmt"
	"time"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/watchdog"
)

// slopeOver is the time between two readings.
const slopeOver = 500 * time.Millisecond

// dryRun says what the watchdog sees, and whom it would stop. Nothing is done.
func (s *selftest) dryRun(ctx context.Context) {
	const name = "watchdog"
	first := s.memory()
	began := time.Now()
	select {
	case <-time.After(slopeOver):
	case <-ctx.Done():
	}
	second := s.memory()
	if first.MemAvailable < 0 || second.MemAvailable < 0 {
		s.failed(name, askDoctor, "available memory cannot be read: nobody would be stopped in time")
		return
	}
	slope := float64(second.MemAvailable-first.MemAvailable) / (1 << 20) / time.Since(began).Seconds()
	l := s.limits
	level := second.Level(watchdog.Lines{ReserveMB: l.ReserveMB, CriticalMB: l.CriticalMB})
	s.passed(name, "%d MB available, %+.0f MB/s: %s (a job is stopped below %d MB); %s",
		watchdog.MB(second.MemAvailable), slope, level, l.CriticalMB, s.victim(ctx))
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
