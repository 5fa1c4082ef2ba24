package classifier

import (
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

func TestWords(t *testing.T) {
	tests := []struct {
		name, line string
		want       []string
	}{
		{"plain", "a b", []string{"a", "b"}},
		{"single quotes", "'a b' c", []string{"a b", "c"}},
		{"double quotes", `"a b"c`, []string{"a bc"}},
		{"escapes", `a\ b \;`, []string{"a b", ";"}},
		{"escapes in double quotes", `"a\"b\n"`, []string{`a"b\n`}},
		{"continued", "a\\\nb", []string{"ab"}},
		{"unknown variable", "a $X", []string{"a", "$X"}},
		{"unknown quoted variable", `a "$X"`, []string{"a", "{X}"}},
		{"part of a word", "a -j$N", []string{"a", "-j$N"}},
		{"substitution", "a $(b)", []string{"a", "$…"}},
		{"which", "$(which npm) t", []string{"npm", "t"}},
		{"command -v", `"$(command -v npm)" t`, []string{"npm", "t"}},
		{"arithmetic", "a -j$((1+1))", []string{"a", "-j1"}},
		{"process substitution", "a <(b)", []string{"a", "/dev/fd/63"}},
		{"download", "a <(curl x)", []string{"a", "/dev/fd/piped-installer"}},
		{"dollar quotes", `a $'b c'`, []string{"a", "b c"}},
		{"empty", `a ''`, []string{"a", ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := syntax.NewParser().Parse(strings.NewReader(tt.line), "")
			if err != nil {
				t.Fatal(err)
			}
			w := lineWalk{room: maxRoom}
			got := w.expand(f.Stmts[0].Cmd.(*syntax.CallExpr).Args)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestVariablesAreBounded(t *testing.T) {
	line := "A=" + strings.Repeat("x", 600) + "; " + strings.Repeat("B=$A$A; A=$B; ", 100) + strings.Repeat("c $A $A $A; ", 500)
	total := 0
	for _, c := range Builtin().Line(line).Commands {
		for _, w := range c.Words {
			total += len(w)
		}
	}
	if total > maxRoom+64<<10 {
		t.Errorf("a line of %d bytes became %d bytes of words", len(line), total)
	}
}

func TestTempting(t *testing.T) {
	for line, want := range map[string]bool{
		"npm test": true, "ls -la": false, "'np''m' test": true, `"/opt/my tools/bin/make" all`: true, "A=make": true,
		"x;gcc-13 a.c": true, "": false, "remake-it makes": false, "node x": true, `m\ake`: true,
	} {
		if got := Builtin().tempting(line); got != want {
			t.Errorf("tempting(%q) = %v, want %v", line, got, want)
		}
	}
}

func TestTooDeep(t *testing.T) {
	for name, tt := range map[string]struct {
		line string
		want bool
	}{
		"script":            {strings.Repeat("if a; then (b | c); fi; ", 200), false},
		"parentheses":       {strings.Repeat("(", maxOpeners+1), true},
		"keywords":          {strings.Repeat("while ", maxOpeners+1), true},
		"words like those":  {strings.Repeat("iffy ", maxOpeners+1), false},
		"arithmetic":        {"$((" + strings.Repeat("1+", maxOperators+1), true},
		"a long plain text": {strings.Repeat("a-b/c ", maxOperators), false},
	} {
		if got := tooDeep(tt.line); got != tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}

func TestShown(t *testing.T) {
	if got := shown("a\x1b[2Jb"); strings.ContainsRune(got, '\x1b') {
		t.Errorf("a control character is shown: %q", got)
	}
	if got := shown(strings.Repeat("x", 500)); len(got) > 100 {
		t.Errorf("%d bytes shown of one word", len(got))
	}
}

func TestTraceIsBounded(t *testing.T) {
	if got := len(Builtin().Line(strings.Repeat("make;", 5000)).Trace); got > maxSteps+2 {
		t.Errorf("%d steps", got)
	}
}
