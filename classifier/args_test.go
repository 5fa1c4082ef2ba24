package classifier

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	simple := &grammar{values: set([]string{"-C", "--file"})}
	tests := []struct {
		name string
		g    *grammar
		args string
		want string // o operand, - option, v value, t trailing, ? opaque
	}{
		{"operands", simple, "a b", "oo"},
		{"a value", simple, "-C dir a", "-vo"},
		{"a value after =", simple, "--file=x a", "-o"},
		{"a value that is missing", simple, "a -C", "o-"},
		{"an option that is not known", simple, "-x a", "-o"},
		{"double dash", simple, "a -- -C b", "o-tt"},
		{"a dash is an operand", simple, "- a", "oo"},
		{"an expansion", simple, "$X a", "?o"},
		{"cluster with a value inside", &grammar{cluster: true, shortValues: "f"}, "-xvf a b", "-vo"},
		{"cluster with its value joined", &grammar{cluster: true, shortValues: "f"}, "-xfa b", "-o"},
		{"cluster, long option", &grammar{cluster: true, shortValues: "f"}, "--f a", "-o"},
		{"old style", &grammar{oldStyle: true}, "xvf a", "-o"},
		{"settings", &grammar{assignments: true}, "A=b C+=d e", "--o"},
		{"no settings", simple, "A=b", "o"},
		{"marks", &grammar{marks: "+"}, "+nightly build", "-o"},
		{"all options take values", &grammar{allValues: true, noValues: set([]string{"-y"})}, "-y -i a b", "--vo"},
		{"an empty word", simple, "", "o"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p parsed
			args := strings.Split(tt.args, " ")
			p.parse(args, tt.g, false)
			got := make([]byte, len(args))
			for i := range args {
				got[i] = "o-vt?"[p.kinds[i]]
			}
			if string(got) != tt.want {
				t.Errorf("%q: got %s, want %s", tt.args, got, tt.want)
			}
		})
	}
}

func TestParseStops(t *testing.T) {
	var p parsed
	p.parse([]string{"-x", "script", "-y"}, &noGrammar, true)
	if !slices.Equal(p.args, []string{"-x", "script"}) {
		t.Errorf("got %q, want what stands before and the script", p.args)
	}
	long := make([]string, 3*maxArgs)
	p.parse(long, &noGrammar, false)
	if len(p.args) != maxArgs {
		t.Errorf("%d arguments looked at, want %d", len(p.args), maxArgs)
	}
}

func TestHas(t *testing.T) {
	tests := []struct {
		name  string
		g     grammar
		flags []string
		args  string
		want  int
	}{
		{"exact", grammar{}, []string{"-n"}, "a -n", 1},
		{"with a value", grammar{}, []string{"--type"}, "--type=x", 0},
		{"prefix", grammar{}, []string{"--print-*"}, "a --print-dir", 1},
		{"pair", grammar{values: set([]string{"-c"})}, []string{"-c copy"}, "-c copy", 0},
		{"pair with another value", grammar{values: set([]string{"-c"})}, []string{"-c copy"}, "-c x", -1},
		{"not a value", grammar{values: set([]string{"-c"})}, []string{"-n"}, "-c -n", -1},
		{"not after the dashes", grammar{}, []string{"-n"}, "-- -n", -1},
		{"in a cluster", grammar{cluster: true}, []string{"-n"}, "-Rrnps", 0},
		{"behind a value's letter", grammar{cluster: true, shortValues: "f"}, []string{"-n"}, "-fname", -1},
		{"no cluster", grammar{}, []string{"-n"}, "-Rrn", -1},
		{"in the old style", grammar{oldStyle: true, cluster: true}, []string{"-J"}, "cJf", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p parsed
			p.parse(strings.Split(tt.args, " "), &tt.g, false)
			if got := p.has(newFlagSet(tt.flags), len(p.args)); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

// -v is "verbose" as often as it is "version".
func TestAsks(t *testing.T) {
	f := newFlagSet([]string{"-v", "-h", "--version"})
	for args, want := range map[string]bool{
		"-v": true, "-v install": false, "install -h": true, "install x -h": false, "install --version x": true, "install": false,
	} {
		var p parsed
		p.parse(strings.Fields(args), &noGrammar, false)
		if got := p.asks(f, len(p.args), 1) >= 0; got != want {
			t.Errorf("%q asks: got %v, want %v", args, got, want)
		}
	}
}

func TestIsAssignment(t *testing.T) {
	for word, want := range map[string]bool{
		"A=b": true, "_a1=": true, "A+=b": true, "A:=b": true, "=b": false, "1A=b": false, "a-b=c": false, "--a=b": false, "a": false, "+=x": false,
	} {
		if got := isAssignment(word); got != want {
			t.Errorf("isAssignment(%q) = %v, want %v", word, got, want)
		}
	}
}
