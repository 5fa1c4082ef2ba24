package classifier

import (
	"reflect"
	"strings"
	"testing"
)

// TestCarried says what is found as people would write it down: the words that
// are carried, then what they count as, what is put before them, and lines in
// brackets.
func TestCarried(t *testing.T) {
	for _, tt := range []struct {
		name  string
		words string // split at "|"
		want  []string
	}{
		{"plain", "make|-j8", nil},
		{"unknown", "frobnicate|make", nil},
		{"nothing", "", nil},
		{"sudo", "sudo|-u|pi|make|-j8", []string{"make -j8"}},
		{"sudo that only lists", "sudo|-l|make", nil},
		{"env", "env|-i|CI=1|npm|t", []string{"npm t"}},
		{"timeout", "timeout|-k|5|60s|npm|t", []string{"npm t"}},
		{"after dashes", "timeout|60|--|npm|t", []string{"npm t"}},
		{"npx", "npx|--yes|jest|--ci", []string{"jest --ci"}},
		{"npx with a line", "npx|-c|jest --ci", []string{"[jest --ci]"}},
		{"npm exec", "npm|exec|--|jest", []string{"jest"}},
		{"npm test carries nothing", "npm|test", nil},
		{"uv run", "uv|run|--with|x|pytest|-q", []string{"pytest -q"}},
		{"uv sync", "uv|sync", nil},
		{"shell line", "bash|-lc|make -j8", []string{"[make -j8]"}},
		{"shell script", "bash|./run.sh", nil},
		{"configure", "sh|./configure|--prefix=/usr", []string{"./configure --prefix=/usr as configure"}},
		{"module", "python3|-u|-m|pytest|-q", []string{"pytest -q as pytest"}},
		{"module in a cluster", "python3|-um|pytest|-q", []string{"pytest -q as pytest"}},
		{"module in the word", "python3|-mpytest|-q", []string{"-mpytest -q as pytest"}},
		{"code", "python3|-c|import pytest", nil},
		{"script", "node|node_modules/.bin/jest|--ci", []string{"node_modules/.bin/jest --ci as jest"}},
		{"plain script", "node|server.js", nil},
		{"jar", "java|-Xmx64m|-jar|gradle/wrapper/gradle-wrapper.jar|build", []string{"gradle/wrapper/gradle-wrapper.jar build as gradle"}},
		{"find", "find|.|-name|*.c|-exec|gcc|-c|{}|;", []string{"gcc -c {}"}},
		{"xargs", "xargs|-n1|gcc|-c", []string{"gcc -c …"}},
		{"watch joins", "watch|-n|5|make|-j8", []string{"make -j8 joined"}},
		{"watch with a line", "watch|make -j8", []string{"[make -j8]"}},
		{"hyperfine", "hyperfine|npm test|make", []string{"[npm test]", "[make]"}},
		{"coverage puts python before", "coverage|run|-m|pytest", []string{"python + pytest"}},
		{"line in the word", "nix-shell|--run=make -j8", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var words []string
			if tt.words != "" {
				words = strings.Split(tt.words, "|")
			}
			var got []string
			for _, c := range Builtin().Carried(words) {
				for _, i := range c.Lines {
					got = append(got, "["+words[i]+"]")
				}
				if c.End == 0 {
					continue
				}
				s := strings.Join(words[c.Start:c.End], " ")
				if len(c.As) > 0 {
					s = strings.Join(c.As, " ") + " + " + s
				}
				if c.Appends {
					s += " …"
				}
				if c.Joined {
					s += " joined"
				}
				if c.Program != "" {
					s += " as " + c.Program
				}
				got = append(got, s)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Whatever the words are, the places that are named exist.
func TestCarriedStaysInside(t *testing.T) {
	for _, r := range argvCorpus(t) {
		for n := range min(len(r.Argv), 12) {
			words := r.Argv[:n+1]
			for _, c := range Builtin().Carried(words) {
				if c.Start < 0 || c.End > len(words) || c.End != 0 && c.Start >= c.End {
					t.Errorf("%q: %d to %d", words, c.Start, c.End)
				}
				for _, i := range c.Lines {
					if i <= 0 || i >= len(words) {
						t.Errorf("%q: line %d", words, i)
					}
				}
			}
		}
	}
}
