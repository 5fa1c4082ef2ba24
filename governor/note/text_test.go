package note

import (
	"strings"
	"testing"
	"time"
)

func TestTexts(t *testing.T) {
	holder := Holder{Name: "/usr/bin/make", PID: 812, Age: 130 * time.Second}
	tests := []struct{ name, got, want string }{
		{"slot and memory", WaitingText(Wait{Program: "npm", Behind: holder, MissingMB: 310}),
			"npm waits for a free slot: make (pid 812, 2m10s) holds it; 310 MB more memory is needed"},
		{"slot", WaitingText(Wait{Program: "/usr/bin/npm", Behind: holder, AtMost: 5 * time.Minute}),
			"npm waits for a free slot: make (pid 812, 2m10s) holds it; it starts by itself within 5m"},
		{"memory", WaitingText(Wait{Program: "npm", MissingMB: 310}), "npm waits for 310 MB more memory"},
		{"turn", WaitingText(Wait{Program: "npm", Ahead: 1}), "npm waits for its turn; 1 other is before it"},
		{"a long queue", WaitingText(Wait{Program: "npm", Ahead: 3, Behind: Holder{Name: "npm-test"}}),
			"npm waits for a free slot: npm-test holds it; 3 others are before it"},
		{"no name", WaitingText(Wait{}), "a command waits for its turn"},
		{"start", StartedText("npm", 72*time.Second, 460), "npm starts after 1m12s, with up to 460 MB of memory"},
		{"start without a cap", StartedText("npm", 2*time.Hour, -1), "npm starts after 2h"},
		{"time is over", TimedOutText(Wait{Program: "npm", Behind: holder}, time.Minute, 200),
			"npm starts after 1m, with up to 200 MB of memory, though it still lacks a free slot: make (pid 812, 2m10s) holds it"},
		{"refused", RefusedText(Wait{Program: "npm", Behind: holder}, 5*time.Minute),
			"npm was not started: it waited 5m for a free slot: make (pid 812, 2m10s) holds it; try again when that is over"},
		{"hostile name", StartedText("/x/\x1b[2Jnpm\n", time.Second, 0), `\x1b[2Jnpm\x0a starts after 1s`},
		{"long name", StartedText(strings.Repeat("x", 99), time.Second, 0), strings.Repeat("x", 37) + "... starts after 1s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("got  %q\nwant %q", tt.got, tt.want)
			}
		})
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 400 * time.Millisecond: "0s", 40 * time.Second: "40s", 10 * time.Minute: "10m", 130 * time.Second: "2m10s",
		time.Hour: "1h", 65 * time.Minute: "1h5m", 20*time.Hour + 20*time.Second: "20h", 59*time.Minute + 59900*time.Millisecond: "1h",
	} {
		if got := span(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", "npm starts", "headroomd: npm starts"},
		{"umlauts", "grün", "headroomd: grün"},
		{"two lines", "a\nrm -rf", `headroomd: a\x0arm -rf`},
		{"terminal's words", "\x1b]0;x\x07\r", `headroomd: \x1b]0;x\x07\x0d`},
		{"turned around", "a\u202eb\u200b", `headroomd: a\u202eb\u200b`},
		{"no UTF-8", "\xff", `headroomd: \xff`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := (Note{Text: tt.text}).line(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzLine(f *testing.F) {
	f.Add("npm waits")
	f.Add(strings.Repeat("ü\n", 200))
	f.Fuzz(func(t *testing.T, text string) {
		got := Note{Text: text}.line()
		if len(got)+len(ending) > maxBytes || !strings.HasPrefix(got, prefix) || strings.ContainsAny(got, "\n\r\x1b\x00") {
			t.Errorf("%q", got)
		}
		if again := clean(got, maxBytes); again != got {
			t.Errorf("twice: %q, once: %q", again, got)
		}
	})
}
