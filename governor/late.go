package governor

import (
	"context"
	"errors"
	"fmt"

	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/loader/proc"
)

// gather moves what a process has started that was let go at the bound, before
// its scope was made. It was to be moved alone, since it stood still; what it
// starts once it is moved is born in the scope.
func (p *placer) gather(ctx context.Context, o order, out outcome) outcome {
	ids, err := p.fs.Descendants(o.exec.ID.PID)
	for _, id := range ids {
		at, gone := p.fs.Cgroup(id.PID)
		if gone != nil || at != out.origin.Cgroup {
			continue
		}
		moved, fail := p.backend.Join(ctx, out.scope, proc.Exec{ID: id}, true)
		out.scope.Moved += moved
		if fail != nil && !errors.Is(fail, proc.ErrGone) {
			err = fail
		}
	}
	if err != nil && !errors.Is(err, proc.ErrGone) {
		out.scope.Notes = append(out.scope.Notes, fmt.Sprintf("what it started before it was moved may run outside: %v", err))
	}
	return out
}

// settleLate takes off the cap what a process that ran on during the move had
// touched by then: all that its tree has, less what the scope is charged for.
func (p *placer) settleLate(ctx context.Context, o order, out outcome) outcome {
	total := p.touched(o.exec.ID)
	if ids, err := p.fs.Descendants(o.exec.ID.PID); err == nil {
		for _, id := range ids {
			total += p.touched(id)
		}
	}
	u := p.backend.Usage(out.scope)
	if u.Working > 0 {
		total -= megabytes(u.Working)
	}
	out.caught = max(out.caught, total)
	if o.late {
		return out
	}
	lowered := p.takeOff(o.cap, out.caught)
	if out.scope.MemoryController && lowered.MemoryMB < out.cap.MemoryMB {
		sc, err := p.backend.SetLimits(ctx, out.scope, limitsOf(lowered))
		if err != nil {
			out.scope.Notes = append(out.scope.Notes,
				fmt.Sprintf("%.1f MB touched before the move could not be taken off the cap: %v", out.caught, err))
			return out
		}
		out.scope = sc
	}
	out.cap = lowered
	return out
}

// takeOff lowers a cap by what was touched before the move. Where caps are kept
// by measuring the processes, that is measured with the rest.
func (p *placer) takeOff(c admission.Cap, caughtMB float64) admission.Cap {
	if p.soft {
		return c
	}
	return admission.TakeOff(c, caughtMB)
}
