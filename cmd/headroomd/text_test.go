package main

import (
	"strings"
	"testing"
	"time"
)

func TestWrap(t *testing.T) {
	tests := []struct {
		name, in string
		width    int
		want     []string
	}{
		{"empty", "", 10, []string{""}},
		{"fits", "a short one", 11, []string{"a short one"}},
		{"breaks at blanks", "a short one", 10, []string{"a short", "one"}},
		{"a long word stays whole", "see /run/headroom/headroomd.sock now", 12, []string{"see", "/run/headroom/headroomd.sock", "now"}},
		{"no control characters", "a\x1b[2Jb\nc", 80, []string{`a\x1b[2Jb c`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := wrap(tt.in, tt.width)
			if strings.Join(got, "|") != strings.Join(tt.want, "|") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestField(t *testing.T) {
	var b strings.Builder
	field(&b, "why", strings.Repeat("word ", 20))
	for line := range strings.Lines(b.String()) {
		if len(line) > columns+1 || !strings.HasPrefix(line, "  ") {
			t.Errorf("line %q", line)
		}
	}
	if got, want := strings.Count(b.String(), "\n"), 2; got != want {
		t.Errorf("%d lines, want %d", got, want)
	}
}

func TestAge(t *testing.T) {
	tests := []struct {
		name string
		in   time.Duration
		want string
	}{
		{"clock went back", -time.Second, "0s"},
		{"seconds", 59 * time.Second, "59s"},
		{"minutes", 61 * time.Second, "1m 1s"},
		{"hours", 24*time.Hour - time.Minute, "23h 59m"},
		{"days", 75 * time.Hour, "3d 3h"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := age(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMegabytes(t *testing.T) {
	for in, want := range map[int64]string{-1: "?", 0: "0", 926: "926"} {
		if got := megabytes(in); got != want {
			t.Errorf("megabytes(%d) = %q, want %q", in, got, want)
		}
	}
}

func TestProgram(t *testing.T) {
	tests := []struct {
		name, in string
		width    int
		want     string
	}{
		{"as it is", "npm test", 20, "npm test"},
		{"without its directory", "/usr/local/bin/node /srv/x.js", 20, "node /srv/x.js"},
		{"alone", "/usr/sbin/sshd", 20, "sshd"},
		{"nothing but a slash", "/ x", 20, "/ x"},
		{"cut", "make all of it", 8, "make …"},
		{"another user's", "", 20, "(another user's)"},
		{"hostile", "/bin/a\x1b[2J x", 20, `a\x1b[2J x`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := program(tt.in, tt.width); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
