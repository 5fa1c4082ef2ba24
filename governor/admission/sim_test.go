package admission

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// sim is a machine with strangers and jobs on it. Memory that a job uses is not
// available, nor is what the strangers use.
type sim struct {
	t         *testing.T
	b         Book
	l         Limits
	total     int64
	strangers int64
	blind     bool // MemAvailable cannot be read
	zram      Zram
	used      map[string]int64
	caps      map[string]int64
	now       time.Time
}

func newSim(t *testing.T, totalMB, strangersMB int64) *sim {
	return &sim{t: t, l: limitsOf[totalMB], total: totalMB, strangers: strangersMB,
		used: map[string]int64{}, caps: map[string]int64{}, now: start}
}

func (s *sim) machine() Machine {
	m := Machine{TotalMB: s.total, AvailableMB: s.total - s.strangers, Zram: s.zram}
	for _, mb := range s.used {
		m.AvailableMB -= mb
	}
	m.AvailableMB = max(m.AvailableMB, 0)
	if s.blind {
		m.AvailableMB = -1
	}
	return m
}

// ask has a job ask that has 300 s of patience. Its user is the number after
// the slash of its name.
func (s *sim) ask(job string, change ...func(*Waiter)) {
	w := Waiter{Job: job, Since: s.now, Patience: 300 * time.Second, PeakMB: -1}
	if _, user, ok := strings.Cut(job, "/"); ok {
		fmt.Sscan(user, &w.User)
	}
	for _, f := range change {
		f(&w)
	}
	s.b.Ask(w)
}

func peak(mb int64, runs int) func(*Waiter) {
	return func(w *Waiter) { w.PeakMB, w.Runs = mb, runs }
}
func patience(d time.Duration) func(*Waiter) { return func(w *Waiter) { w.Patience = d } }
func since(t time.Time) func(*Waiter)        { return func(w *Waiter) { w.Since = t } }
func slotless(w *Waiter)                     { w.Slotless = true }
func never(w *Waiter)                        { w.Never = true }

// after lets time pass, looks, and wants the jobs that start: "a 544" starts
// with a cap of 544 MB, "a 64 late" with its patience over.
func (s *sim) after(d time.Duration, want ...string) {
	s.t.Helper()
	s.now = s.now.Add(d)
	var got []string
	for _, st := range s.b.Look(s.now, s.machine(), s.l) {
		text := fmt.Sprintf("%s %d", st.Job, st.Cap.MemoryMB)
		if st.TimedOut {
			text += " late"
		}
		if st.Cap.Why == "" || strings.Contains(st.Cap.Why, "%!") {
			s.t.Errorf("%s starts for the reason %q", st.Job, st.Cap.Why)
		}
		got = append(got, text)
		s.caps[st.Job] = st.Cap.MemoryMB
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("after %v: started %q, want %q", s.now.Sub(start), got, want)
	}
}

// use says what a job uses now.
func (s *sim) use(job string, mb int64) {
	s.used[job] = mb
	s.b.Use(job, mb)
}

func (s *sim) end(job string) {
	delete(s.used, job)
	delete(s.caps, job)
	s.b.End(job)
}

// recap takes in the caps of a reading, and wants them: "a 600".
func (s *sim) recap(want ...string) {
	s.t.Helper()
	var got []string
	for _, c := range s.b.Caps(s.machine(), s.l) {
		got = append(got, fmt.Sprintf("%s %d", c.Job, c.MemoryMB))
		if c.Why == "" || strings.Contains(c.Why, "%!") {
			s.t.Errorf("%s is capped for the reason %q", c.Job, c.Why)
		}
		s.caps[c.Job] = c.MemoryMB
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("after %v: caps %q, want %q", s.now.Sub(start), got, want)
	}
}

// stands wants where the waiters stand: "b behind a missing 0: sentence".
func (s *sim) stands(want ...string) {
	s.t.Helper()
	var got []string
	for _, st := range s.b.Standings(s.now, s.machine(), s.l) {
		text := fmt.Sprintf("%d %s", st.Position, st.Job)
		if st.Behind != "" {
			text += " behind " + st.Behind
		}
		if st.MissingMB != 0 {
			text += fmt.Sprintf(" missing %d", st.MissingMB)
		}
		text += ": " + st.Why
		if st.Never != "" {
			text += "! " + st.Never
		}
		got = append(got, text)
		if one, ok := s.b.StandingOf(st.Job, s.now, s.machine(), s.l); !ok || one != st {
			s.t.Errorf("alone it stands %+v, among all %+v", one, st)
		}
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("after %v they stand\n%s\nwant\n%s", s.now.Sub(start), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
