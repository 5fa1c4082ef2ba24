package admission

import (
	"fmt"
	"testing"
	"time"
)

const second = time.Second

func TestOneSlotTwoJobs(t *testing.T) {
	s := newSim(t, 1024, 224)
	s.ask("a")
	s.ask("b")
	s.after(0, "a 544")
	s.stands("1 b behind a: waits for the one slot: a holds it; it is next")
	s.use("a", 300)
	s.after(100 * second)
	s.end("a")
	s.after(second, "b 544")
	if s.b.Slots() != 1 || s.b.Waiting() != 0 {
		t.Errorf("%d slots, %d wait", s.b.Slots(), s.b.Waiting())
	}
}

func TestJobThatNeverFits(t *testing.T) {
	t.Run("alone it starts at once", func(t *testing.T) {
		s := newSim(t, 1024, 78)
		s.ask("a", peak(3480, 3))
		s.stands("1 a: starts at the next look! it peaked at 3480 MB in the last 3 runs; this machine can give 690 MB")
		s.after(0, "a 850") // down to the critical line
	})
	t.Run("beside another it waits for half its patience", func(t *testing.T) {
		s := newSim(t, 4096, 482)
		s.ask("a", peak(800, 1))
		s.after(0, "a 3000")
		s.use("a", 500)
		s.ask("b", peak(3480, 3))
		s.after(0)
		s.after(149 * second)
		s.stands("1 b missing 2350: needs 4350 MB (peaked at 3480 MB in its last 3 runs), 2000 MB are free beyond the reserve and what is promised; in 1 s it makes do with 409 MB! it peaked at 3480 MB in the last 3 runs; this machine can give 3000 MB now")
		s.after(second, "b 2000")
	})
}

func TestJobThatFitsOnlyLater(t *testing.T) {
	s := newSim(t, 4096, 482)
	s.ask("a", peak(2000, 2))
	s.ask("b", peak(700, 2))
	s.ask("c", peak(100, 1))
	s.after(0, "a 3000")
	s.after(second)
	short := "needs 875 MB (peaked at 700 MB in its last 2 runs), 500 MB are free beyond the reserve and what is promised; in 149 s it makes do with 409 MB"
	s.stands("1 b missing 375: "+short, "2 c behind b: waits for its turn behind b, which "+short)
	s.use("a", 1900)
	s.after(second)
	s.end("a")
	s.after(second, "b 3000", "c 2125")
}

func TestMemoryFreedByAStranger(t *testing.T) {
	s := newSim(t, 1024, 700)
	s.ask("a", peak(400, 1))
	s.after(0)
	s.stands("1 a missing 432: needs 500 MB (peaked at 400 MB in its last run), 68 MB are free beyond the reserve; no other job runs, so it starts in 10 s at the most! it peaked at 400 MB in the last run; this machine can give 68 MB now")
	s.strangers = 200
	s.after(3*second, "a 568")
}

func TestNothingOfOursRuns(t *testing.T) {
	s := newSim(t, 1024, 700)
	s.ask("a")
	s.ask("b")
	s.after(0)
	s.after(9 * second)
	s.stands("1 a missing 124: needs 192 MB to start, 68 MB are free beyond the reserve; no other job runs, so it starts in 1 s at the most",
		"2 b behind a: waits for its turn behind a, which needs 192 MB to start, 68 MB are free beyond the reserve; no other job runs, so it starts in 1 s at the most")
	s.after(second, "a 409")
	s.after(60 * second) // a runs: b waits for its end
	s.b.SetQuiet("a", true)
	s.after(second)
	s.after(9 * second)
	s.after(second, "b 409")
}

func TestPatience(t *testing.T) {
	s := newSim(t, 1024, 224)
	s.ask("a")
	s.after(0, "a 544")
	s.ask("b", patience(60*second))
	s.ask("c", patience(60*second), peak(2000, 1))
	s.ask("d", patience(20*second))
	s.after(19 * second)
	s.after(second, "d 204 late")
	s.after(39 * second)
	s.after(second, "b 136 late", "c 102 late")
	if s.b.Slots() != 4 {
		t.Errorf("%d slots", s.b.Slots())
	}
}

func TestNeverHeld(t *testing.T) {
	s := newSim(t, 1024, 224)
	s.ask("a")
	s.after(0, "a 544")
	s.ask("b")
	s.ask("c", never)
	s.stands("1 c: is never held: it starts at the next look", "2 b behind a: waits for the one slot: a holds it; 1 job is before it")
	s.after(0, "c 204")
	s.end("a")
	s.after(0)
	s.end("c")
	s.after(0, "b 544")
}

func TestSlotless(t *testing.T) {
	s := newSim(t, 1024, 324)
	s.ask("agent1", slotless)
	s.ask("agent2", slotless)
	s.ask("agent3", slotless)
	s.after(0, "agent1 0", "agent2 0") // 444 MB for 192 MB each
	if s.b.Slots() != 0 || s.b.Waiting() != 1 {
		t.Errorf("%d slots, %d wait", s.b.Slots(), s.b.Waiting())
	}
	s.after(second, "agent3 0")
	s.ask("a")
	s.after(0, "a 444")
	s.ask("agent4", slotless)
	s.after(0, "agent4 0") // promised to a, and free all the same
	s.use("a", 400)
	s.ask("agent5", slotless, patience(10*second))
	s.ask("agent6", slotless, never)
	s.after(0, "agent6 0")
	s.after(9 * second)
	s.ask("agent7", slotless, peak(10, 1))
	s.stands("1 agent5 missing 148: needs 192 MB to start, 44 MB are free beyond the reserve",
		"2 agent7 behind agent5: waits for its turn behind agent5, which needs 192 MB to start, 44 MB are free beyond the reserve")
	s.after(second, "agent5 0 late")
}

func TestTurns(t *testing.T) {
	s := newSim(t, 1024, 224)
	for i := range 500 {
		s.ask(fmt.Sprintf("m%d/1", i))
	}
	s.after(0, "m0/1 544")
	s.ask("x/2")
	s.ask("y/2")
	s.ask("z/3")
	for _, job := range []string{"m0/1", "x/2", "z/3", "m1/1", "y/2", "m2/1", "m3/1"} {
		if s.caps[job] == 0 {
			t.Fatalf("%s does not run", job)
		}
		s.end(job)
		for _, st := range s.b.Look(s.now, s.machine(), s.l) {
			s.caps[st.Job] = st.Cap.MemoryMB
		}
	}
	// A user with one job at a time is not before the others each time.
	s.ask("x/2")
	s.end("m4/1")
	s.after(0, "x/2 544")
	s.ask("y/2")
	s.end("x/2")
	s.after(0, "m5/1 544")
}

func TestPlaceIsKept(t *testing.T) {
	s := newSim(t, 1024, 224)
	s.ask("a")
	s.after(0, "a 544")
	asked := s.now
	s.ask("b")
	s.after(second)
	s.ask("c")
	s.b.Withdraw("b") // Ctrl-Z
	s.after(5 * second)
	s.ask("b", since(asked))
	s.ask("c", since(asked.Add(second)), peak(100, 1)) // asked anew
	if s.b.Waiting() != 2 {
		t.Errorf("%d wait", s.b.Waiting())
	}
	s.end("a")
	s.after(0, "b 544")
	s.ask("b", since(asked)) // runs on the book, is held in truth
	s.after(0, "b 544")
}

func TestSettingsChangedWhileWaiting(t *testing.T) {
	s := newSim(t, 4096, 482)
	s.ask("a")
	s.ask("b")
	s.ask("c")
	s.ask("d")
	s.l.MaxHeavyJobs = 1
	s.after(0, "a 3000")
	s.use("a", 900)
	s.l.MaxHeavyJobs = 0 // means one
	s.after(second)
	s.l.MaxHeavyJobs = 3
	s.after(second)
	none := "needs 409 MB to start, nothing is free beyond the reserve and what is promised"
	s.stands("1 b missing 409: "+none, "2 c behind b: waits for its turn behind b, which "+none, "3 d behind b: waits for its turn behind b, which "+none)
	s.recap()
	s.l.JobMemoryMaxMB = 1000
	s.recap("a 1000")
	s.l.ReserveMB = 100
	s.after(second, "b 514")
}

func TestMemoryThatCannotBeRead(t *testing.T) {
	s := newSim(t, 1024, 224)
	s.blind = true
	s.ask("a", peak(900, 1))
	s.ask("b", patience(30*second))
	s.after(0, "a 409")
	s.use("a", 390)
	s.recap()
	s.after(30*second, "b 204 late")
	if got := s.b.Provisional(s.machine(), s.l); got != 409 {
		t.Errorf("provisional: %d MB", got)
	}
	s.total = 0
	if got := s.b.Provisional(s.machine(), s.l); got != 0 {
		t.Errorf("provisional of an unknown machine: %d MB", got)
	}
	s.end("a")
	s.end("b")
	s.ask("c")
	s.after(0, "c 0")
	s.recap()
}

// Who asks once is not remembered for ever.
func TestTurnsAreBounded(t *testing.T) {
	s := newSim(t, 1024, 224)
	for user := range 2000 {
		job := fmt.Sprintf("j/%d", user)
		s.ask(job)
		s.after(0, job+" 544")
		s.end(job)
	}
	if n := len(s.b.turns.last); n > maxRemembered+1 {
		t.Errorf("%d users are remembered", n)
	}
	s.ask("j/1999")
	s.ask("j/5")
	s.after(0, "j/5 544")
}
