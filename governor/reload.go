package governor

import (
	"context"
	"fmt"
	"time"

	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/journal"
)

// Reload puts other settings and rules in force. What waits is looked at again
// by them; where nothing is to be held any more, all of it is let go.
func (g *Governor) Reload(ctx context.Context, c Config, rules Rules) error {
	return g.do(ctx, func() {
		was := g.o.Config
		g.o.Config, g.o.Rules = c, rules
		g.record(journal.Record{Event: journal.Reloaded, Reason: fmt.Sprintf("settings and rules were read anew: %s", c.Mode)})
		for _, j := range g.inOrder() {
			if j.queued() && j.waits.patience == was.queueTimeout() {
				j.waits.patience = c.queueTimeout()
				if j.waits.start == nil && j.state != Suspended {
					g.ask(j)
				}
			}
		}
		if !g.enforces() {
			g.letAllGo("nothing is held any more")
		}
		g.look()
	})
}

// letAllGo starts everything that waits, with the cap it waits with.
func (g *Governor) letAllGo(why string) {
	for _, j := range g.inOrder() {
		if !j.queued() || j.waits.start != nil {
			continue
		}
		r := g.about(j)
		r.Event, r.WaitedS, r.Reason = journal.Admitted, time.Since(j.waits.since).Seconds(), why
		g.record(r)
		c := admission.Cap{MemoryMB: j.provisionalMB, SwapMB: j.swapMB, PromiseMB: 0, Why: why}
		if j.run != nil && c.MemoryMB == 0 {
			m, l := g.room()
			c = admission.Grant(m, l, g.book.Holders())
		}
		g.book.Hold(j.id, j.waits.user, c.PromiseMB, c.MemoryMB)
		j.waits.start = &admission.Start{Job: j.id, Cap: c}
		g.admit(j)
	}
}

func (g *Governor) queueTimeout() time.Duration { return g.o.Config.queueTimeout() }

// queueTimeout is how long a command waits at most.
func (c Config) queueTimeout() time.Duration { return time.Duration(c.QueueTimeoutS) * time.Second }
