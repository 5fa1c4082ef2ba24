package admission

import "time"

// Book is the queue, the slots and the promises of the whole machine. The zero
// value is ready. It is not safe for concurrent use: the loop alone writes in
// it.
type Book struct {
	held    Promises
	caps    map[string]int64
	waiting []Waiter
}

// Ask puts a job in the queue.
func (b *Book) Ask(w Waiter) {
	b.Withdraw(w.Job)
	b.held.End(w.Job)
	b.waiting = append(b.waiting, w)
}

// Withdraw takes a job out of the queue: it is gone, was stopped by Ctrl-Z, or
// was refused.
func (b *Book) Withdraw(job string) {
	for i := range b.waiting {
		if b.waiting[i].Job == job {
			b.waiting = append(b.waiting[:i], b.waiting[i+1:]...)
			return
		}
	}
}

// Look says who starts now.
func (b *Book) Look(now time.Time, m Machine, l Limits) []Start {
	var starts []Start
	for len(b.waiting) > 0 && (b.Slots() < max(l.MaxHeavyJobs, 1) || now.Sub(b.waiting[0].Since) >= b.waiting[0].Patience) {
		w := b.waiting[0]
		b.waiting = b.waiting[1:]
		c := Grant(m, l, b.Holders())
		b.held.Give(w.Job, c.PromiseMB)
		starts = append(starts, Start{Job: w.Job, Cap: c, TimedOut: now.Sub(w.Since) >= w.Patience})
	}
	return starts
}

// Standings are the waiters in the order of their turn.
func (b *Book) Standings(now time.Time, m Machine, l Limits) []Standing {
	var all []Standing
	for i, w := range b.waiting {
		all = append(all, Standing{Job: w.Job, Position: i + 1, Why: "waits for the one slot"})
	}
	return all
}

// Waiting is the number of jobs in the queue.
func (b *Book) Waiting() int { return len(b.waiting) }

// Hold notes a job that runs without having asked: adopted, joined, observed.
func (b *Book) Hold(job string, user uint32, promiseMB, capMB int64) {
	b.Withdraw(job)
	b.held.Give(job, promiseMB)
}

// Use notes what a job uses; -1 unknown.
func (b *Book) Use(job string, usedMB int64) { b.held.Use(job, usedMB) }

// SetQuiet says that a job is idle and gives its slot and promise back, or
// that it is busy again and takes them.
func (b *Book) SetQuiet(job string, quiet bool) {}

// Pause says that no process of the job is left, though one may come back.
func (b *Book) Pause(job string) { b.held.End(job) }

// Resume takes the slot and the promise of a paused job again.
func (b *Book) Resume(job string) { b.held.Give(job, 0) }

// End takes a job off the book.
func (b *Book) End(job string) {
	b.Withdraw(job)
	b.held.End(job)
}

// Caps are the caps of the running jobs that should change at this reading.
func (b *Book) Caps(m Machine, l Limits) []CapChange { return nil }

// Provisional is the cap in MB of a job that is held frozen.
func (b *Book) Provisional(m Machine, l Limits) int64 {
	return max(Grant(m, l, b.Holders()).MemoryMB/int64(len(b.waiting)+1), MinCapMB)
}

// Holders are the claims of the jobs that have a slot, in the order in which
// they began.
func (b *Book) Holders() []Claim { return b.held.Claims() }

// Slots is the number of slots in use.
func (b *Book) Slots() int { return b.held.Len() }
