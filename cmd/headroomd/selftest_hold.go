package main

import (
	"context"
	"fmt"
	"time"
)

const (
	// heldFor is how long the held child must not be heard of. That it stands is
	// read from the kernel; this only makes sure that nothing is still coming.
	heldFor   = 300 * time.Millisecond
	holdGrace = 2 * time.Second
	holdCapMB = 64
)

// tryHold has a child wait as a queued command does: frozen before it may run.
func (s *selftest) tryHold(ctx context.Context) {
	const name = "hold"
	if s.tier.status.Name == "none" {
		s.skipped(name, "nothing can be held on this tier: heavy commands start at once")
		return
	}
	c, err := startSelfChild(ctx, nil, "echo", "0")
	if err != nil {
		s.failed(name, askDoctor, "no child could be started: %v", err)
		return
	}
	defer c.end()
	p, err := s.place(ctx, c, holdCapMB, true)
	if err != nil {
		s.failed(name, askDoctor, "a job cannot be placed: %v", err)
		return
	}
	b := s.tier.backend
	defer s.release(ctx, p.scope)
	defer b.Thaw(p.scope) // whatever happens, nothing is left standing
	c.say("runs")
	if !p.scope.Frozen || !s.standsStill(ctx, p.scope.Cgroup) {
		s.failed(name, askDoctor, "a child was to wait frozen and is not (%s): queued commands would run at once", p.scope.Unit)
		return
	}
	select {
	case line := <-c.lines:
		s.failed(name, askDoctor, "a held child ran all the same (it says %q): queued commands are not held here", line)
		return
	case <-time.After(heldFor):
	}
	if err := b.Thaw(p.scope); err != nil {
		s.failed(name, "headroomd release lets everything go", "a held child could not be let go: %v", err)
		return
	}
	if err := c.await(ctx, "runs"); err != nil {
		s.failed(name, "headroomd release lets everything go", "a held child was let go and does not run: %v", err)
		return
	}
	stopCtx, cancel := tidy(ctx)
	defer cancel()
	if err := b.Stop(stopCtx, p.scope, holdGrace); err != nil {
		s.failed(name, askDoctor, "a child could not be stopped: %v", err)
		return
	}
	select {
	case <-c.ended:
		s.passed(name, "a child that was placed frozen did not run, ran when it was let go, and was stopped (%s)", endedBy(c))
	case <-stopCtx.Done():
		s.failed(name, askDoctor, "a child was stopped and is still there")
	}
}

// standsStill waits until the kernel says that all of a cgroup stands: it takes
// until each of its processes has come to rest, on a busy machine for a while.
func (s *selftest) standsStill(ctx context.Context, cgroup string) bool {
	for range 60 {
		if fieldOf(s.cgroupFile(cgroup, "cgroup.events"), "frozen") == 1 {
			return true
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return false
		}
	}
	return false
}

func endedBy(c *selfChild) string {
	ws := c.status()
	if ws.Signaled() {
		return fmt.Sprintf("signal %d", ws.Signal())
	}
	return fmt.Sprintf("status %d", ws.ExitStatus())
}
