package main

import "testing"

func TestEdits(t *testing.T) {
	tests := []struct {
		name, a, b string
		want       int
	}{
		{"same", "json", "json", 0},
		{"one missing", "jsn", "json", 1},
		{"one changed", "jxon", "json", 1},
		{"swapped", "josn", "json", 2},
		{"empty", "", "json", 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := edits(tt.a, tt.b); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
			if got := edits(tt.b, tt.a); got != tt.want {
				t.Errorf("turned round: got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestNearestFlag(t *testing.T) {
	tests := []struct{ name, typed, want string }{
		{"typo", "folow", "--follow"},
		{"beginning", "foll", "--follow"},
		{"too long", "followed", "--follow"},
		{"nothing near", "verbose", ""},
		{"a letter is not the beginning of everything", "z", ""},
	}
	cmd := newEventsCommand()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if s := nearestFlag(cmd, tt.typed); len(s) > 0 {
				got = s[0]
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
