package main

import (
	"strings"
	"testing"
	"time"
)

func TestLighter(t *testing.T) {
	e := testExplainer(t)
	e.cap, e.capAt = capAnswer{MemoryMB: 690}, time.Now().Add(time.Hour)
	t.Setenv("NODE_OPTIONS", "")
	for _, tt := range []struct {
		name    string
		line    string
		argv    []string
		want    string
		changes int
	}{
		{"a line keeps its blanks", "cd x  &&  npm test", nil, "cd x  &&  NODE_OPTIONS=--max-old-space-size=483 npm test", 1},
		{"an argv", "npm test", []string{"npm", "test"}, "env NODE_OPTIONS=--max-old-space-size=483 npm test", 1},
		{"secrets of an argv", "", []string{"npm", "test", "--", "--password=hunter2"}, "env NODE_OPTIONS=--max-old-space-size=483 npm test", 1},
		{"nothing to do", "make", nil, "make", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := e.lighter(tt.line, tt.argv, projectHere())
			if !strings.HasPrefix(got.Command, tt.want) || len(got.Changes) != tt.changes || got.Changes == nil {
				t.Errorf("got %q, %q", got.Command, got.Changes)
			}
			if strings.Contains(got.Command, "hunter2") {
				t.Errorf("a secret in %q", got.Command)
			}
		})
	}
}

// A machine whose memory is not known has no cap, and no heap is set.
func TestLighterWithoutCap(t *testing.T) {
	e := testExplainer(t)
	e.cap, e.capAt = capAnswer{}, time.Now().Add(time.Hour)
	if got := e.lighter("npm test", nil, projectHere()); got.Command != "npm test" || len(got.Changes) != 0 {
		t.Errorf("got %q, %q", got.Command, got.Changes)
	}
	e.config.Lighten = false
	if got := e.lighter("make -j", nil, projectHere()); got.Command != "make -j" || len(got.Changes) != 0 {
		t.Errorf("lighten is off, but got %q", got.Command)
	}
}

// The script that a line starts is looked up where the question is asked.
func TestLighterByScript(t *testing.T) {
	inProject(t, `"test": "jest --ci"`)
	t.Setenv("NODE_OPTIONS", "")
	e := testExplainer(t)
	e.cap, e.capAt = capAnswer{MemoryMB: 690}, time.Now().Add(time.Hour)
	got := e.line("npm test").Lightened
	if want := "NODE_OPTIONS=--max-old-space-size=483 npm test -- --runInBand"; got == nil || got.Command != want {
		t.Errorf("got %+v, want %q", got, want)
	}
}
