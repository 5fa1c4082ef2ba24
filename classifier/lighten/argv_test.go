package lighten

import (
	"slices"
	"strings"
	"testing"

	"github.com/headroomd/headroomd/classifier"
)

func TestArgv(t *testing.T) {
	set := classifier.Builtin()
	for _, tt := range []struct {
		name string
		argv string // split at "|"
		want string // "" the same
	}{
		{"light", "ls|-l", ""},
		{"make", "make|-j8", "make|-j2"},
		{"make apart", "make|-j|8|all", "make|-j|2|all"},
		{"added", "ninja|-C|out", "ninja|-j2|-C|out"},
		{"added twice", "vitest|run", "env|NODE_OPTIONS=--max-old-space-size=483|vitest|run|--maxWorkers=1|--no-file-parallelism"},
		{"removed", "mocha|--parallel|test", "env|NODE_OPTIONS=--max-old-space-size=483|mocha|test"},
		{"variable", "npm|test", "env|NODE_OPTIONS=--max-old-space-size=483|npm|test"},
		{"variable through timeout", "timeout|60|npm|test", "env|NODE_OPTIONS=--max-old-space-size=483|timeout|60|npm|test"},
		{"variable behind env", "env|CI=1|npm|test", "env|CI=1|NODE_OPTIONS=--max-old-space-size=483|npm|test"},
		{"variable of env", "env|MAKEFLAGS=-j8 V=1|make", "env|MAKEFLAGS=-j2 V=1|make"},
		{"sudo drops a variable", "sudo|npm|ci", ""},
		{"shell line", "bash|-c|make -j8 && echo 'done'", "bash|-c|make -j2 && echo 'done'"},
		{"shell line with an expansion", `bash|-c|cd "$HOME" && make -j8`, `bash|-c|cd "$HOME" && make -j2`},
		{"an expansion is no expansion here", "make|-j$(nproc)", ""},
		{"long", "gcc|" + strings.Repeat("a.o|", 5000) + "b.o", ""},
		{"empty", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			argv := strings.Split(tt.argv, "|")
			given := slices.Clone(argv)
			want := argv
			if tt.want != "" {
				want = strings.Split(tt.want, "|")
			}
			got, changes := Argv(set, argv, small)
			if !slices.Equal(got, want) {
				t.Fatalf("got %q, want %q", got, want)
			}
			if (len(changes) > 0) != (tt.want != "") {
				t.Errorf("changes %q", changes)
			}
			if !slices.Equal(argv, given) {
				t.Errorf("the argument was written to: %q", argv)
			}
			if again, _ := Argv(set, got, small); !slices.Equal(again, got) {
				t.Errorf("not the same a second time: %q", again)
			}
		})
	}
	if got, changes := Argv(set, nil, small); got != nil || changes != nil {
		t.Errorf("nothing became %q, %q", got, changes)
	}
}
