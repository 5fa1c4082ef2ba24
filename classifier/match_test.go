package classifier

import (
	"strings"
	"testing"
)

// Each key of a rule, by itself.
func TestRuleKeys(t *testing.T) {
	tests := []struct {
		name, keys string
		heavy      []string
		light      []string
	}{
		{"none", ``, []string{"x", "x a", "x -n"}, []string{"x --version", "x --help", "x a -version"}},
		{"subcommands", `subcommands = ["go", "mod tidy", "build*"]`,
			[]string{"x go", "x -f go", "x mod tidy", "x build:web"}, []string{"x", "x stop", "x mod", "x mod x tidy", "x a go"}},
		{"bare and subcommands", "subcommands = [\"go\"]\nbare = true", []string{"x", "x -f", "x go"}, []string{"x stop"}},
		{"bare alone", `bare = true`, []string{"x", "x -f"}, []string{"x a"}},
		{"except", `except = ["list", "show*"]`, []string{"x", "x a"}, []string{"x list", "x show-all", "x -f list"}},
		{"flags", `flags = ["--go"]`, []string{"x --go", "x a --go=1"}, []string{"x", "x -- --go"}},
		{"with_flags", "flags = [\"-c\"]\nwith_flags = [\"-J\"]", []string{"x -c -J"}, []string{"x -c", "x -J"}},
		{"operands", `operands = ["*.big"]`, []string{"x a b.big"}, []string{"x", "x a"}},
		{"need_operand", `need_operand = true`, []string{"x a", "x $A"}, []string{"x", "x -f"}},
		{"light_flags", `light_flags = ["-n"]`, []string{"x a"}, []string{"x -n", "x a -n"}},
		{"light_operands", `light_operands = ["clean", "*-clean"]`, []string{"x", "x clean all", "x clean $T"}, []string{"x clean", "x web-clean clean"}},
		{"leading", "subcommands = [\"run\"]\nleading = true\nlight_flags = [\"-n\"]", []string{"x run", "x run a -n", "x run a --help"}, []string{"x run -n a", "x -n run"}},
		{"no_common", `no_common = true`, []string{"x --version"}, nil},
		{"light_env", `light_env = ["HOST=ssh:*"]`, []string{"x a", "HOST=here x a"}, []string{"HOST=ssh://b x a", "env HOST=ssh://b x a"}},
		{"light class", `class = "light"`, nil, []string{"x", "x a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(goodRule, `"x"`, `"xrule"`, 1) + tt.keys + "\n"
			s, err := load(ownFile(text))
			if err != nil {
				t.Fatal(err)
			}
			check := func(lines []string, want Class) {
				for _, l := range lines {
					l = strings.Replace(" "+l, " x", " xrule", 1)
					if got := s.Line(l); got.Class != want {
						t.Errorf("%q: got %s (%s), want %s", l, got.Class, got.Reason, want)
					}
				}
			}
			check(tt.heavy, Heavy)
			check(tt.light, Light)
		})
	}
}

func TestRulePaths(t *testing.T) {
	s, err := load(ownFile(strings.Replace(goodRule, `"x"`, `"xrule"`, 1) + "paths = ['/tool/']\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Argv(Command{Argv: []string{"/a/tool/xrule"}}); got.Class != Heavy {
		t.Errorf("in the path: got %s", got.Class)
	}
	if got := s.Argv(Command{Argv: []string{"xrule"}, Exe: "/a/tool/xrule"}); got.Class != Heavy {
		t.Errorf("in the binary's path: got %s", got.Class)
	}
	if got := s.Argv(Command{Argv: []string{"/b/xrule"}}); got.Class != Light {
		t.Errorf("elsewhere: got %s", got.Class)
	}
}

// The first rule whose conditions hold decides.
func TestRuleOrder(t *testing.T) {
	text := `
[[rule]]
id = "first"
family = "other"
class = "light"
programs = ["xrule"]
subcommands = ["show"]
reason = "shows"
` + strings.Replace(goodRule, `"x"`, `"xrule"`, 1)
	s, err := load(ownFile(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Argv(Command{Argv: []string{"xrule", "show"}}); got.Class != Light || got.Rule != "first" || got.Reason != "shows" {
		t.Errorf("got %+v", got)
	}
	if got := s.Argv(Command{Argv: []string{"xrule", "do"}}); got.Class != Heavy || got.Rule != "x-own" {
		t.Errorf("got %+v", got)
	}
}

// Each key of a carrier, by itself.
func TestCarrierKeys(t *testing.T) {
	tests := []struct {
		name, keys string
		heavy      []string
		light      []string
	}{
		{"none", ``, []string{"x make", "x -f make", "x -- make"}, []string{"x", "x ls make", "x -f"}},
		{"values", `values = ["-f"]`, []string{"x -f a make"}, []string{"x -f make"}},
		{"skip", `skip = 1`, []string{"x 5 make", "x -f 5 make"}, []string{"x make", "x make ls"}},
		{"assignments", `assignments = true`, []string{"x A=1 make", "x -- A=1 make"}, []string{"x A=make"}},
		{"line", `line = ["-c"]`, []string{"x -c 'cd a; make'"}, []string{"x -c 'echo make'"}},
		{"rest line", `rest = "line"`, []string{"x 'ls; make'", "x ls \\; make"}, []string{"x ls make"}},
		{"rest lines", `rest = "lines"`, []string{"x ls 'make -j2'"}, []string{"x ls 'echo make'"}},
		{"rest either", `rest = "either"`, []string{"x 'ls; make'", "x make -j2"}, []string{"x ls 'make all'"}},
		{"rest none", `rest = "none"`, nil, []string{"x make"}},
		{"after", `after = ["-exec"]`, []string{"x a -exec make"}, []string{"x make", "x -exec ls make"}},
		{"until", "after = [\"-exec\"]\nuntil = [\";\"]", []string{`x -exec make \;`}, []string{`x -exec ls \; make`}},
		{"nothing", `nothing = ["-p"]`, []string{"x make"}, []string{"x -p make"}},
		{"as", `as = ["python"]`, []string{"x -m pytest"}, []string{"x server.py"}},
		{"subcommands", `subcommands = ["run"]`, []string{"x run make", "x -f run make"}, []string{"x make", "x stop make"}},
		{"appends", `appends = true`, []string{"x gcc -c"}, []string{"x ls"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := load(ownFile("[[carrier]]\nprograms = ['xcarry']\n" + tt.keys + "\n"))
			if err != nil {
				t.Fatal(err)
			}
			check := func(lines []string, want Class) {
				for _, l := range lines {
					l = "xcarry" + l[1:]
					if got := s.Line(l); got.Class != want {
						t.Errorf("%q: got %s (%s), want %s", l, got.Class, got.Reason, want)
					}
				}
			}
			check(tt.heavy, Heavy)
			check(tt.light, Light)
		})
	}
}

func TestCarrierCaptures(t *testing.T) {
	s, err := load(ownFile(`
[[carrier]]
programs = ["xself"]
captures = true

[[carrier]]
programs = ["xboss"]
captures = true
kind = ["supervisor"]
`))
	if err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]bool{
		"xself make": true, "xself claude -p x": false, "sudo xself make": false, "xboss make": false, "xself ls": false, "xself sudo make": false,
	} {
		if got := s.Argv(Command{Argv: strings.Fields(words)}); got.Capture != want {
			t.Errorf("%q: capture %v, want %v", words, got.Capture, want)
		}
	}
}
