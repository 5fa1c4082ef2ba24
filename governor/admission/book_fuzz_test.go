package admission

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"
)

// drive is a book under random orders, with what has to hold whatever comes.
type drive struct {
	sim
	jobs    []string                  // that the book may know
	regular map[string]Waiter         // who waits in the line of its user
	asked   int                       // names given so far
	passed  map[uint32]map[uint32]int // by whom how often, since its user began to wait or had a turn
	caps    map[string]int64
}

func newDrive(t *testing.T) *drive {
	return &drive{sim: *newSim(t, 4096, 482), regular: map[string]Waiter{}, passed: map[uint32]map[uint32]int{}, caps: map[string]int64{}}
}

// run takes three bytes an order: what, to whom, how much.
func (d *drive) run(orders []byte) {
	for ; len(orders) >= 3; orders = orders[3:] {
		d.order(orders[0], int(orders[1]), int64(orders[2]))
		d.consistent()
	}
	d.now = d.now.Add(time.Hour)
	d.look()
	if n := d.b.Waiting(); n != 0 {
		d.t.Fatalf("%d wait for ever", n)
	}
}

func (d *drive) job(n int) string {
	if len(d.jobs) == 0 {
		return "nobody"
	}
	return d.jobs[n%len(d.jobs)]
}

func (d *drive) order(what byte, whom int, much int64) {
	job := d.job(whom)
	switch what % 16 {
	case 0, 1, 2, 3:
		d.asks(whom, much)
	case 4:
		d.forget(job)
		d.b.Withdraw(job)
	case 5, 6:
		d.forget(job)
		d.end(job)
	case 7:
		d.forget(job)
		d.b.Hold(job, uint32(whom%4), much*4, max(much*8, MinCapMB))
		d.caps[job] = max(much*8, MinCapMB)
	case 8, 9:
		if d.b.holders[job] != nil {
			d.use(job, min(much*8, max(d.machine().AvailableMB+d.used[job], 0)))
		}
	case 10:
		d.b.SetQuiet(job, much%2 == 0)
	case 11:
		if much%2 == 0 {
			delete(d.used, job)
			d.b.Pause(job)
		} else {
			d.b.Resume(job)
		}
	case 12:
		d.strangers = much * 16
		d.blind = much == 255
	case 13:
		d.l.MaxHeavyJobs = whom % 5
		d.l.JobMemoryMaxMB = (much % 3) * 500
		d.l.ReserveMB = 614 - much
	case 14:
		d.recapped()
	case 15:
		d.now = d.now.Add(time.Duration(much) * time.Second / 4)
	}
	d.look()
}

func (d *drive) asks(whom int, much int64) {
	job := fmt.Sprintf("j%d", d.asked)
	if d.asked++; whom%7 == 0 && len(d.jobs) > 0 {
		job = d.job(whom) // asks again
	} else {
		d.jobs = append(d.jobs, job)
	}
	w := Waiter{Job: job, User: uint32(whom % 4), Since: d.now.Add(-time.Duration(much%8) * time.Second),
		Patience: time.Duration(much) * time.Second, PeakMB: much*20 - 100, Runs: 1, Never: whom%11 == 1, Slotless: whom%13 == 1}
	d.forget(job)
	delete(d.used, job)
	d.b.Ask(w)
	if !w.Never && !w.Slotless {
		d.regular[job] = w
		if d.passed[w.User] == nil {
			d.passed[w.User] = map[uint32]int{}
		}
	}
}

// forget notes that a job waits no more, for what reason ever.
func (d *drive) forget(job string) {
	w, waited := d.regular[job]
	delete(d.regular, job)
	if !waited {
		return
	}
	for _, other := range d.regular {
		if other.User == w.User {
			return
		}
	}
	delete(d.passed, w.User)
}

func (d *drive) look() {
	m, l := d.machine(), d.l
	l.MaxHeavyJobs = max(l.MaxHeavyJobs, 1)
	slots, promised := d.b.Slots(), false
	for _, s := range d.b.Look(d.now, m, l) {
		w, regular := d.regular[s.Job]
		h := d.b.holders[s.Job]
		if h != nil {
			slots++
			promised = promised || s.Cap.PromiseMB > 0
			d.caps[s.Job] = s.Cap.MemoryMB
			if s.Cap.MemoryMB < MinCapMB || s.Cap.PromiseMB < 0 || s.Cap.PromiseMB > s.Cap.MemoryMB || s.Cap.MemoryMB > m.TotalMB {
				d.t.Fatalf("%s: %+v", s.Job, s.Cap)
			}
			if l.JobMemoryMaxMB > 0 && s.Cap.MemoryMB > l.JobMemoryMaxMB {
				d.t.Fatalf("%s: %d MB, the most is %d", s.Job, s.Cap.MemoryMB, l.JobMemoryMaxMB)
			}
		}
		if s.Cap.Why == "" || strings.Contains(s.Cap.Why, "%!") {
			d.t.Fatalf("reason %q", s.Cap.Why)
		}
		d.forget(s.Job)
		if !regular {
			continue
		}
		if !s.TimedOut {
			d.inTurn(w, slots, l.MaxHeavyJobs)
		}
		if d.passed[w.User] != nil {
			d.passed[w.User] = map[uint32]int{}
		}
	}
	if owed := Unused(d.b.Holders()); promised && owed > max(m.AvailableMB-l.ReserveMB, 0) {
		d.t.Fatalf("%d MB are owed of %d - %d", owed, m.AvailableMB, l.ReserveMB)
	}
	d.nobodyIsForgotten(m, l)
}

// inTurn checks a start that was its turn.
func (d *drive) inTurn(w Waiter, slots, most int) {
	if slots > most {
		d.t.Fatalf("%s is the %dth of %d slots", w.Job, slots, most)
	}
	for _, other := range d.regular {
		if other.User == w.User && other.Since.Before(w.Since) {
			d.t.Fatalf("%s passed %s", w.Job, other.Job)
		}
	}
	for user, by := range d.passed {
		if user == w.User {
			continue
		}
		if by[w.User]++; by[w.User] > 1 {
			d.t.Fatalf("user %d had two turns before user %d", w.User, user)
		}
	}
}

func (d *drive) nobodyIsForgotten(m Machine, l Limits) {
	standings := d.b.Standings(d.now, m, l)
	if len(standings) != d.b.Waiting() {
		d.t.Fatalf("%d stand, %d wait", len(standings), d.b.Waiting())
	}
	for i, st := range standings {
		w := d.b.waiting[st.Job]
		if w == nil || w.over(d.now) || w.Never {
			d.t.Fatalf("still waits: %+v", w)
		}
		if st.Why == "" || strings.Contains(st.Why, "%!") || len(st.Why) > 400 || st.MissingMB < 0 || st.Behind == st.Job {
			d.t.Fatalf("%+v", st)
		}
		if st.Position != i+1 && !w.Slotless {
			d.t.Fatalf("%d is %+v", i+1, st)
		}
	}
	if n := len(standings); n > 0 {
		last := standings[n-1]
		if one, ok := d.b.StandingOf(last.Job, d.now, m, l); !ok || one != last {
			d.t.Fatalf("alone %+v, among all %+v", one, last)
		}
	}
	if w := d.b.turns.head(); w != nil && d.b.Slots() == 0 && !d.b.idle.IsZero() && d.now.Sub(d.b.idle) > idleWait && d.now.Sub(w.Since) > idleWait {
		d.t.Fatalf("%s waits for %v, and nothing runs", w.Job, d.now.Sub(w.Since))
	}
	if mb := d.b.Provisional(m, l); mb < MinCapMB {
		d.t.Fatalf("provisional: %d MB", mb)
	}
}

func (d *drive) recapped() {
	m := d.machine()
	for _, c := range d.b.Caps(m, d.l) {
		was, used := d.caps[c.Job], d.b.holders[c.Job].usedMB
		if c.MemoryMB < MinCapMB || c.MemoryMB > m.TotalMB || c.Why == "" {
			d.t.Fatalf("%+v", c)
		}
		if c.MemoryMB < was && (used < 0 || c.MemoryMB < min(was, used+roomMB)) {
			d.t.Fatalf("%+v was %d MB, uses %d", c, was, used)
		}
		if d.l.JobMemoryMaxMB > 0 && c.MemoryMB > max(was, d.l.JobMemoryMaxMB) {
			d.t.Fatalf("%+v, the most is %d", c, d.l.JobMemoryMaxMB)
		}
		d.caps[c.Job] = c.MemoryMB
	}
	if again := d.b.Caps(m, d.l); len(again) > 0 {
		d.t.Fatalf("and again: %+v", again)
	}
}

// consistent checks the book itself.
func (d *drive) consistent() {
	b := &d.b
	lined := len(b.never.waiters) + len(b.slotless.waiters)
	for i, n := range b.turns.lines {
		lined += len(n.waiters)
		if len(n.waiters) == 0 || i > 0 && b.turns.lines[i-1].turn > n.turn {
			d.t.Fatalf("line %d of %d", i, len(b.turns.lines))
		}
		for j := 1; j < len(n.waiters); j++ {
			if n.waiters[j].Since.Before(n.waiters[j-1].Since) {
				d.t.Fatalf("the line of %d is not in order", n.user)
			}
		}
	}
	if lined != len(b.waiting) || len(b.began) != len(b.holders) {
		d.t.Fatalf("%d in lines, %d wait; %d began, %d run", lined, len(b.waiting), len(b.began), len(b.holders))
	}
	for job := range b.waiting {
		if b.holders[job] != nil {
			d.t.Fatalf("%s waits and runs", job)
		}
	}
	for _, h := range b.began {
		if b.holders[h.job] != h || h.promiseMB < 0 {
			d.t.Fatalf("%+v", h)
		}
	}
}

// Whatever is asked in whatever order: promises stay within the budget, slots
// are not exceeded, nobody waits for ever, turns are kept.
func TestBookKeepsItsWord(t *testing.T) {
	for seed := range int64(60) {
		orders := make([]byte, 750)
		rand.New(rand.NewSource(seed)).Read(orders)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { newDrive(t).run(orders) })
	}
}

func FuzzBook(f *testing.F) {
	f.Add([]byte("\x00\x02\x40\x00\x03\x40\x0f\x00\x28\x05\x00\x00"))
	f.Add([]byte("\x00\x02\xff\x08\x00\x20\x0a\x00\x00\x00\x03\xff\x0a\x00\x01\x0e\x00\x00"))
	f.Fuzz(func(t *testing.T, orders []byte) {
		newDrive(t).run(orders[:min(len(orders), 3000)])
	})
}
