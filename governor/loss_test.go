package governor

import (
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor/journal"
)

// lossTurn is a moment between two ticks of the clock.
const lossTurn = turn + turn/10

func TestLoss(t *testing.T) {
	tests := []struct {
		name string
		do   func(w *world)
		want []uint64 // lost events of each record
	}{
		{"nothing", func(w *world) { w.after(5 * turn) }, nil},
		{"once", func(w *world) { w.sight.lose(3); w.after(3 * turn) }, []uint64{3}},
		{"twice", func(w *world) { w.sight.lose(3); w.after(lossTurn); w.sight.lose(2) }, []uint64{3, 2}},
		{"another source that lost nothing", func(w *world) {
			w.sight.lose(3)
			w.after(lossTurn)
			w.sight.with(func(s *SourceStatus) { *s = SourceStatus{Name: "poll"} })
		}, []uint64{3}},
		{"another source that lost some", func(w *world) {
			w.sight.lose(3)
			w.after(lossTurn)
			w.sight.with(func(s *SourceStatus) { *s = SourceStatus{Name: "poll", Lost: 1} })
		}, []uint64{3, 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, nil, func(w *world) {
				w.after(turn / 10)
				test.do(w)
				w.after(lossTurn)
				got := w.ledger.of(journal.Lost)
				if len(got) != len(test.want) {
					t.Fatalf("%d records, want %d", len(got), len(test.want))
				}
				for i, r := range got {
					if r.LostEvents != test.want[i] || r.Reason == "" {
						t.Errorf("record %d: %+v, want %d", i, r, test.want[i])
					}
				}
				if n := len(w.sight.scans()); n != 1+len(test.want) {
					t.Errorf("%d scans, want one at the start and one a loss", n)
				}
			})
		})
	}
}

func TestLossesBeforeTheStartAreNotTold(t *testing.T) {
	inWorld(t, func(o *Options) { o.Sight.(*fakeSight).lose(7) }, func(w *world) {
		w.after(3 * lossTurn)
		w.wantEvents("")
	})
}

// TestScanBegins checks from when scans look: 30 s before the start, and one
// second before the turn after which the loss happened. Start times are of the
// kernel's clock, which no bubble fakes.
func TestScanBegins(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		now := TicksNow()
		w.sight.lose(1)
		w.after(lossTurn)
		got := w.sight.scans()
		if len(got) != 2 {
			t.Fatalf("scans from %v", got)
		}
		for i, back := range []uint64{30 * clockTicks, clockTicks} {
			want := now - min(now, back)
			if got[i] > want || want-got[i] > 10*clockTicks {
				t.Errorf("scan %d from %d, want it at %d or a little before", i, got[i], want)
			}
		}
	})
}

func TestTicksNow(t *testing.T) {
	a := TicksNow()
	time.Sleep(20 * time.Millisecond)
	if b := TicksNow(); a == 0 || b <= a || b > a+10*clockTicks {
		t.Errorf("%d, 20 ms later %d", a, b)
	}
}

func TestOverflow(t *testing.T) {
	inWorld(t, func(o *Options) { o.Config.Mode = ModeOff }, func(w *world) {
		w.after(turn / 10)
		w.spawn(200, "make")
		// The loop gets no turn while the test itself does not wait, but with
		// two processors it may: it is kept busy answering.
		busy, free := make(chan struct{}), make(chan struct{})
		go func() { w.gov.asks <- func() { close(busy); <-free } }()
		<-busy
		const over = 7
		for range maxFound + over {
			w.tracer(200, false)
		}
		released := 0
		for _, c := range w.catches {
			released += c.releases()
		}
		if released != over {
			t.Errorf("%d were let go at once, want %d", released, over)
		}
		close(free)
		w.after(lossTurn)
		got := w.ledger.of(journal.Lost)
		if len(got) != 1 || got[0].LostEvents != over {
			t.Errorf("got %+v, want %d lost", got, over)
		}
		s := w.snapshot()
		if s.Self.LostEvents != over || s.Source.Scans != 2 || len(w.sight.scans()) != 2 {
			t.Errorf("lost %d, scans %d, ordered %d", s.Self.LostEvents, s.Source.Scans, len(w.sight.scans()))
		}
	})
}
