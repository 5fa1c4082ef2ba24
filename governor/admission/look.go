package admission

import (
	"cmp"
	"slices"
	"time"
)

// idleWait is how long memory is waited for while no job of ours runs: whoever
// has it is a stranger, and may keep it for ever.
const idleWait = 10 * time.Second

// Look says who starts now; those who start hold from then on. The order is:
// who is never held, whose turn it is and fits, the slotless, and at last
// everybody whose patience is over. It costs one step for each user and each
// start, and one for each waiter at the moments when some patience is over.
//
// The caps of the running jobs may have to make room for a start: call Caps
// after a Look that started something.
func (b *Book) Look(now time.Time, m Machine, l Limits) []Start {
	l.MaxHeavyJobs = max(l.MaxHeavyJobs, 1)
	b.settle(m, l)
	t := b.tally()
	switch {
	case t.jobs > 0:
		b.idle = time.Time{}
	case b.idle.IsZero():
		b.idle = now
	}
	if len(b.waiting) == 0 {
		return nil
	}
	k := look{Book: b, now: now, m: m, l: l, t: t}
	for len(b.never.waiters) > 0 {
		k.start(b.never.waiters[0], false)
	}
	k.turns()
	k.passSlotless()
	k.timeouts()
	return k.starts
}

// look is one look at the book.
type look struct {
	*Book
	now    time.Time
	m      Machine
	l      Limits
	t      tally
	taken  int64 // by the supervisors let through at this look
	starts []Start
}

// turns starts those whose turn it is, up to the first that has to wait.
func (k *look) turns() {
	for {
		w := k.Book.turns.head()
		if w == nil || k.t.jobs >= k.l.MaxHeavyJobs || !k.passes(w) {
			return
		}
		k.start(w, false)
	}
}

// passes says whether memory lets the waiter through.
func (k *look) passes(w *Waiter) bool {
	if k.m.AvailableMB < 0 {
		return true // a gate that cannot see lets everybody through
	}
	budget := k.budget(w)
	if budget >= w.leastMB(k.now, k.l) {
		return true
	}
	if k.t.jobs > 0 {
		return false
	}
	return k.waitedIdle(w) >= min(idleWait, w.Patience) || (budget >= leastStart(k.l) && w.hopeless(k.m, k.l))
}

// waitedIdle is how long the waiter has waited while nothing of ours ran.
func (k *look) waitedIdle(w *Waiter) time.Duration {
	if w.Since.After(k.idle) {
		return k.now.Sub(w.Since)
	}
	return k.now.Sub(k.idle)
}

// hopeless says that the machine would be too small for the waiter if nothing
// else ran on it at all: no wait changes that.
func (w *Waiter) hopeless(m Machine, l Limits) bool {
	return m.TotalMB > 0 && w.need(l).mb > m.TotalMB-l.ReserveMB
}

// budget is what the waiter finds free. For a supervisor that is what nobody
// uses, promised or not: a job alone may be promised all there is for hours,
// and who starts an agent meanwhile would wait for nothing.
func (k *look) budget(w *Waiter) int64 {
	t := k.t
	if w.Slotless {
		t.owedMB = k.taken
	}
	return budgetOf(k.m, k.l, t)
}

// passSlotless lets supervisors through the gate. They are promised nothing,
// so each takes what it needs off this one look: a hundred of them do not pass
// at the sight of the same free memory.
func (k *look) passSlotless() {
	for len(k.slotless.waiters) > 0 {
		w := k.slotless.waiters[0]
		if !k.passes(w) {
			break
		}
		k.taken += w.need(k.l).mb
		k.start(w, false)
	}
}

// timeouts starts everybody whose patience is over.
func (k *look) timeouts() {
	if len(k.waiting) == 0 || k.now.Before(k.due) {
		return
	}
	var over []*Waiter
	first := true
	for _, w := range k.waiting {
		if w.over(k.now) {
			over = append(over, w)
		} else if due := w.Since.Add(w.Patience); first || due.Before(k.due) {
			k.due, first = due, false
		}
	}
	slices.SortFunc(over, func(a, b *Waiter) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Job, b.Job))
	})
	for _, w := range over {
		k.start(w, true)
	}
}

// start moves a waiter to the running ones.
func (k *look) start(w *Waiter, timedOut bool) {
	k.Withdraw(w.Job)
	if w.Slotless {
		k.starts = append(k.starts, Start{Job: w.Job, TimedOut: timedOut, Cap: Cap{
			SwapMB: -1, Why: "it starts heavy commands and is none: what it starts is capped, not it"}})
		return
	}
	n := w.need(k.l)
	least := w.leastMB(k.now, k.l)
	if k.t.jobs == 0 {
		least = n.mb // alone it may go down to the critical line instead
	}
	c := grant(k.m, k.l, k.t, n, least)
	h := k.hold(w.Job)
	h.promiseMB, h.wantMB, h.capMB = c.PromiseMB, c.PromiseMB, c.MemoryMB
	if budgetOf(k.m, k.l, k.t) < least || k.t.jobs >= k.l.MaxHeavyJobs {
		h.floorMB = c.MemoryMB
	}
	k.t.jobs++
	k.t.owedMB += c.PromiseMB
	k.Book.turns.had(w.User)
	k.starts = append(k.starts, Start{Job: w.Job, Cap: c, TimedOut: timedOut})
}
