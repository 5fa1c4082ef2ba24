//go:build linux

package control

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/journal"
)

func TestSnapshotView(t *testing.T) {
	s := governor.Snapshot{
		Jobs:    []governor.JobStatus{secretJob("mine", 1000), secretJob("theirs", 1001)},
		Queue:   []governor.JobStatus{secretJob("theirs", 1001)},
		Recent:  []governor.JobStatus{secretJob("theirs", 1001)},
		Largest: []governor.ProcessStatus{{PID: 1, UID: 1000, Command: "secret mine"}, {PID: 2, UID: 1001, Command: "secret theirs", RSSMB: 5}},
	}
	tests := []struct {
		name string
		view view
		want int // how many secrets are seen
	}{
		{"root", view{all: true}, 4*6 + 2},
		{"user", view{uid: 1000}, 6 + 1},
		{"stranger", view{uid: 5}, 0},
		{"not known", view{uid: ^uint32(0)}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := test.view.snapshot(s)
			text, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), "secret"); n != test.want {
				t.Errorf("got %d secrets, want %d: %s", n, test.want, text)
			}
			if j := got.Jobs[1]; j.PID != 42 || j.Family != "js" || j.MemoryMB != 7 || j.UID != 1001 || j.Since.IsZero() {
				t.Errorf("too little is shown: %+v", j)
			}
			if got.Largest[1].RSSMB != 5 {
				t.Errorf("too little is shown: %+v", got.Largest[1])
			}
		})
	}
	if s.Jobs[1].Command == "" || s.Largest[1].Command == "" {
		t.Error("the governor's own copy was changed")
	}
}

func secretJob(id string, uid uint32) governor.JobStatus {
	return governor.JobStatus{
		ID: id, PID: 42, UID: uid, Family: "js", MemoryMB: 7, Since: time.Now(),
		Command: "secret", Cgroup: "secret", Unit: "secret", Note: "secret", Rule: "secret", Lightened: []string{"secret"},
	}
}

func TestRecordView(t *testing.T) {
	uid := func(n uint32) *uint32 { return &n }
	full := func(event string, uid *uint32) journal.Record {
		return journal.Record{
			Event: event, UID: uid, PID: 42, Job: "a", Family: "js", PeakMB: 7,
			Command: "secret", Rule: "secret", Unit: "secret", Origin: "secret", Reason: "secret",
			ExitReason: "secret", Source: "secret", Notes: []string{"secret"},
		}
	}
	own := journal.Record{Event: journal.Source, Source: "bpf", Reason: "the best there is"}
	tests := []struct {
		name   string
		view   view
		record journal.Record
		whole  bool
	}{
		{"root sees all", view{all: true}, full(journal.Ended, uid(1001)), true},
		{"one's own", view{uid: 1000}, full(journal.Ended, uid(1000)), true},
		{"another's", view{uid: 1000}, full(journal.Ended, uid(1001)), false},
		{"root's", view{uid: 1000}, full(journal.Ended, uid(0)), false},
		{"of nobody known", view{uid: 1000}, full(journal.Ended, nil), false},
		{"of nobody known, without a pid", view{uid: 1000}, journal.Record{Event: journal.Left, Reason: "secret"}, false},
		{"the governor's own", view{uid: 1000}, own, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := test.view.record(test.record)
			if test.whole {
				if !reflect.DeepEqual(got, test.record) {
					t.Errorf("got %+v\nwant %+v", got, test.record)
				}
				return
			}
			text, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "secret") {
				t.Errorf("secrets are shown: %s", text)
			}
			if got.Event != test.record.Event || got.PID != test.record.PID || got.PeakMB != test.record.PeakMB {
				t.Errorf("too little is shown: %s", text)
			}
		})
	}
}
