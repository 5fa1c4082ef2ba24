package explain

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/headroomd/headroomd/governor/journal"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.Local)

func caught(mb float64) *float64 { return &mb }
func yes(b bool) *bool           { return &b }

func TestLine(t *testing.T) {
	tests := []struct {
		name   string
		record journal.Record
		want   string // behind the time
	}{
		{"started", journal.Record{Event: journal.Started, Reason: "enforce: source bpf (the best there is)"}, "started  enforce: source bpf (the best there is)"},
		{
			"captured", journal.Record{Event: journal.Captured, PID: 812, Command: "npm test", Reason: "npm runs a script"},
			"captured npm test (812): caught: npm runs a script",
		},
		{
			"placed", journal.Record{Event: journal.Placed, PID: 812, Command: "npm test", MemoryCapMB: 460, SwapCapMB: 256, TookMS: 61.4, CaughtRSSMB: caught(0.01), Isolated: yes(true)},
			"placed   npm test (812): cap 460 MB + 256 MB swap after 61 ms",
		},
		{
			"placed late", journal.Record{Event: journal.Placed, PID: 812, Command: "npm test", MemoryCapMB: 460, SwapCapMB: -1, CaughtRSSMB: caught(12.34), Late: true},
			"placed   npm test (812): cap 460 MB + any swap, 12.3 MB touched before, late",
		},
		{
			"placed without the controller", journal.Record{Event: journal.Placed, PID: 812, Command: "npm test", MemoryCapMB: 460, Isolated: yes(false)},
			"placed   npm test (812): no cap",
		},
		{"joined", journal.Record{Event: journal.Joined, PID: 9, Command: "cc1", Job: "a1b2"}, "joined   cc1 (9): joined a1b2"},
		{
			"left", journal.Record{Event: journal.Left, PID: 9, Command: "make", Reason: "ssh.service limits IPAddressDeny"},
			"left     make (9): left where it is: ssh.service limits IPAddressDeny",
		},
		{
			"OOM kill", journal.Record{Event: journal.OOMKill, PID: 812, Command: "npm test", MemoryCapMB: 460, OOMKills: 1},
			"oom-kill npm test (812): reached its cap of 460 MB, the kernel killed 1 process in it",
		},
		{
			"OOM kills", journal.Record{Event: journal.OOMKill, PID: 812, Command: "npm test", OOMKills: 2},
			"oom-kill npm test (812): reached its cap, the kernel killed 2 processes in it",
		},
		{
			"ended", journal.Record{Event: journal.Ended, PID: 812, Command: "npm test", MemoryCapMB: 460, PeakMB: 411, AgeS: 83.2, OOMKills: 1, ExitReason: "all its processes are gone"},
			"ended    npm test (812): ended after 83 s, peak 411 of 460 MB, 1 OOM kill: all its processes are gone",
		},
		{"ended, nothing known", journal.Record{Event: journal.Ended, PID: 812}, "ended    pid 812: ended"},
		{"another user's", journal.Record{Event: journal.Placed, PID: 812, Family: "js", MemoryCapMB: 460}, "placed   js (812): cap 460 MB"},
		{
			"held", journal.Record{Event: journal.Held, PID: 9, Command: "make", Behind: "js-1", Position: 2, MissingMB: 310, Reason: "the one slot is taken"},
			"held     make (9): waits as number 2 behind js-1, 310 MB missing: the one slot is taken",
		},
		{
			"admitted", journal.Record{Event: journal.Admitted, PID: 9, Command: "make", WaitedS: 130, MemoryCapMB: 460},
			"admitted make (9): starts after 2 min 10 s, cap 460 MB",
		},
		{"admitted at once", journal.Record{Event: journal.Admitted, PID: 9, Command: "make", MemoryCapMB: 460}, "admitted make (9): starts, cap 460 MB"},
		{"refused", journal.Record{Event: journal.Refused, PID: 9, Command: "make", WaitedS: 300}, "refused  make (9): not started after 5 min 0 s"},
		{"quiet", journal.Record{Event: journal.Quiet, PID: 9, Command: "vite"}, "quiet    vite (9): does nothing, gave its slot back"},
		{"would hold", journal.Record{Event: journal.WouldHold, PID: 9, Command: "make", Behind: "js-1"}, "would-hold make (9): would wait behind js-1"},
		{
			"captured late", journal.Record{Event: journal.CapturedLate, PID: 9, Command: "./a.out", MemoryMB: 520, MemoryCapMB: 42, Reason: "it had grown by 520 MB"},
			"captured-late ./a.out (9): grew to 520 MB, may have 42 MB more: it had grown by 520 MB",
		},
		{
			"stopped", journal.Record{Event: journal.WatchStop, PID: 9, Command: "make", AvailableMB: 80, Reason: "it was the newest heavy job"},
			"watchdog-stop make (9): stopped for the machine's sake, 80 MB available: it was the newest heavy job",
		},
		{"would stop", journal.Record{Event: journal.WouldStop, PID: 9, Command: "make", AvailableMB: 80, Reason: "it would be stopped"}, "would-stop make (9): would be acted on, 80 MB available: it would be stopped"},
		{"alarm", journal.Record{Event: journal.Alarm, AvailableMB: 80, Reason: "nothing to be stopped"}, "alarm    memory alarm, 80 MB available: nothing to be stopped"},
		{"freed", journal.Record{Event: journal.Freed, AvailableMB: 300, Reason: "after 2 s"}, "freed    memory is back, 300 MB available: after 2 s"},
		{"lost", journal.Record{Event: journal.Lost, LostEvents: 1}, "lost     1 event lost"},
		{"gap", journal.Record{Event: journal.Gap, LostEvents: 7, Reason: "disk"}, "gap      7 records missing: disk"},
		{"unknown event", journal.Record{Event: "new", PID: 3, Command: "x", Reason: "y"}, "new      x (3): y"},
		{"long command", journal.Record{Event: journal.Joined, PID: 3, Command: strings.Repeat("ü", 40), Job: "a"}, "joined   " + strings.Repeat("ü", 31) + "… (3): joined a"},
		{"nothing", journal.Record{Event: "x"}, "x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.record.Time = noon
			if got, want := Line(test.record), "01-02 12:00:00 "+test.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestJob(t *testing.T) {
	about := func(event string, second int, r journal.Record) journal.Record {
		r.Time, r.Event, r.Job = noon.Add(time.Duration(second)*time.Second), event, "a1b2"
		r.PID, r.Command, r.Family = 812, "npm test", "js"
		return r
	}
	tests := []struct {
		name    string
		records []journal.Record
		want    []string
	}{
		{"nothing", nil, nil},
		{
			"killed at its cap",
			[]journal.Record{
				about(journal.Captured, 0, journal.Record{Reason: "npm runs a script"}),
				about(journal.Placed, 0, journal.Record{
					Unit: "headroom-js-1.scope", MemoryCapMB: 460, SwapCapMB: 256, TookMS: 61, CaughtRSSMB: caught(1.25),
					Reason: "700 MB available - 240 MB reserve = 460 MB", Notes: []string{"memory.peak is not there"},
				}),
				about(journal.Joined, 1, journal.Record{Moved: 2}),
				about(journal.Joined, 2, journal.Record{}),
				about(journal.OOMKill, 9, journal.Record{MemoryCapMB: 460, OOMKills: 1}),
				about(journal.Ended, 10, journal.Record{AgeS: 9.5, PeakMB: 460, MemoryCapMB: 460, OOMKills: 1}),
			},
			[]string{
				"npm test (pid 812, js) was caught at 12:00:00: npm runs a script.",
				"It was placed in headroom-js-1.scope with a cap of 460 MB and 256 MB of swap 61 ms after it started: 700 MB available - 240 MB reserve = 460 MB.",
				"Before that it had touched 1.2 MB, which count where it was started.",
				"Note: memory.peak is not there",
				"3 more processes joined it and shared its cap.",
				"At 12:00:09 it reached its cap of 460 MB, the kernel killed 1 process in it. Nothing outside the job was touched; who started it sees status 137 (SIGKILL) from what was killed.",
				"It ended at 12:00:10 after 9.5 s, peak 460 of 460 MB, 1 OOM kill.",
			},
		},
		{
			"waited",
			[]journal.Record{
				about(journal.Captured, 0, journal.Record{Reason: "npm runs a script"}),
				about(journal.Held, 0, journal.Record{Behind: "make-1", Reason: "the one slot is taken"}),
				about(journal.Admitted, 130, journal.Record{WaitedS: 130, MemoryCapMB: 460, Reason: "460 MB are free"}),
				about(journal.Quiet, 200, journal.Record{Reason: "no CPU for 60 s"}),
			},
			[]string{
				"npm test (pid 812, js) was caught at 12:00:00: npm runs a script.",
				"From 12:00:00 on it waited behind make-1: the one slot is taken.",
				"It started at 12:02:10 after 2 min 10 s, with a cap of 460 MB: 460 MB are free.",
				"At 12:03:20 it did nothing any more and gave its slot back: no CPU for 60 s.",
			},
		},
		{
			"stopped",
			[]journal.Record{
				about(journal.WatchStop, 9, journal.Record{MemoryMB: 300, AvailableMB: 80, CriticalMB: 96, GraceS: 0.8, Reason: "it was the newest heavy job"}),
				about(journal.Ended, 10, journal.Record{AgeS: 9.5, ExitReason: "stopped by the watchdog"}),
			},
			[]string{
				"At 12:00:09 npm test (pid 812, js) was stopped to keep the machine alive, with the 300 MB that it had: it was the newest heavy job.",
				"80 MB were available; below 96 MB something has to be stopped. Who started it sees status 143 (SIGTERM), or 137 if it did not end within 0.8 s.",
				"It ended at 12:00:10 after 9.5 s: stopped by the watchdog.",
			},
		},
		{
			"captured late",
			[]journal.Record{about(journal.CapturedLate, 9, journal.Record{MemoryMB: 520, MemoryCapMB: 42, Reason: "it had grown by 520 MB"})},
			[]string{"At 12:00:09 npm test (pid 812, js) had grown to 520 MB while memory ran short, and was allowed 42 MB more: it had grown by 520 MB."},
		},
		{
			"left",
			[]journal.Record{about(journal.Left, 0, journal.Record{Reason: "its unit is being stopped"})},
			[]string{"npm test (pid 812, js) was left where it is: its unit is being stopped."},
		},
		{
			"failed",
			[]journal.Record{about(journal.Failed, 3, journal.Record{Reason: "it runs without a cap: no bus"})},
			[]string{"At 12:00:03 something failed: it runs without a cap: no bus."},
		},
		{
			"observed",
			[]journal.Record{about(journal.Observed, 0, journal.Record{MemoryCapMB: 300, SwapCapMB: -1})},
			[]string{"npm test (pid 812, js) was seen at 12:00:00 and not touched; it would have had a cap of 300 MB and unlimited swap."},
		},
		{
			"joined at last",
			[]journal.Record{about(journal.Adopted, 0, journal.Record{}), about(journal.Joined, 1, journal.Record{Moved: 1})},
			[]string{"npm test (pid 812, js) was found running at 12:00:00, with no memory cap.", "1 more process joined it and shared its cap."},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Job(test.records); !slices.Equal(got, test.want) {
				t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(test.want, "\n     "))
			}
		})
	}
}

func TestShorten(t *testing.T) {
	tests := []struct {
		name, text string
		width      int
		want       string
	}{
		{"fits", "npm test", 8, "npm test"},
		{"one too many", "npm tests", 8, "npm tes…"},
		{"letters and not bytes", "üüüü", 4, "üüüü"},
		{"empty", "", 4, ""},
	}
	for _, test := range tests {
		if got := shorten(test.text, test.width); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestPlural(t *testing.T) {
	tests := []struct {
		n    int64
		word string
		want string
	}{
		{0, "event", "0 events"},
		{1, "process", "1 process"},
		{2, "process", "2 processes"},
	}
	for _, test := range tests {
		if got := plural(test.n, test.word); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// A line is read in a terminal: hostile words neither break nor stretch it.
func TestLineIsOneLine(t *testing.T) {
	hostile := strings.Repeat("\x1b[2J\n\u202e", 500)
	r := journal.Record{Time: noon, Event: journal.Left, Command: hostile, Reason: hostile, Family: hostile, PID: 3}
	if got := Line(r); strings.ContainsAny(got, "\n\x1b\u202e") || len(got) > lineBytes {
		t.Errorf("got %q", got)
	}
}

func TestDuration(t *testing.T) {
	for seconds, want := range map[float64]string{0.04: "0.0 s", 9.94: "9.9 s", 61: "61 s", 150: "2 min 30 s", 7260: "2 h 1 min"} {
		if got := duration(seconds); got != want {
			t.Errorf("duration(%v): got %s, want %s", seconds, got, want)
		}
	}
}

func FuzzExplain(f *testing.F) {
	f.Add("placed", "npm \x1b[2J", "a\nb", 812, int64(460))
	f.Add("ended", "\u202e", "\xff", -1, int64(-5))
	f.Fuzz(func(t *testing.T, event, command, reason string, pid int, mb int64) {
		r := journal.Record{Time: noon, Event: event, Command: command, Reason: reason, PID: pid, MemoryCapMB: mb, PeakMB: mb, OOMKills: mb, Notes: []string{reason}}
		for _, text := range append(Job([]journal.Record{r}), Line(r)) {
			if !utf8.ValidString(text) || len(text) > sentenceBytes {
				t.Errorf("not fit to be shown: %q", text)
			}
			for _, c := range text {
				if !unicode.IsPrint(c) {
					t.Errorf("%U in %q", c, text)
				}
			}
		}
	})
}
