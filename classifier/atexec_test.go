package classifier

import (
	"strings"
	"testing"
)

// At an exec the answer is shorter, but what is captured is the same.
func TestAtExecCapturesTheSame(t *testing.T) {
	patterns, err := New(Options{ExtraHeavy: []string{"sudo", "sh -c", "ls"}, Exclude: []string{"^tsc"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Set{Builtin(), patterns} {
		same := func(c Command) {
			t.Helper()
			want := s.Argv(c)
			c.AtExec = true
			got := s.Argv(c)
			if got.Capture != want.Capture || want.Capture && (got.Rule != want.Rule || got.Kind != want.Kind) {
				t.Errorf("%q: at its exec %+v, else %+v", c.Argv, got, want)
			}
		}
		for i, r := range argvCorpus(t) {
			if i%4 != 0 {
				continue
			}
			same(Command{Argv: r.Argv, Exe: r.Exe, Comm: r.Comm})
			same(Command{Argv: append([]string{"sudo", "-E"}, r.Argv...)})
			same(Command{Argv: append([]string{"npx", "env"}, r.Argv...)})
			same(Command{Argv: []string{"bash", "-lc", strings.Join(r.Argv, " ")}})
			same(Command{Argv: []string{"npx", "-c", strings.Join(r.Argv, " ")}})
		}
	}
}

func TestAtExecIsShort(t *testing.T) {
	line := strings.Repeat("make;", 100_000/5)
	for _, argv := range [][]string{{"sh", "-c", line}, {"su", "-c", line}, {"npx", "-c", line}, {"timeout", "9", "sh", "-c", line}} {
		c := Command{Argv: argv, AtExec: true}
		if got := testing.AllocsPerRun(10, func() { Builtin().Argv(c) }); got > 10 {
			t.Errorf("%s of 100 KB: %v allocations: it was parsed", argv[0], got)
		}
	}
}
