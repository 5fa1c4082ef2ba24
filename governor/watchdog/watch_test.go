package watchdog

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

const mb = 1 << 20

// lines are those of a machine with 1 GB.
var lines = Lines{ReserveMB: 256, CriticalMB: 96}

// trace is a machine whose memory is used by the clock: what is available, and
// what is free of swap, after so long.
type trace struct {
	total     int64
	swapTotal int64
	at        func(t time.Duration) (available, swapFree int64)
	full      func(t time.Duration) float64 // share of time standing still; nil: no PSI
}

// run reads the trace as the governor would, at each LookAway, and returns the
// first alarm of each kind.
func (tr trace) run(t *testing.T, w *Watch, until time.Duration) (act, kill time.Duration, readings int) {
	t.Helper()
	act, kill = -1, -1
	start := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	var stood float64
	for at, last := time.Duration(0), time.Duration(0); at <= until; readings++ {
		available, swap := tr.at(at)
		r := Reading{MemTotal: tr.total, MemAvailable: available, SwapTotal: tr.swapTotal, SwapFree: swap}
		if tr.full != nil {
			stood += tr.full(at) * float64((at - last).Microseconds())
			r.PSI = &Pressure{Full: Stall{Total: uint64(stood)}}
		}
		j := w.See(r, lines, start.Add(at))
		if j.LookAway < leastAway || j.LookAway > mostAway {
			t.Fatalf("after %v it looks away for %v", at, j.LookAway)
		}
		if j.Why == "" {
			t.Fatalf("after %v it gives no reason", at)
		}
		if j.Alarm == AlarmAct && act < 0 {
			act = at
		}
		if j.Alarm == AlarmKill && kill < 0 {
			kill = at
		}
		last, at = at, at+j.LookAway
	}
	return act, kill, readings
}

// ramp uses memory at a rate in MB/s from 700 MB on, to the last page.
func ramp(rate float64) func(time.Duration) (int64, int64) {
	return func(t time.Duration) (int64, int64) {
		return int64(max(700-rate*t.Seconds(), 5) * mb), 0
	}
}

func TestRamps(t *testing.T) {
	for _, rate := range []float64{10, 100, 250, 500} {
		critical := time.Duration((700 - 96) / rate * float64(time.Second))
		over := time.Duration((700 - 5) / rate * float64(time.Second))
		act, kill, n := trace{total: 1024 * mb, at: ramp(rate)}.run(t, new(Watch), over)
		t.Logf("%.0f MB/s: act %v before the critical line, kill %v before the last page, %d readings", rate, critical-act, over-kill, n)
		if act < 0 || act > critical {
			t.Errorf("%.0f MB/s: to act after %v, the critical line is reached after %v", rate, act, critical)
		}
		if critical-act > 2*actBefore {
			t.Errorf("%.0f MB/s: to act %v before the critical line, want %v at most", rate, critical-act, 2*actBefore)
		}
		if kill < critical || kill > over {
			t.Errorf("%.0f MB/s: to kill after %v, between %v and %v", rate, kill, critical, over)
		}
	}
}

// TestFastest is a machine that fills faster than anything that was seen: one
// alarm at least comes while there is memory left.
func TestFastest(t *testing.T) {
	over := seconds(695. / 1024)
	act, kill, _ := trace{total: 1024 * mb, at: ramp(1024)}.run(t, new(Watch), over)
	if act < 0 && kill < 0 {
		t.Errorf("no alarm in %v", over)
	}
}

func TestHarmless(t *testing.T) {
	seed := rand.New(rand.NewPCG(1, 2))
	tests := []struct {
		name  string
		trace trace
	}{
		{"idle", trace{total: 1024 * mb, at: func(time.Duration) (int64, int64) { return 700 * mb, 0 }}},
		{"page cache comes and goes", trace{total: 1024 * mb, at: func(t time.Duration) (int64, int64) {
			return 600*mb - int64(t.Seconds()*200*mb)%(250*mb), 0
		}}},
		{"a job takes what it may, and stops", trace{total: 1024 * mb, at: func(t time.Duration) (int64, int64) {
			return max(700*mb-int64(t.Seconds()*400*mb), 262*mb), 0
		}}},
		{"in the reserve and level", trace{total: 1024 * mb, at: func(time.Duration) (int64, int64) {
			return 130*mb + seed.Int64N(8*mb), 0
		}}},
		{"slowly into the reserve", trace{total: 1024 * mb, at: func(t time.Duration) (int64, int64) {
			return 300*mb - int64(t.Seconds()*2*mb), 0
		}}},
		{"a dip that is over at once", trace{total: 1024 * mb, at: func(t time.Duration) (int64, int64) {
			if t > 5*time.Second && t < 5*time.Second+leastAway/2 {
				return 60 * mb, 0
			}
			return 150 * mb, 0
		}}},
		{"it swaps, and goes on", trace{total: 1024 * mb, swapTotal: 768 * mb, at: func(t time.Duration) (int64, int64) {
			return 80 * mb, 600*mb - int64(t.Seconds()*3*mb)
		}, full: func(time.Duration) float64 { return 0.05 }}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			act, kill, n := tt.trace.run(t, new(Watch), time.Minute)
			if act >= 0 || kill >= 0 {
				t.Errorf("to act after %v, to kill after %v, want neither", act, kill)
			}
			t.Logf("%d readings in a minute", n)
		})
	}
}

func TestSlowDeath(t *testing.T) {
	tests := []struct {
		name  string
		trace trace
		kill  bool // or act alone
	}{
		{"swap runs out", trace{total: 1024 * mb, swapTotal: 512 * mb, at: func(t time.Duration) (int64, int64) {
			return 70 * mb, max(500*mb-int64(t.Seconds()*20*mb), 0)
		}, full: func(time.Duration) float64 { return 0.1 }}, true},
		{"it does nothing but swap", trace{total: 1024 * mb, swapTotal: 2048 * mb, at: func(time.Duration) (int64, int64) {
			return 70 * mb, 1900 * mb
		}, full: func(t time.Duration) float64 { return min(t.Seconds()/10, 0.8) }}, true},
		{"below the line, no PSI, no swap", trace{total: 1024 * mb, at: func(time.Duration) (int64, int64) { return 90 * mb, 0 }}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			act, kill, _ := tt.trace.run(t, new(Watch), time.Minute)
			if kill < 0 {
				t.Errorf("to act after %v, to kill after %v, want a kill", act, kill)
			}
		})
	}
}

// TestZram: what goes to zram stays in memory, compressed.
func TestZram(t *testing.T) {
	const free = 400 * mb
	tests := []struct {
		name string
		r    Reading
		want int64 // MB
	}{
		{"none", Reading{}, 0},
		{"a disk", Reading{SwapTotal: 500 * mb, SwapFree: free}, 350},
		{"zram that holds nothing yet", Reading{SwapTotal: 400 * mb, SwapFree: free, Zram: Zram{Total: 400 * mb}}, 240},
		{"zram at 2:1", Reading{SwapTotal: 500 * mb, SwapFree: free, Zram: Zram{Total: 500 * mb, Stored: 100 * mb, Physical: 50 * mb}}, 175},
		{"zram that does not compress", Reading{SwapTotal: 500 * mb, SwapFree: free, Zram: Zram{Total: 500 * mb, Stored: 100 * mb, Physical: 110 * mb}}, 0},
		{"full", Reading{SwapTotal: 500 * mb, SwapFree: 20 * mb}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.r.swapRoom() / mb; got != tt.want {
				t.Errorf("got %d MB of room, want %d", got, tt.want)
			}
		})
	}
}

func TestStopping(t *testing.T) {
	w, at := new(Watch), time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	see := func(available int64) Judgement {
		at = at.Add(100 * time.Millisecond)
		return w.See(Reading{MemTotal: 1024 * mb, MemAvailable: available * mb}, lines, at)
	}
	for available := int64(400); available > 180; available -= 20 {
		see(available)
	}
	if j := see(170); j.Alarm != AlarmAct {
		t.Fatalf("falling by 200 MB/s at 170 MB: %v (%s)", j.Alarm, j.Why)
	}
	w.Stopping(200*mb, at)
	if j := see(150); j.Alarm != AlarmNone {
		t.Errorf("while something is being stopped: %v, want none above the critical line", j.Alarm)
	}
	see(90)
	if j := see(85); j.Alarm != AlarmKill || j.Grace >= time.Second {
		t.Errorf("below the critical line: %v with %v of grace, want kill with less than 1 s", j.Alarm, j.Grace)
	}
	w.Freed()
	if j := see(400); j.Alarm != AlarmNone || !math.IsNaN(j.Slope) {
		t.Errorf("after its memory is back: %v, slope %v; want none, and no trend yet", j.Alarm, j.Slope)
	}
}

// TestGrace: the less there is left, the less time anybody has.
func TestGrace(t *testing.T) {
	w, at := new(Watch), time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	last := time.Duration(math.MaxInt64)
	for available := int64(300); available > 5; available -= 5 {
		at = at.Add(20 * time.Millisecond)
		j := w.See(Reading{MemTotal: 1024 * mb, MemAvailable: available * mb}, lines, at)
		if available < 290 && (j.Grace > last || j.Grace < 0) {
			t.Fatalf("%v of grace at %d MB, %v before", j.Grace, available, last)
		}
		last = j.Grace
	}
	if last > 50*time.Millisecond {
		t.Errorf("%v of grace with nothing left", last)
	}
}

func TestProtected(t *testing.T) {
	w, at := new(Watch), time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	see := func(stood uint64) Judgement {
		at = at.Add(time.Second)
		w.Protected("ssh.service", &Pressure{Full: Stall{Total: stood}}, at)
		return w.See(Reading{MemTotal: 1024 * mb, MemAvailable: 200 * mb}, lines, at)
	}
	see(0)
	see(0)
	if j := see(50_000); j.Hurt != "" || j.Alarm != AlarmNone {
		t.Errorf("5 %% of a second: %q, %v", j.Hurt, j.Alarm)
	}
	see(850_000)
	j := see(1_650_000)
	if j.Hurt != "ssh.service" || j.Alarm != AlarmAct || !strings.Contains(j.Why, "ssh.service") {
		t.Errorf("80 %%: %q, %v (%s); want ssh.service and act", j.Hurt, j.Alarm, j.Why)
	}
	w.Protected("ssh.service", nil, at)
	if j := w.See(Reading{MemTotal: 1024 * mb, MemAvailable: 200 * mb}, lines, at.Add(time.Second)); j.Hurt != "" {
		t.Errorf("forgotten, and still %q", j.Hurt)
	}
}

func TestUnknown(t *testing.T) {
	j := new(Watch).See(Reading{MemTotal: mb, MemAvailable: Unknown}, lines, time.Now())
	if j.Level != NotKnown || j.Alarm != AlarmNone || j.Why == "" {
		t.Errorf("got %+v", j)
	}
}

// FuzzWatch: whatever a machine tells, the times stay in their bounds and no
// alarm is raised while more than the reserve is available.
func FuzzWatch(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		r := rand.New(rand.NewPCG(a, b))
		w, at := new(Watch), time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
		for range 200 {
			at = at.Add(time.Duration(r.Int64N(int64(2 * time.Second))))
			reading := Reading{MemTotal: 1024 * mb, MemAvailable: r.Int64N(1024*mb) - 1, SwapTotal: r.Int64N(512 * mb)}
			reading.SwapFree = r.Int64N(reading.SwapTotal + 1)
			if r.IntN(2) == 0 {
				reading.PSI = &Pressure{Full: Stall{Total: r.Uint64N(1e9)}}
			}
			if r.IntN(20) == 0 {
				w.Stopping(r.Int64N(512*mb), at)
			}
			j := w.See(reading, lines, at)
			if j.LookAway < leastAway || j.LookAway > mostAway || j.Grace < 0 || j.Grace > mostGrace {
				t.Fatalf("away %v, grace %v", j.LookAway, j.Grace)
			}
			if j.Alarm != AlarmNone && MB(reading.MemAvailable) >= lines.ReserveMB {
				t.Fatalf("%v with %d MB available", j.Alarm, MB(reading.MemAvailable))
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	r, err := NewReader("/")
	if err != nil {
		b.Fatal(err)
	}
	w := new(Watch)
	b.ReportAllocs()
	for b.Loop() {
		reading, err := r.Read()
		if err != nil {
			b.Fatal(err)
		}
		w.See(reading, lines, time.Now())
	}
}
