package admission

import (
	"slices"
	"time"
)

// holder is a job that runs.
type holder struct {
	job       string
	promiseMB int64
	wantMB    int64 // what it was promised at first, and takes again when it comes back
	usedMB    int64 // -1 unknown
	capMB     int64 // 0: no cap could be named
	floorMB   int64 // the cap of one that started beyond the budget; 0 for all others
	quiet     bool  // idle: neither slot nor promise
	paused    bool  // no process: neither slot nor promise
	back      bool  // has its slot again, its promise follows at the next reading
}

// active says whether the job has a slot.
func (h *holder) active() bool { return !h.quiet && !h.paused }

// claim is what the others have to leave to the job.
func (h *holder) claim() Claim {
	if h.back {
		return Claim{PromiseMB: max(h.usedMB, 0), UsedMB: h.usedMB}
	}
	return Claim{PromiseMB: h.promiseMB, UsedMB: h.usedMB}
}

// Hold notes a job that runs without having asked: adopted, joined, observed.
// It takes a slot whether or not one is free. Of a known job it sets the
// numbers, and one that was quiet or paused is neither any more.
func (b *Book) Hold(job string, user uint32, promiseMB, capMB int64) {
	b.Withdraw(job)
	h := b.holders[job]
	if h == nil {
		h = b.hold(job)
	}
	h.promiseMB, h.wantMB, h.capMB = max(promiseMB, 0), max(promiseMB, 0), max(capMB, 0)
	h.quiet, h.paused, h.back = false, false, false
	h.floorMB = 0
	if h.capMB > h.promiseMB {
		h.floorMB = h.capMB
	}
	b.idle = time.Time{}
}

func (b *Book) hold(job string) *holder {
	h := &holder{job: job, usedMB: -1}
	if b.holders == nil {
		b.holders = make(map[string]*holder)
	}
	b.holders[job] = h
	b.began = append(b.began, h)
	b.idle = time.Time{}
	return h
}

// Use notes what a job uses, in MB of anon, shmem and kernel memory; -1
// unknown.
func (b *Book) Use(job string, usedMB int64) {
	if h := b.holders[job]; h != nil {
		h.usedMB = max(usedMB, -1)
	}
}

// SetQuiet says that a job is idle: slot and promise are given back, and it
// counts with what it uses. Busy again it has its slot at once, since it runs,
// and at the next reading as much of its promise as is still free.
func (b *Book) SetQuiet(job string, quiet bool) {
	h := b.holders[job]
	if h == nil || h.quiet == quiet {
		return
	}
	h.quiet = quiet
	h.back = !quiet
}

// Pause says that no process of the job is left, though one may come back.
func (b *Book) Pause(job string) {
	if h := b.holders[job]; h != nil {
		h.paused = true
		h.usedMB = 0
	}
}

// Resume says that a paused job has processes again: it takes its slot and, as
// far as it is free, its promise.
func (b *Book) Resume(job string) {
	if h := b.holders[job]; h != nil && h.paused {
		h.paused, h.back = false, true
		h.usedMB = -1
	}
}

// Holders are the claims of the jobs that have a slot, in the order in which
// they began. Quiet and paused jobs are not among them.
func (b *Book) Holders() []Claim {
	all := make([]Claim, 0, len(b.began))
	for _, h := range b.began {
		if h.active() {
			all = append(all, h.claim())
		}
	}
	return all
}

// Slots is the number of slots in use. It may be larger than the setting: jobs
// whose patience was over, that were adopted or are busy again run all the
// same.
func (b *Book) Slots() int { return b.tally().jobs }

// release takes a job off the running ones.
func (b *Book) release(job string) {
	h := b.holders[job]
	if h == nil {
		return
	}
	delete(b.holders, job)
	if i := slices.Index(b.began, h); i >= 0 {
		b.began = slices.Delete(b.began, i, i+1)
	}
}

// tally is what the running jobs come to.
type tally struct {
	jobs   int   // that have a slot
	owedMB int64 // promised to them and not used yet
	usedMB int64 // what is known of what they use
}

func (b *Book) tally() tally {
	var t tally
	for _, h := range b.began {
		if h.active() {
			t.jobs++
			t.owedMB += h.claim().OwedMB()
			t.usedMB += max(h.usedMB, 0)
		}
	}
	return t
}

// settle gives the jobs that are busy again what is free of their promise.
func (b *Book) settle(m Machine, l Limits) {
	for _, h := range b.began {
		if !h.back || !h.active() {
			continue
		}
		h.promiseMB = h.wantMB
		if m.AvailableMB >= 0 {
			free := max(budgetOf(m, l, b.tally()), 0)
			h.promiseMB = min(h.wantMB, max(h.usedMB, 0)+free)
		}
		h.back = false
	}
}
