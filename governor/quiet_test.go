package governor

import (
	"strings"
	"testing"
	"time"
)

func (p pace) String() string { return [...]string{"busy", "idle", "quiet"}[p] }

// stretch is some seconds of a job's life, a pulse a second.
type stretch struct {
	seconds int
	share   float64 // of a core; below 0 unknown
	mb      float64 // at the end of it; in between it changes evenly
	stopped bool
	rest    bool   // the loop has it give way at the start
	want    string // paces that were answered, repeated ones once
}

func TestStillness(t *testing.T) {
	tests := []struct {
		name  string
		start float64 // MB
		life  []stretch
	}{
		{"a build", 300, []stretch{{30, 0.9, 500, false, false, "busy"}}},
		{"idle after 5 s, quiet after a minute", 300, []stretch{
			{4, 0, 300, false, false, "busy"}, {1, 0, 300, false, false, "idle"},
			{54, 0, 300, false, false, "idle"}, {1, 0, 300, false, false, "quiet"},
			{600, 0, 300, false, false, "quiet"}}},
		{"2 % is idle", 300, []stretch{{30, 0.02, 300, false, false, "busy idle"}}},
		{"3 % is not", 300, []stretch{{200, 0.03, 300, false, false, "busy"}}},
		{"without CPU, but it grows", 100, []stretch{{100, 0.01, 900, false, false, "busy"}}},
		{"a heap that breathes", 300, []stretch{{20, 0.01, 305, false, false, "busy idle"}, {20, 0.01, 299, false, false, "idle"},
			{21, 0.01, 305, false, false, "idle quiet"}}},
		{"a spike ends the minute", 300, []stretch{{30, 0, 300, false, false, "busy idle"}, {3, 0.9, 300, false, false, "busy"},
			{59, 0, 300, false, false, "busy idle"}, {2, 0, 300, false, false, "quiet"}}},
		{"a garbage collection does not", 300, []stretch{{30, 0.005, 300, false, false, "busy idle"}, {1, 0.3, 300, false, false, "idle"},
			{30, 0.005, 300, false, false, "idle quiet"}}},
		{"between the shares it stays quiet", 300, []stretch{{60, 0, 300, false, false, "busy idle quiet"},
			{300, 0.08, 300, false, false, "quiet"}}},
		{"it works again", 300, []stretch{{60, 0, 300, false, false, "busy idle quiet"}, {4, 0.9, 300, false, false, "quiet busy"},
			{10, 0.9, 300, false, false, "busy"}, {61, 0, 300, false, false, "busy idle quiet"}}},
		{"after a long rest as soon", 300, []stretch{{3600, 0, 300, false, false, "busy idle quiet"}, {4, 0.9, 300, false, false, "quiet busy"}}},
		{"it grows again", 300, []stretch{{60, 0, 300, false, false, "busy idle quiet"}, {2, 0.09, 340, false, false, "quiet busy"}}},
		{"stopped", 300, []stretch{{3, 0.9, 300, false, false, "busy"}, {6, 0, 300, true, false, "busy idle"},
			{60, 0, 300, true, false, "idle quiet"}, {4, 0.9, 310, false, false, "quiet busy"}}},
		{"stopped, and no CPU time is known", 300, []stretch{{6, -1, 300, true, false, "busy"}}},
		{"stopped, and its CPU time is known no more", 300, []stretch{{1, 0, 300, false, false, "busy"}, {6, -1, 300, true, false, "busy idle"}}},
		{"CPU time unknown", 300, []stretch{{200, -1, 300, false, false, "busy"}}},
		{"memory unknown", -1, []stretch{{61, 0, -1, false, false, "busy idle quiet"}, {4, 0.5, -1, false, false, "quiet busy"}}},
		{"it gave way", 300, []stretch{{5, 0, 300, false, false, "busy idle"}, {30, 0.05, 300, false, true, "quiet"},
			{4, 0.5, 300, false, false, "busy"}, {4, 0, 300, false, false, "busy"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s stillness
			now := time.Unix(1000, 0)
			cpu, mb := 0.0, tt.start
			add := func(p pulse) pace { p.at = now; return s.add(p) }
			working := func(mb float64) int64 {
				if mb < 0 {
					return -1
				}
				return int64(mb * (1 << 20))
			}
			first := int64(0)
			if tt.life[0].share < 0 {
				first = -1
			}
			if got := add(pulse{cpu: first, working: working(mb)}); got != paceBusy {
				t.Fatalf("the first pulse is %v", got)
			}
			for i, l := range tt.life {
				if l.rest {
					s.rest()
				}
				var got []string
				step := (l.mb - mb) / float64(l.seconds)
				for range l.seconds {
					now = now.Add(time.Second)
					mb += step
					p := pulse{cpu: -1, working: working(mb), stopped: l.stopped}
					if l.share >= 0 {
						cpu += l.share * 1e6
						p.cpu = int64(cpu)
					}
					if word := add(p).String(); len(got) == 0 || got[len(got)-1] != word {
						got = append(got, word)
					}
				}
				mb = l.mb
				if strings.Join(got, " ") != l.want {
					t.Fatalf("stretch %d %+v: got %v", i, l, got)
				}
			}
		})
	}
}

func TestStillnessOddPulses(t *testing.T) {
	var s stillness
	at := time.Unix(1000, 0)
	s.add(pulse{at: at, cpu: 5e6, working: 1 << 20})
	if got := s.add(pulse{at: at, cpu: 9e6, working: 1 << 30}); got != paceBusy || s.floor != 1<<20 {
		t.Errorf("a second pulse of the same moment: %v, %+v", got, s)
	}
	// A counter that went back is another cgroup's: nothing is known of before.
	s.add(pulse{at: at.Add(4 * time.Second), cpu: 1e6, working: 1 << 20})
	if got := s.add(pulse{at: at.Add(8 * time.Second), cpu: 1e6, working: 1 << 20}); got != paceBusy {
		t.Errorf("4 s after the counter went back: %v", got)
	}
	if got := s.add(pulse{at: at.Add(9 * time.Second), cpu: 1e6, working: 1 << 20}); got != paceIdle {
		t.Errorf("5 s after it: %v", got)
	}
	// A gap in the samples is as good as samples: the counters add up.
	if got := s.add(pulse{at: at.Add(time.Hour), cpu: 1e6, working: 1 << 20}); got != paceQuiet {
		t.Errorf("an hour later: %v", got)
	}
	// The fast clock's pulses are looked at over 3 s all the same.
	cpu := int64(1e6)
	for i := range 40 {
		share := 0.05
		if i%10 == 0 {
			share = 0.3 // 75 ms in one of the 250 ms
		}
		cpu += int64(share * 250e3)
		if got := s.add(pulse{at: at.Add(time.Hour + time.Duration(i+1)*250*time.Millisecond), cpu: cpu, working: 1 << 20}); got != paceQuiet {
			t.Fatalf("pulse %d of a job at 9 %%: %v", i, got)
		}
	}
}
