package note

import (
	"strings"
	"testing"
)

func TestTextsOfAnEnd(t *testing.T) {
	tests := []struct{ name, got, want string }{
		{"the kernel", OverCapText(Over{Program: "/usr/bin/npm", Killed: "node", CapMB: 460, PeakMB: 463, Remedy: "Run one worker."}),
			"npm went over its memory cap of 460 MB (peak 463 MB): the kernel killed its largest process (node). Run one worker."},
		{"a soft cap", OverCapText(Over{Program: "npm", Killed: "node", CapMB: 460, PeakMB: 480, Soft: true, Remedy: "Run one worker."}),
			"npm went over its memory cap of 460 MB (peak 480 MB): headroomd killed its largest process (node). Run one worker."},
		{"what died is not known, no remedy", OverCapText(Over{Program: "a.out", CapMB: 460, PeakMB: 460}),
			"a.out went over its memory cap of 460 MB: the kernel killed its largest process. Try fewer workers, or a smaller piece of it at a time."},
		{"nothing is known", OverCapText(Over{CapMB: -1, PeakMB: -1, Remedy: "x"}),
			"a command went over its memory cap: the kernel killed its largest process. x"},
		{"what died has a hostile name", OverCapText(Over{Program: "npm", Killed: "\x1b[2J" + strings.Repeat("x", 30), Remedy: "x"}),
			`npm went over its memory cap: the kernel killed its largest process (\x1b[2Jxxxxxxxxxxxxxx...). x`},
		{"stopped", StoppedText(Stop{Program: "npm", AvailableMB: 62, Why: "it was the newest heavy job", Job: "npm-3"}),
			"npm was stopped: only 62 MB of memory were left, and it was the newest heavy job. Start it again when more is free; headroomd why npm-3 tells more"},
		{"stopped, memory unknown", StoppedText(Stop{Program: "npm", AvailableMB: -1, Job: "npm-3"}),
			"npm was stopped: the machine ran out of memory. Start it again when more is free; headroomd why npm-3 tells more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("got  %q\nwant %q", tt.got, tt.want)
			}
		})
	}
}

// What to try is the end of the line: names of any length must not cut it off.
func TestTheRemedyIsShownWhole(t *testing.T) {
	remedy := strings.Repeat("r", 110) + "."
	text := OverCapText(Over{Program: strings.Repeat("p", 99), Killed: strings.Repeat("k", 99), CapMB: 99999, PeakMB: 99999, Soft: true, Remedy: remedy})
	if line := (Note{Text: text}).line(); !strings.HasSuffix(line, remedy) {
		t.Errorf("%d bytes: %q", len(line), line)
	}
}
