package governor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/headroomd/headroomd/governor/journal"
)

// StopJob ends the processes of a job: SIGTERM, and after 8 s SIGKILL. It
// returns when they are gone. by is the uid of who asks: 0 may stop all jobs,
// others their own.
func (g *Governor) StopJob(ctx context.Context, id string, by uint32) error {
	done := make(chan error, 1)
	if err := g.do(ctx, func() {
		if err := g.stopJob(id, by, done); err != nil {
			done <- err
		}
	}); err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-g.over:
		return ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	}
}

var (
	errNoScope = errors.New("it has no scope of its own to be stopped")
	errChanges = errors.New("it is being changed just now: try again")
)

func (g *Governor) stopJob(id string, by uint32, done chan<- error) error {
	j := g.jobs[id]
	switch {
	case j == nil || j.state == Ended:
		return fmt.Errorf("stop %s: %w", journal.Escape(id, 80), ErrNoJob)
	case by != 0 && by != j.uid:
		return fmt.Errorf("stop %s: %w", id, ErrNotYours)
	case j.state == Held && j.run != nil && j.scope.Cgroup == "":
		g.recordStop(j, by)
		j.run.tell(RunUpdate{State: RunRefused, Job: j.id, Why: "it was stopped while it waited", SwapCapMB: -1,
			WaitedS: time.Since(j.waits.since).Seconds()}, true)
		g.drop(j, stepLeft)
		done <- nil
		return nil
	case j.state == Placing, j.isolated && j.busy != "" && j.busy != verbStop:
		// As soon as what is under way for it is done.
		g.recordStop(j, by)
		g.book.Withdraw(j.id)
		j.toStop, j.stopWait = true, append(j.stopWait, done)
		j.endedReason = fmt.Sprintf("stopped by uid %d", by)
		return nil
	case !j.isolated:
		return fmt.Errorf("stop %s: %w", id, errNoScope)
	case j.busy == verbStop:
		j.stopWait = append(j.stopWait, done)
		return nil
	case len(g.stopOrders) == cap(g.stopOrders):
		return fmt.Errorf("stop %s: %w", id, errChanges)
	}
	g.recordStop(j, by)
	if j.stands() {
		g.book.Withdraw(j.id)
	}
	j.stopWait = append(j.stopWait, done)
	j.endedReason = fmt.Sprintf("stopped by uid %d", by)
	j.toStop = true
	g.stopNow(j)
	return nil
}

// stopNow ends a job that was to be stopped while something was under way for
// it. Called again at each turn until it is ordered.
func (g *Governor) stopNow(j *job) {
	if j.toStop && j.alive() && g.end(j) {
		j.toStop = false
	}
}

// answerStops tells those who asked for a job's end what became of it.
func (g *Governor) answerStops(j *job, err error) {
	for _, done := range j.stopWait {
		done <- err
	}
	j.stopWait = nil
}

func (g *Governor) recordStop(j *job, by uint32) {
	r := g.about(j)
	r.Event, r.MemoryCapMB, r.PeakMB = journal.Stopped, j.capMB, j.peakMB
	r.Reason = fmt.Sprintf("uid %d asked for its end", by)
	g.record(r)
}
