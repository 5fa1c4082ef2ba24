package loader

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/headroomd/headroomd/loader/proc"
)

// fakeSource is one that has a name only.
type fakeSource struct{ name string }

func (f fakeSource) Name() string              { return f.name }
func (fakeSource) FD() int                     { return -1 }
func (fakeSource) Read(func(*proc.Exec)) error { return nil }
func (fakeSource) Counters() Counters          { return Counters{} }
func (fakeSource) Close() error                { return nil }
func works(o Options) (Source, error)          { return fakeSource{"works"}, nil }
func lacks(o Options) (Source, error)          { return nil, &missing{what: "needs root"} }
func faulty(o Options) (Source, error)         { return nil, errors.New("the map is full\nand a log") }
func rank(b, p, q func(Options) (Source, error)) []opener {
	return []opener{{"bpf", "the best", b}, {"perf", "perf was wanted", p}, {"poll", "poll was wanted", q}}
}

func TestOpen(t *testing.T) {
	for _, tc := range []struct {
		name    string
		ranking []opener
		want    string
		chosen  string
		why     string
		tried   []string
		wrong   string // of the error
	}{
		{"the best", rank(works, works, works), "auto", "bpf", "the best", []string{"bpf"}, ""},
		{"nothing said is auto", rank(works, works, works), "", "bpf", "the best", []string{"bpf"}, ""},
		{"the next", rank(lacks, works, works), "auto", "perf", "not bpf: needs root", []string{"bpf", "perf"}, ""},
		{"a fault leads on, too", rank(faulty, lacks, works), "auto", "poll", "not bpf: the map is full; not perf: needs root", []string{"bpf", "perf", "poll"}, ""},
		{"none", rank(faulty, lacks, lacks), "auto", "", "", []string{"bpf", "perf", "poll"}, "poll: needs root"},
		{"forced", rank(works, works, works), "poll", "poll", "poll was wanted", []string{"poll"}, ""},
		{"forced, and it does not work", rank(works, lacks, works), "perf", "", "", []string{"perf"}, "perf: needs root"},
		{"no such source", rank(works, works, works), "ebpf", "", "", nil, `"ebpf"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, c, err := openFrom(tc.ranking, Options{Want: tc.want})
			check(t, s, c, err, tc.chosen, tc.why, tc.tried, tc.wrong)
		})
	}
}

func TestOpenAfter(t *testing.T) {
	cause := errors.New("the ring is damaged")
	for _, tc := range []struct {
		name    string
		ranking []opener
		want    string
		ended   string
		chosen  string
		why     string
		tried   []string
		wrong   string
	}{
		{"the next", rank(works, works, works), "auto", "bpf", "perf", "not bpf: ended: the ring is damaged", []string{"bpf", "perf"}, ""},
		{"the last", rank(works, lacks, works), "auto", "bpf", "poll", "not bpf: ended: the ring is damaged; not perf: needs root", []string{"bpf", "perf", "poll"}, ""},
		{"though another was forced", rank(works, works, works), "bpf", "bpf", "perf", "not bpf: ended: the ring is damaged", []string{"bpf", "perf"}, ""},
		{"poll again", rank(works, works, works), "auto", "poll", "poll", "not poll: ended: the ring is damaged", []string{"poll", "poll"}, ""},
		{"nothing left", rank(works, works, faulty), "auto", "perf", "", "", []string{"perf", "poll"}, "the map is full"},
		{"no such source", rank(works, works, works), "auto", "x", "", "", nil, `"x"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, c, err := openAfterFrom(tc.ranking, Options{Want: tc.want}, tc.ended, cause)
			check(t, s, c, err, tc.chosen, tc.why, tc.tried, tc.wrong)
			if len(c.Tried) > 0 && !errors.Is(c.Tried[0].Err, cause) {
				t.Errorf("the cause is not kept: %v", c.Tried[0].Err)
			}
		})
	}
	if _, c, err := openAfterFrom(rank(works, works, works), Options{}, "bpf", nil); err != nil || c.Tried[0].Err == nil {
		t.Errorf("without a cause: %+v, %v", c, err)
	}
}

func check(t *testing.T, s Source, c Choice, err error, chosen, why string, tried []string, wrong string) {
	t.Helper()
	if wrong != "" {
		if err == nil || !strings.Contains(err.Error(), wrong) || s != nil {
			t.Errorf("source %v, error %v; want one with %q", s, err, wrong)
		}
	} else if err != nil || s == nil {
		t.Fatalf("source %v, error %v", s, err)
	}
	if c.Name != chosen || c.Why != why {
		t.Errorf("chose %q because %q; want %q because %q", c.Name, c.Why, chosen, why)
	}
	var names []string
	for i, a := range c.Tried {
		names = append(names, a.Name)
		if i < len(c.Tried)-1 && a.Err == nil {
			t.Errorf("%s worked, and another was tried", a.Name)
		}
	}
	if !slices.Equal(names, tried) {
		t.Errorf("tried %v, want %v", names, tried)
	}
}

func TestMissing(t *testing.T) {
	cause := errors.New("EPERM")
	err := error(&missing{"needs root", cause})
	if !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, cause) || err.Error() != "needs root (EPERM)" {
		t.Errorf("%v", err)
	}
	_, _, err = openFrom(rank(lacks, lacks, lacks), Options{Want: "bpf"})
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a forced source that is missing is not ErrUnsupported: %v", err)
	}
}
