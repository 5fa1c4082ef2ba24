package governor

import (
	"context"
	"fmt"
	"time"
)

// The orders for a scope that is there.
const (
	verbStart  verb = "start"  // its cap, then the thaw
	verbThaw   verb = "thaw"   // let go without a slot: a signal waits
	verbFreeze verb = "freeze" // wait again
	verbLimit  verb = "limit"  // another cap
	verbStop   verb = "stop"   // end its processes
	verbAttend verb = "attend" // the source tells of its execs
	verbIgnore verb = "ignore" // and drops them again
	verbTree   verb = "tree"   // end processes that have no scope
)

const (
	// limitWait is how long a job that starts stands still for its manager to
	// take the new cap: 20 ms for one that answers. The old cap is a cap, too.
	limitWait = 3 * time.Second
	// stopGrace is how long a job has between SIGTERM and SIGKILL.
	stopGrace = 8 * time.Second
)

func (p *placer) start(ctx context.Context, o order) outcome {
	out := outcome{order: o, scope: o.scope}
	out.cap = p.takeOff(o.cap, o.caught)
	short, cancel := context.WithTimeout(ctx, limitWait)
	defer cancel()
	sc, err := p.backend.SetLimits(short, o.scope, limitsOf(out.cap))
	if err == nil {
		out.scope = sc
	}
	out.limitErr = err
	out.err = p.backend.Thaw(o.scope)
	return out
}

func (p *placer) thaw(o order) outcome {
	return outcome{order: o, scope: o.scope, err: p.backend.Thaw(o.scope)}
}

func (p *placer) freeze(o order) outcome {
	out := outcome{order: o, scope: o.scope, err: p.backend.Freeze(o.scope)}
	if out.err != nil {
		// Half frozen is frozen for those whom it hit.
		if err := p.backend.Thaw(o.scope); err != nil {
			p.log.Error("let a job go that could not be frozen", "job", o.jobID, "err", err)
		}
	}
	return out
}

func (p *placer) limit(ctx context.Context, o order) outcome {
	out := outcome{order: o, scope: o.scope, cap: p.takeOff(o.cap, o.caught)}
	sc, err := p.backend.SetLimits(ctx, o.scope, limitsOf(out.cap))
	if err == nil {
		out.scope = sc
	}
	out.err = err
	return out
}

func (p *placer) stop(ctx context.Context, o order) outcome {
	if o.hurry && o.grace > 0 {
		time.Sleep(noteFirst)
	}
	out := outcome{order: o, scope: o.scope, err: p.backend.Stop(ctx, o.scope, o.grace)}
	if out.err != nil {
		// It was to end, not to stand still for ever.
		if err := p.backend.Thaw(o.scope); err != nil {
			out.err = fmt.Errorf("%w; and it is not let go: %w", out.err, err)
		}
	}
	return out
}

func (p *placer) attend(o order) outcome {
	return outcome{order: o, scope: o.scope, err: p.sight.Attend(o.scope.CgroupID)}
}
