package loader

import (
	"slices"
	"testing"
	"time"
)

func TestParseRelease(t *testing.T) {
	for text, want := range map[string]release{
		"6.12.34+rpt-rpi-v8": {6, 12},
		"5.8":                {5, 8},
		"5.10.0-30-amd64":    {5, 10},
		"":                   {},
		"six":                {},
		"6":                  {},
		"-1.2":               {},
	} {
		if got := parseRelease(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if r := kernelRelease(); r.before(3, 0) {
		t.Errorf("this kernel is %v", r)
	}
	for _, tc := range []struct {
		r            release
		major, minor int
		want         bool
	}{
		{release{5, 7}, 5, 8, true}, {release{5, 8}, 5, 8, false}, {release{4, 19}, 5, 8, true}, {release{6, 1}, 5, 8, false}, {release{5, 10}, 5, 8, false},
	} {
		if got := tc.r.before(tc.major, tc.minor); got != tc.want {
			t.Errorf("%v before %d.%d: %v", tc.r, tc.major, tc.minor, got)
		}
	}
}

func TestRoundUp(t *testing.T) {
	for _, tc := range []struct{ size, page, want int }{
		{1, 4096, 4096}, {4096, 4096, 4096}, {4097, 4096, 8192}, {128 << 10, 4096, 128 << 10},
		{128 << 10, 16 << 10, 128 << 10}, {1, 16 << 10, 16 << 10}, {100_000, 4096, 128 << 10}, {0, 4096, 4096},
	} {
		if got := roundUp(tc.size, tc.page); got != tc.want {
			t.Errorf("%d in pages of %d: %d, want %d", tc.size, tc.page, got, tc.want)
		}
	}
}

func TestParseCPUs(t *testing.T) {
	for _, tc := range []struct {
		text  string
		want  []int
		wrong bool
	}{
		{"0\n", []int{0}, false},
		{"0-3\n", []int{0, 1, 2, 3}, false},
		{"0-1,3,6-7\n", []int{0, 1, 3, 6, 7}, false},
		{"", nil, true},
		{"3-1", nil, true},
		{"0-99999", nil, true},
		{"a", nil, true},
		{"-1", nil, true},
	} {
		got, err := parseCPUs(tc.text)
		if !slices.Equal(got, tc.want) || (err != nil) != tc.wrong {
			t.Errorf("%q: %v, %v", tc.text, got, err)
		}
	}
	if cpus, err := onlineCPUs("/sys/devices/system/cpu/online"); err != nil || len(cpus) == 0 {
		t.Errorf("this machine's: %v, %v", cpus, err)
	}
	if _, err := onlineCPUs(t.TempDir() + "/online"); err == nil {
		t.Error("no file, no error")
	}
}

func TestClock(t *testing.T) {
	c := clock{now: time.Unix(1000, 0), ktime: 5e9}
	for ktime, want := range map[uint64]time.Time{
		4e9: time.Unix(999, 0), 5e9: time.Unix(1000, 0), 6e9: time.Unix(1000, 0), 0: time.Unix(1000, 0),
	} {
		if got := c.at(ktime); !got.Equal(want) {
			t.Errorf("at %d: %v, want %v", ktime, got, want)
		}
	}
	if c := readClock(); c.ktime == 0 || time.Since(c.now) > time.Minute {
		t.Errorf("this clock: %+v", c)
	}
}
