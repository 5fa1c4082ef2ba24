package admission

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// start is when the tests begin.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestPeaks(t *testing.T) {
	k := PeakKey{1000, "/srv/app", "npm run build"}
	day := 24 * time.Hour
	tests := []struct {
		name     string
		learn    []int64         // in MB
		at       []time.Duration // from the start; 0 where missing
		now      time.Duration
		wantMB   int64
		wantRuns int
	}{
		{"nothing", nil, nil, 0, -1, 0},
		{"one", []int64{700}, nil, 0, 700, 1},
		{"the largest", []int64{700, 900, 600}, nil, 0, 900, 3},
		{"the last three", []int64{900, 700, 600, 650}, nil, 0, 700, 3},
		{"unknown teaches nothing", []int64{-1, 700, 0}, nil, 0, 700, 1},
		{"absurd is bounded", []int64{1 << 60}, nil, 0, maxMB, 1},
		{"old ones are forgotten", []int64{900, 700}, []time.Duration{0, 50 * day}, 100 * day, 700, 1},
		{"all are forgotten", []int64{900, 700}, nil, 91 * day, -1, 0},
		{"the clock was set back", []int64{900}, []time.Duration{3000 * day}, 0, 900, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var p Peaks
			for i, mb := range test.learn {
				at := start
				if i < len(test.at) {
					at = at.Add(test.at[i])
				}
				p.Learn(k, mb, at)
			}
			mb, runs, ok := p.Peak(k, start.Add(test.now))
			if mb != test.wantMB || runs != test.wantRuns || ok != (test.wantRuns > 0) {
				t.Errorf("got %d MB of %d runs, %v; want %d of %d", mb, runs, ok, test.wantMB, test.wantRuns)
			}
			if _, _, ok := p.Peak(PeakKey{1001, k.Dir, k.Signature}, start); ok {
				t.Error("another user knows it")
			}
		})
	}
}

func TestPeaksAreBounded(t *testing.T) {
	var p Peaks
	key := func(i int) PeakKey { return PeakKey{0, fmt.Sprint("/d", i), "make"} }
	for i := range maxPeaks {
		p.Learn(key(i), 10, start)
	}
	p.Peak(key(0), start) // a look is a use
	p.Learn(key(1000), 10, start.Add(-time.Hour))
	if _, _, ok := p.Peak(key(0), start); !ok || p.Len() != maxPeaks {
		t.Errorf("the one in use is kept: %v; %d keys", ok, p.Len())
	}
	if _, _, ok := p.Peak(key(1), start); ok {
		t.Error("the one that was not used for the longest time is kept")
	}
	for _, k := range []PeakKey{
		{0, "/", ""},
		{0, "/" + strings.Repeat("d", maxDir), "make"},
		{0, "/", strings.Repeat("m", maxSignatureBytes+1)},
		{0, "/\xff", "make"},
	} {
		if p.Learn(k, 10, start); p.of[k] != nil {
			t.Errorf("%v is remembered", k)
		}
	}
}

func TestPeaksFile(t *testing.T) {
	var p Peaks
	for i := range 5 {
		for run := range int64(4) {
			p.Learn(PeakKey{uint32(i), "/d <&>", "make -j"}, 100*int64(i)+run, start.Add(time.Duration(run)*time.Hour))
		}
	}
	p.Peak(PeakKey{0, "/d <&>", "make -j"}, start)
	data, err := json.Marshal(&p)
	if err != nil {
		t.Fatal(err)
	}
	var q Peaks
	if err := json.Unmarshal(data, &q); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(&q)
	if err != nil || string(again) != string(data) {
		t.Errorf("got  %s\nwant %s", again, data)
	}
	if mb, runs, _ := q.Peak(PeakKey{4, "/d <&>", "make -j"}, start); mb != 403 || runs != 3 {
		t.Errorf("got %d MB of %d runs", mb, runs)
	}
}

func TestPeaksFileBroken(t *testing.T) {
	good := `{"uid":1,"dir":"/d","signature":"make","runs":[{"mb":700,"at":1772366400}]}`
	tests := []struct {
		name string
		data string
		want int
	}{
		{"empty", ``, 0},
		{"null", `null`, 0},
		{"zeros after a crash", "\x00\x00\x00\x00", 0},
		{"an object", `{"a":1}`, 0},
		{"good", `[` + good + `]`, 1},
		{"cut off", `[` + good + `,{"uid":2,"dir":"/`, 1},
		{"a wrong type", `[{"uid":"x"},7,null,[],` + good + `]`, 1},
		{"of a later version", `[{"new":{"a":[1]},` + good[1:] + `]`, 1},
		{"no signature", `[{"uid":1,"dir":"/d","runs":[{"mb":700,"at":1}]}]`, 0},
		{"no runs", `[{"uid":1,"dir":"/d","signature":"make"}]`, 0},
		{"absurd runs", `[{"uid":1,"dir":"/d","signature":"make","runs":[{"mb":-7,"at":1},{"mb":7,"at":-1},{"mb":9000000000000,"at":1},{"mb":7,"at":9e18}]}]`, 0},
		{"too large a number", `[{"uid":1,"dir":"/d","signature":"make","runs":[{"mb":1e99,"at":1}]},` + good + `]`, 1},
		{"many", `[` + strings.Repeat(good+",", 5000) + good + `]`, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := Peaks{of: map[PeakKey]*memory{{}: {}}}
			if err := p.UnmarshalJSON([]byte(test.data)); err != nil || p.Len() != test.want {
				t.Errorf("got %d keys, %v; want %d", p.Len(), err, test.want)
			}
		})
	}
}

func FuzzPeaksFile(f *testing.F) {
	f.Add([]byte(`[{"uid":1,"dir":"/d","signature":"make","runs":[{"mb":700,"at":1772366400}]}]`))
	f.Add([]byte(`[{"uid":1,"dir":"/d","signature":"make","runs":[{"mb":700`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p Peaks
		if err := p.UnmarshalJSON(data); err != nil {
			t.Fatal(err)
		}
		out, err := p.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var q Peaks
		if q.UnmarshalJSON(out); q.Len() != p.Len() || p.Len() > maxPeaks {
			t.Fatalf("%d keys, %d after writing", p.Len(), q.Len())
		}
		for k := range q.of {
			if mb, runs, ok := q.Peak(k, start); ok && (mb <= 0 || mb > maxMB || runs > maxRuns) {
				t.Fatalf("%v: %d MB of %d runs", k, mb, runs)
			}
		}
	})
}
