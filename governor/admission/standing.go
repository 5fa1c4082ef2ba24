package admission

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Standings are the waiters in the order of their turn, the slotless last.
func (b *Book) Standings(now time.Time, m Machine, l Limits) []Standing {
	if len(b.waiting) == 0 {
		return nil
	}
	s := b.standings(now, m, l)
	all := make([]Standing, 0, len(b.waiting))
	for i, w := range s.order {
		all = append(all, s.of(w, i+1))
	}
	for i, w := range b.slotless.waiters {
		all = append(all, s.of(w, i+1))
	}
	return all
}

// StandingOf is where one job stands; false when it does not wait. It spares
// the sentences of all the others.
func (b *Book) StandingOf(job string, now time.Time, m Machine, l Limits) (Standing, bool) {
	w := b.waiting[job]
	if w == nil {
		return Standing{Job: job}, false
	}
	s := b.standings(now, m, l)
	line := s.order
	if w.Slotless && !w.Never {
		line = b.slotless.waiters
	}
	return s.of(w, slices.Index(line, w)+1), true
}

// standings are those of one moment in the making.
type standings struct {
	look
	order []*Waiter
	slot  string // "waits for the one slot: make-1a2b3c4d holds it; "
	head  string // why the head of the queue waits

	supervisor string // why the first of the slotless does
}

func (b *Book) standings(now time.Time, m Machine, l Limits) *standings {
	l.MaxHeavyJobs = max(l.MaxHeavyJobs, 1)
	s := &standings{look: look{Book: b, now: now, m: m, l: l, t: b.tally()}}
	s.order = append(slices.Clone(b.never.waiters), b.turns.inOrder()...)
	s.slot = s.slots()
	if head := b.turns.head(); head != nil {
		_, s.head = s.memory(head)
	}
	if len(b.slotless.waiters) > 0 {
		_, s.supervisor = s.memory(b.slotless.waiters[0])
	}
	return s
}

func (s *standings) of(w *Waiter, position int) Standing {
	st := Standing{Job: w.Job, Position: position, Never: TooLarge(s.m, s.l, s.t.usedMB, w.PeakMB, w.Runs)}
	head, why := s.Book.turns.head(), s.head
	if w.Slotless && !w.Never {
		head, why = s.slotless.waiters[0], s.supervisor
	}
	switch {
	case w.Never:
		st.Why = "is never held: it starts at the next look"
	case !w.Slotless && s.t.jobs >= s.l.MaxHeavyJobs:
		st.Behind, st.Why = s.holder(), s.slot+place(position)
	case w == head:
		st.MissingMB, st.Why = s.memory(w)
	default:
		st.Behind, st.Why = head.Job, fmt.Sprintf("waits for its turn behind %s, which %s", head.Job, why)
	}
	return st
}

// holder is the job that has held its slot for the longest time.
func (s *standings) holder() string {
	for _, h := range s.began {
		if h.active() {
			return h.job
		}
	}
	return ""
}

// maxNamed is how many holders a sentence names.
const maxNamed = 3

func (s *standings) names() string {
	var named []string
	for _, h := range s.began {
		if h.active() && len(named) < maxNamed {
			named = append(named, h.job)
		}
	}
	more := s.t.jobs - len(named)
	switch {
	case more > 0:
		return fmt.Sprintf("%s and %d more hold them", strings.Join(named, ", "), more)
	case len(named) > 1:
		last := len(named) - 1
		return fmt.Sprintf("%s and %s hold them", strings.Join(named[:last], ", "), named[last])
	case s.l.MaxHeavyJobs > 1:
		return strings.Join(named, "") + " holds them"
	}
	return strings.Join(named, "") + " holds it"
}

// slots are what somebody waits for who waits for a slot, and who has it.
func (s *standings) slots() string {
	slot := "the one slot"
	if s.l.MaxHeavyJobs > 1 {
		slot = fmt.Sprintf("one of %d slots", s.l.MaxHeavyJobs)
	}
	return fmt.Sprintf("waits for %s: %s; ", slot, s.names())
}

// place says how many are before it.
func place(position int) string {
	switch position {
	case 1:
		return "it is next"
	case 2:
		return "1 job is before it"
	}
	return strconv.Itoa(position-1) + " jobs are before it"
}

// memory is the sentence of one who waits for memory alone, and what is
// missing.
func (s *standings) memory(w *Waiter) (missingMB int64, why string) {
	if s.m.AvailableMB < 0 || s.passes(w) {
		return 0, "starts at the next look"
	}
	n, least, budget := w.need(s.l), w.leastMB(s.now, s.l), s.budget(w)
	why = fmt.Sprintf("needs %d MB", least)
	switch {
	case least < n.mb:
		why += fmt.Sprintf(" at the least (it %s)", n.peaked())
	case n.peakMB > 0:
		why += fmt.Sprintf(" (%s)", n.peaked())
	default:
		why += " to start"
	}
	free := fmt.Sprintf("%d MB are free", budget)
	if budget <= 0 {
		free = "nothing is free"
	}
	why += fmt.Sprintf(", %s beyond the reserve", free)
	if s.t.owedMB > 0 && !w.Slotless {
		why += " and what is promised"
	}
	if s.t.jobs == 0 {
		why += fmt.Sprintf("; no other job runs, so it starts in %s at the most", seconds(min(idleWait, w.Patience)-s.waitedIdle(w)))
	} else if half := w.Patience/2 - s.now.Sub(w.Since); least > leastStart(s.l) && half > 0 {
		why += fmt.Sprintf("; in %s it makes do with %d MB", seconds(half), leastStart(s.l))
	}
	return least - budget, why
}

// seconds rounds up, so that nothing is announced for 0 s.
func seconds(d time.Duration) string {
	return fmt.Sprintf("%d s", max((d+time.Second-1)/time.Second, 1))
}
