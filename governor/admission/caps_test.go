package admission

import (
	"fmt"
	"testing"
)

// What works today keeps working: beside an agent of 300 MB an npm install of
// 390 MB is under no smaller cap, whatever the readings say meanwhile.
func TestNpmInstallBesideAnAgent(t *testing.T) {
	for _, machine := range []struct{ total, job int64 }{{1024, 390}, {512, 190}} {
		for spare := int64(0); spare < 200; spare += 10 { // more than the install takes
			s := newSim(t, machine.total, machine.total-machine.job-spare) // of them 300 MB are the agent's
			s.ask("npm")
			if starts := s.b.Look(s.now, s.machine(), s.l); len(starts) == 0 {
				s.now = s.now.Add(10 * second)
				if starts = s.b.Look(s.now, s.machine(), s.l); len(starts) == 0 {
					t.Fatalf("%d MB: waits for more than 10 s", machine.total)
				}
			}
			for used := int64(0); used <= machine.job; used += 10 {
				s.use("npm", used)
				s.b.Caps(s.machine(), s.l)
				if got := s.b.holders["npm"].capMB; got < machine.job {
					t.Fatalf("%d MB, %d to spare: uses %d MB of a cap of %d MB", machine.total, spare, used, got)
				}
			}
		}
	}
}

// Two slots are two jobs that both have room, and together stay within what
// is there.
func TestTwoSlots(t *testing.T) {
	s := newSim(t, 4096, 482)
	s.ask("a")
	s.after(0, "a 3000") // alone it may have what is free
	s.use("a", 200)
	s.recap()
	s.use("a", 900)
	s.ask("b")
	s.after(second, "b 1500")
	s.recap("a 1500")
	s.use("b", 1000)
	s.recap()
	s.ask("c")
	s.after(second)
	s.stands("1 c behind a: waits for one of 2 slots: a and b hold them; it is next")
	s.end("a")
	s.after(second, "c 1500")
	s.end("b")
	s.recap("c 3000")
}

func TestFourSlots(t *testing.T) {
	s := newSim(t, 65536, 3488)
	for _, job := range []string{"a", "b", "c", "d", "e"} {
		s.ask(job)
	}
	s.after(0, "a 60000", "b 15000", "c 15000", "d 15000")
	s.stands("1 e behind a: waits for one of 4 slots: a, b, c and 1 more hold them; it is next")
	s.use("a", 10)
	s.recap("a 15000") // alone no more
	s.use("a", 14000)
	s.use("b", 2000)
	s.end("c")
	s.ask("f", peak(1000, 3))
	s.end("d")
	s.after(second, "e 15000", "f 15000") // as much as without a memory of it, 1250 are promised
	s.use("f", 0)
	s.recap("a 18437", "b 18437", "e 18437", "f 4687")
	var sum int64
	for _, job := range []string{"a", "b", "e", "f"} {
		sum += s.caps[job]
	}
	if sum > 60000+4 {
		t.Errorf("the caps come to %d MB of 60000", sum)
	}
}

func TestCaps(t *testing.T) {
	tests := []struct {
		name string
		do   func(s *sim)
		want []string
	}{
		{"what is free is shared", func(s *sim) { s.use("a", 100); s.use("b", 100); s.strangers -= 400 }, []string{"a 1700", "b 1700"}},
		{"what they may put in zram is not free", func(s *sim) { s.strangers -= 400; s.zram.TotalMB = 512 }, []string{"a 1636", "b 1636"}},
		{"too little to write", func(s *sim) { s.strangers -= 30 }, nil},
		{"less than three in a hundred", func(s *sim) { s.strangers -= 80 }, nil},
		{"strangers took what was promised", func(s *sim) { s.strangers += 1500 }, []string{"a 955", "b 955"}},
		{"they did, and one uses all of its own", func(s *sim) { s.use("a", 1500); s.strangers += 500 }, []string{"b 1410"}},
		{"never below what is used and some", func(s *sim) { s.use("a", 1200); s.use("b", 1490); s.strangers += 700 }, []string{"a 1264"}},
		{"what is used is not known", func(s *sim) { s.use("a", -1); delete(s.used, "a"); s.strangers += 1500 }, []string{"b 955"}},
		{"idle", func(s *sim) { s.use("b", 400); s.b.SetQuiet("b", true) }, []string{"a 2600", "b 500"}},
		{"idle and small", func(s *sim) { s.use("b", 20); s.b.SetQuiet("b", true) }, []string{"a 2980", "b 84"}},
		{"idle, nothing known", func(s *sim) { s.use("b", -1); delete(s.used, "b"); s.b.SetQuiet("b", true) }, []string{"a 3000"}},
		{"no process", func(s *sim) { s.end("b"); s.b.Hold("b", 0, 1500, 1500); s.b.Pause("b") }, []string{"a 3000"}},
		{"a most was set", func(s *sim) { s.l.JobMemoryMaxMB = 1000 }, []string{"a 1000", "b 1000"}},
		{"a most below what is used", func(s *sim) { s.use("a", 1200); s.l.JobMemoryMaxMB = 1000 }, []string{"a 1264", "b 1000"}},
		{"somebody waits for memory", func(s *sim) {
			s.l.MaxHeavyJobs = 3
			s.strangers -= 300
			s.recapAny()
			s.ask("c", peak(1000, 1))
		}, []string{"a 1500", "b 1500"}},
		{"a supervisor waits for memory", func(s *sim) {
			s.strangers -= 300
			s.recapAny()
			s.ask("c", peak(4000, 1), slotless)
		}, []string{"a 1500", "b 1500"}},
		{"somebody waits for a slot", func(s *sim) { s.ask("c"); s.strangers -= 300 }, []string{"a 1650", "b 1650"}},
		{"written otherwise", func(s *sim) { s.b.Capped("a", 1000) }, []string{"a 1500"}},
		{"not isolated", func(s *sim) { s.b.Capped("a", 0) }, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSim(t, 4096, 482)
			s.b.Hold("a", 0, 1500, 1500)
			s.b.Hold("b", 0, 1500, 1500)
			s.use("a", 0)
			s.use("b", 0)
			test.do(s)
			s.recap(test.want...)
			s.recap() // once is enough
		})
	}
}

// recapAny takes in whatever caps change.
func (s *sim) recapAny() { s.b.Caps(s.machine(), s.l) }

// The second that starts beyond the budget keeps its part while there are two,
// and the first does not lose what it has in use.
func TestCapsBeyondTheBudget(t *testing.T) {
	s := newSim(t, 1024, 224)
	s.ask("a")
	s.after(0, "a 544")
	s.use("a", 500)
	s.ask("b", never)
	s.after(0, "b 204")
	s.recap()
	s.use("b", 150)
	s.recap()
	s.strangers += 100
	s.recap()
	s.end("a")
	s.recap("b 444")
}

func TestQuietJob(t *testing.T) {
	s := newSim(t, 1024, 224)
	s.ask("dev")
	s.after(0, "dev 544")
	s.use("dev", 80)
	s.ask("make")
	s.after(second)
	s.b.SetQuiet("dev", true)
	if s.b.Slots() != 0 || len(s.b.Holders()) != 0 {
		t.Errorf("%d slots", s.b.Slots())
	}
	s.after(second, "make 464")
	s.recap("dev 144")
	s.use("make", 300)
	s.ask("next")
	s.b.SetQuiet("dev", false)
	s.b.SetQuiet("dev", false)
	if s.b.Slots() != 2 || Unused(s.b.Holders()) != 164 {
		t.Errorf("%d slots, owed %d", s.b.Slots(), Unused(s.b.Holders()))
	}
	s.recap()
	s.end("make")
	s.after(0) // dev has the slot
	s.recap("dev 544")
	s.b.SetQuiet("dev", true)
	s.after(0, "next 464")
	s.end("next")
	s.b.SetQuiet("dev", false)
	s.recap()
	if got := s.b.Holders(); len(got) != 1 || got[0].PromiseMB != 544 {
		t.Errorf("busy again it is promised %v", got)
	}
}

func TestPausedJob(t *testing.T) {
	s := newSim(t, 1024, 224)
	s.b.Hold("a", 0, 544, 544)
	s.b.Resume("a") // was not paused
	s.b.Pause("a")
	s.b.Pause("nobody")
	s.b.SetQuiet("nobody", true)
	s.b.Resume("nobody")
	s.b.Use("nobody", 1)
	s.b.Capped("nobody", 1)
	s.ask("b")
	s.after(0, "b 544")
	s.use("b", 200)
	s.b.Resume("a")
	if s.b.Slots() != 2 {
		t.Errorf("%d slots, want 2", s.b.Slots())
	}
	s.recap() // nothing is left of its promise
	if owed := Unused(s.b.Holders()); owed != 344 {
		t.Errorf("%d MB are owed", owed)
	}
	s.b.Pause("a")
	s.b.Hold("a", 0, 100, 100)
	if owed := Unused(s.b.Holders()); owed != 444 || s.b.Slots() != 2 {
		t.Errorf("%d MB are owed to %d", owed, s.b.Slots())
	}
}

func TestProvisional(t *testing.T) {
	s := newSim(t, 1024, 224)
	s.b.Hold("a", 0, 100, 100)
	got := []int64{s.b.Provisional(s.machine(), s.l)}
	for i := range 7 {
		s.ask(fmt.Sprint(i))
		s.ask(fmt.Sprint("agent", i), slotless)
		got = append(got, s.b.Provisional(s.machine(), s.l))
	}
	if want := "[444 222 148 111 88 74 64 64]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
