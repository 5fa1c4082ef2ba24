package admission

import "time"

// Book is the queue, the slots and the promises of the whole machine. The zero
// value is ready. It is not safe for concurrent use: the loop alone writes in
// it.
//
// A waiter is in exactly one of three lines: that of its user, that of the
// slotless, or that of those who are never held. Within a line the longest
// waiting goes first, and nobody passes it, not even a smaller job: what it
// waits for would never be free again.
type Book struct {
	waiting  map[string]*Waiter
	turns    turns
	slotless line
	never    line
	due      time.Time // no waiter's patience is over before

	holders map[string]*holder
	began   []*holder // in the order in which they began
	idle    time.Time // the first look at which no job ran; zero while one does
}

// Ask puts a job in the queue. One that waits already is asked for anew: its
// place follows from Since. One that runs on the book is taken to be held
// again.
func (b *Book) Ask(w Waiter) {
	b.End(w.Job)
	if b.waiting == nil {
		b.waiting = make(map[string]*Waiter)
	}
	if due := w.Since.Add(w.Patience); len(b.waiting) == 0 || due.Before(b.due) {
		b.due = due
	}
	b.waiting[w.Job] = &w
	switch {
	case w.Never:
		b.never.add(&w)
	case w.Slotless:
		b.slotless.add(&w)
	default:
		b.turns.add(&w)
	}
}

// Withdraw takes a job out of the queue: it is gone, was stopped by Ctrl-Z, or
// was refused.
func (b *Book) Withdraw(job string) {
	w := b.waiting[job]
	if w == nil {
		return
	}
	delete(b.waiting, job)
	switch {
	case w.Never:
		b.never.remove(w)
	case w.Slotless:
		b.slotless.remove(w)
	default:
		b.turns.remove(w)
	}
}

// End takes a job off the book, whether it waits or runs.
func (b *Book) End(job string) {
	b.Withdraw(job)
	b.release(job)
}

// Waiting is the number of jobs in the queue, the slotless among them.
func (b *Book) Waiting() int { return len(b.waiting) }
