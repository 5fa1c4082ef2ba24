package governor

import (
	"fmt"
	"testing"
	"time"
)

func TestTold(t *testing.T) {
	begin := time.Unix(1000, 0)
	tests := []struct {
		name string
		said []time.Duration // of the same words
		want []bool
	}{
		{"once", []time.Duration{0}, []bool{true}},
		{"again at once", []time.Duration{0, 0}, []bool{true, false}},
		{"just before it is forgotten", []time.Duration{0, toldFor - 1}, []bool{true, false}},
		{"when it is forgotten", []time.Duration{0, toldFor}, []bool{true, true}},
		{"a stream is told once a period", []time.Duration{0, toldFor / 2, toldFor, toldFor + toldFor/2}, []bool{true, false, true, false}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			told := newTold()
			for i, at := range test.said {
				if got := told.news("why", begin.Add(at)); got != test.want[i] {
					t.Errorf("at %v: %v", at, got)
				}
				if !told.news(fmt.Sprint("other ", i), begin.Add(at)) {
					t.Error("other words are no news")
				}
			}
		})
	}
}

func TestToldIsBounded(t *testing.T) {
	told, now := newTold(), time.Unix(1000, 0)
	for i := range 10 * toldMax {
		told.news(fmt.Sprint(i), now)
		if len(told.last) > toldMax {
			t.Fatalf("%d are remembered", len(told.last))
		}
	}
}

func TestToldForgets(t *testing.T) {
	told, now := newTold(), time.Unix(1000, 0)
	told.news("old", now)
	told.news("new", now.Add(toldFor-time.Second))
	told.forget(now.Add(toldFor))
	if _, ok := told.last["new"]; len(told.last) != 1 || !ok {
		t.Errorf("remembered: %v", told.last)
	}
}
