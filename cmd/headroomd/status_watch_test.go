package main

import (
	"strings"
	"testing"

	"github.com/headroomd/headroomd/governor"
)

func TestPrintWatch(t *testing.T) {
	for _, tt := range []struct {
		name string
		s    governor.WatchStatus
		want string
	}{
		{"an older governor's", governor.WatchStatus{}, ""},
		{"all is well", governor.WatchStatus{On: true, Level: "calm", Alarm: "none"}, ""},
		{"off", governor.WatchStatus{Level: "unknown", Alarm: "none"}, "no (watch = false)"},
		{"something was done", governor.WatchStatus{On: true, Level: "calm", Alarm: "none", Counts: governor.WatchCounts{Stopped: 2, Captured: 1}},
			"2 stopped for want of memory; 1 held to what it had"},
		{"alarm", governor.WatchStatus{On: true, Level: "critical", Alarm: "kill", Why: "80 MB of 960 MB are available", Victim: "make-1"},
			"ALARM: 80 MB of 960 MB are available; make-1 is being stopped"},
	} {
		var b strings.Builder
		printWatch(&b, tt.s)
		if got := b.String(); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
