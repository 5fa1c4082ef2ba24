package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/headroomd/headroomd/governor/watchdog"
)

// awaitStalls has the kernel tell of stalls for want of memory, where it does.
// Without its word the memory is read all the same, by the clock.
func awaitStalls(ctx context.Context, words chan<- struct{}, log *slog.Logger) {
	t, err := watchdog.OpenTrigger(watchdog.MachinePressure)
	if err == nil {
		err = t.Run(ctx, words)
	}
	switch {
	case err == nil:
	case errors.Is(err, errors.ErrUnsupported):
		log.Debug("no word of pressure", "why", err)
	default:
		log.Warn("no word of pressure", "err", err)
	}
}
