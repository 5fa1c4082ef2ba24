package explain

import (
	"slices"
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor/journal"
)

func TestLedger(t *testing.T) {
	at := func(minute int, event string, r journal.Record) journal.Record {
		r.Time, r.Event = noon.Add(time.Duration(minute)*time.Minute), event
		return r
	}
	tests := []struct {
		name    string
		records []journal.Record
		want    []string
	}{
		{"nothing", nil, []string{"nothing was recorded in this time"}},
		{"nothing heavy", []journal.Record{at(0, journal.Started, journal.Record{})}, []string{"from 01-02 12:00 to 01-02 12:00", "no heavy command was started"}},
		{
			"a day",
			[]journal.Record{
				at(0, journal.Captured, journal.Record{Family: "js"}), at(0, journal.Placed, journal.Record{}), at(0, journal.Admitted, journal.Record{}),
				at(1, journal.Captured, journal.Record{Family: "make"}), at(1, journal.Held, journal.Record{}),
				at(2, journal.Captured, journal.Record{Family: "js"}), at(2, journal.Held, journal.Record{}),
				at(3, journal.Admitted, journal.Record{WaitedS: 130}), at(4, journal.Refused, journal.Record{WaitedS: 300}),
				at(5, journal.OOMKill, journal.Record{OOMKills: 1}), at(6, journal.Ended, journal.Record{OOMKills: 2}),
			},
			[]string{
				"from 01-02 12:00 to 01-02 12:06",
				"     3  heavy commands were caught: js 2, make 1",
				"     1  were put in a scope of their own",
				"     2  waited, 7 min 10 s in all, the longest 5 min 0 s",
				"     1  were refused after their wait",
				"     2  processes were killed by the kernel at their job's cap",
			},
		},
		{
			"only watched",
			[]journal.Record{at(0, journal.Observed, journal.Record{Family: "js"}), at(1, journal.WouldHold, journal.Record{})},
			[]string{
				"from 01-02 12:00 to 01-02 12:01",
				"     1  would have been caught (only watched): js 1",
				"     1  would have had to wait (only watched)",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var l Ledger
			for _, r := range tt.records {
				l.Add(r)
			}
			if got := l.Lines(); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}
