package governor

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/loader/proc"
)

// request is a command that asked first, and what its asker is yet to be told.
type request struct {
	RunRequest

	mu    sync.Mutex
	queue []RunUpdate
	over  bool          // the last of the queue is the last word
	wake  chan struct{} // of 1: something is in the queue
	told  RunUpdate     // of the loop: the last that was said while it waits
	at    time.Time     // of the loop: when that was
}

// tell queues an update. Of those that say that it waits only the last counts,
// and after the last word there is none.
func (r *request) tell(u RunUpdate, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	r.over = last
	if n := len(r.queue); n > 0 && r.queue[n-1].State == RunWaiting && u.State == RunWaiting {
		r.queue[n-1] = u
	} else {
		r.queue = append(r.queue, u)
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *request) next() (all []RunUpdate, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, r.queue = r.queue, nil
	return all, r.over
}

// do has the loop do something and waits until it is done.
func (g *Governor) do(ctx context.Context, what func()) error {
	done := make(chan struct{})
	ask := func() {
		what()
		close(done)
	}
	select {
	case g.asks <- ask:
		<-done
		return nil
	case <-g.over:
		return ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Admit queues a command that asks before it runs, places its process when its
// turn has come, and tells its asker of each change until the job has ended.
// It returns after RunRefused or RunEnded, and for a slotless one or in a mode
// that places nothing after RunPlaced. While the command waits, the end of ctx
// withdraws it; once it is placed, it runs on. tell is called from the calling
// goroutine.
func (g *Governor) Admit(ctx context.Context, r RunRequest, tell func(RunUpdate)) error {
	x, err := r.check(g.o.FS)
	if err != nil {
		return err
	}
	x.Seen = time.Now()
	req := &request{RunRequest: r, wake: make(chan struct{}, 1)}
	var id string
	if err := g.do(ctx, func() { id = g.beginAsked(x, req) }); err != nil {
		return err
	}
	look := time.NewTicker(childLook)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if g.isGone(x.ID) {
				// Its asker waits for the last word: read now, and not at the
				// next turn of the clock.
				_ = g.do(ctx, func() { g.sample(ctx) })
			}
		case <-req.wake:
			all, over := req.next()
			for _, u := range all {
				tell(u)
			}
			if over {
				return nil
			}
		case <-ctx.Done():
			_ = g.do(context.WithoutCancel(ctx), func() { g.withdraw(id) })
			return ctx.Err()
		case <-g.over:
			return ErrStopped
		}
	}
}

// childLook is how often the child of a run is looked at: its end is not to be
// told a second late.
const childLook = 100 * time.Millisecond

// maxLightened is how many changes of a command are shown.
const maxLightened = 16

// beginAsked makes a job of a command that asked first.
func (g *Governor) beginAsked(x proc.Exec, req *request) string {
	if g.stopping {
		req.tell(RunUpdate{State: RunRefused, SwapCapMB: -1, Why: ErrStopped.Error()}, true)
		return ""
	}
	j := g.newJob(&x, req.Family, kinOf(&x, g.o.FS, g.o.Rules))
	j.rule, j.remedy, j.run, j.exec = req.Rule, journal.Escape(req.Remedy, 200), req, x
	j.waits.patience = g.queueTimeout()
	if own := time.Duration(req.WaitS * float64(time.Second)); own > 0 {
		j.waits.patience = min(own, j.waits.patience)
	}
	for _, change := range req.Lightened[:min(len(req.Lightened), maxLightened)] {
		j.lightened = append(j.lightened, journal.Escape(change, 120))
	}
	g.recall(j, &x)
	g.noteCallers(j, &x)
	if with, never := g.linked(&x); with != nil {
		j.waits.never = "it shares a pipe with " + with.id + ": to hold it could have the two wait for each other"
	} else {
		j.waits.never = never
	}
	if inside := g.insideOf(&x); !g.enforces() || inside {
		// What runs in a job is that job: it never waits for itself.
		u := RunUpdate{State: RunPlaced, Why: "it runs in the job that asked for it", Isolated: jobCgroup(x.Cgroup), SwapCapMB: -1}
		if !g.enforces() {
			u.Why = "the governor only observes"
		}
		req.tell(u, true)
		return ""
	}
	m, l := g.room()
	g.jobs[j.id] = j
	g.advance(j, stepHeld)
	r := g.about(j)
	r.Event, r.Reason, r.Source = journal.Captured, req.verdict().Reason, x.Source
	if m.AvailableMB >= 0 {
		r.AvailableMB, r.ReserveMB = m.AvailableMB, l.ReserveMB
	}
	if never := g.tooLarge(j, m, l); never != "" {
		j.note = never
		r.Notes = []string{never}
	}
	g.ask(j)
	mine, standing := g.turn(j, m, l)
	if j.waits.never != "" && g.book.Slots() > 1 {
		r.Notes = append(r.Notes, "not made to wait: "+j.waits.never)
	}
	if mine != nil {
		r.MemoryCapMB, r.SwapCapMB = mine.Cap.MemoryMB, mine.Cap.SwapMB
		g.record(r)
		j.waits.start, j.promiseMB = mine, mine.Cap.PromiseMB
		g.hurry() // should there be no room with the placers
		g.admit(j)
		return j.id
	}
	g.record(r)
	j.waits.held = true
	g.recordHeld(j, standing, journal.Held)
	g.tellAsker(j, standing)
	g.hurry()
	return j.id
}

// insideOf reports whether a process is part of a job: by its cgroup, or where
// jobs have none, by descent.
func (g *Governor) insideOf(x *proc.Exec) bool {
	if jobCgroup(x.Cgroup) {
		return true
	}
	for _, j := range g.jobs {
		if g.isBelow(x, j) {
			return true
		}
	}
	return false
}

// placeAsked places the child of a run whose turn has come. A slotless one was
// only to wait for the memory.
func (g *Governor) placeAsked(j *job) {
	if j.run.Slotless {
		j.run.tell(RunUpdate{State: RunPlaced, Job: j.id, WaitedS: time.Since(j.waits.since).Seconds(), SwapCapMB: -1,
			Why: "a supervisor: its commands are placed one by one"}, true)
		g.drop(j, stepLeft)
		return
	}
	c := j.waits.start.Cap
	o := order{verb: verbPlace, jobID: j.id, unit: "headroom-" + j.id + ".scope", exec: j.exec, cap: c, waits: true,
		about: fmt.Sprintf("command of uid %d held to %d MB by headroomd run", j.uid, c.MemoryMB)}
	o.exec.Seen = time.Now()
	if !g.order(o) {
		return // once more at the next fast turn
	}
	j.waits.start = nil
	g.advance(j, stepOrdered)
}

// withdraw forgets a run whose asker has gone while it waited.
func (g *Governor) withdraw(id string) {
	j := g.jobs[id]
	if j == nil || j.state != Held {
		return
	}
	r := g.about(j)
	r.Event, r.Reason, r.WaitedS = journal.Ended, "its asker withdrew while it waited", time.Since(j.waits.since).Seconds()
	g.record(r)
	j.run.tell(RunUpdate{State: RunRefused, Job: j.id, SwapCapMB: -1, Why: r.Reason}, true)
	g.drop(j, stepLeft)
}

// tellAsker says where a run stands, when that has changed or a second is over.
func (g *Governor) tellAsker(j *job, s admission.Standing) {
	now := time.Now()
	u := RunUpdate{State: RunWaiting, Job: j.id, Position: s.Position, MissingMB: s.MissingMB, Why: s.Why, Note: s.Never,
		SwapCapMB: -1, WaitedS: now.Sub(j.waits.since).Seconds()}
	if b := g.jobs[s.Behind]; b != nil {
		u.BehindFamily, u.BehindPID, u.BehindAgeS = b.family, b.root.PID, now.Sub(b.since).Seconds()
		if b.uid == j.uid {
			u.Behind = b.id
		}
	}
	last := j.run.told
	if last.Behind == u.Behind && last.BehindPID == u.BehindPID && last.Position == u.Position &&
		last.MissingMB == u.MissingMB && now.Sub(j.run.at) < time.Second {
		return
	}
	j.run.told, j.run.at = u, now
	j.run.tell(u, false)
}

// askerOf are the numbers of a job as its asker is told them.
func (j *job) askerOf(state string) RunUpdate {
	return RunUpdate{State: state, Job: j.id, Unit: j.scope.Unit, MemoryCapMB: j.capMB, SwapCapMB: j.swapMB,
		PeakMB: j.peakMB, OOMKills: j.oomKills, Isolated: j.isolated, Note: j.note, Why: j.endedReason,
		WaitedS: j.waited.Seconds()}
}

// unplaced tells an asker that its command runs where it is.
func (j *job) unplaced(why string) {
	if j.run != nil {
		j.run.tell(RunUpdate{State: RunPlaced, Job: j.id, SwapCapMB: -1, Why: why, Note: why, WaitedS: j.waited.Seconds()}, true)
	}
}
