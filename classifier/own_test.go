package classifier

import (
	"strings"
	"testing"
)

// own compiles files of the owner's, each with the name own1.toml and so on.
func own(t *testing.T, texts ...string) (*Set, []error) {
	t.Helper()
	var files []File
	for i, text := range texts {
		files = append(files, File{Name: "own" + string(rune('1'+i)) + ".toml", Data: []byte(text)})
	}
	return New(Options{Files: files})
}

func mine(id, programs, more string) string {
	return "[[rule]]\nid = \"" + id + "\"\nfamily = \"other\"\nprograms = [" + programs + "]\nreason = \"is mine\"\n" + more + "\n"
}

func TestOwnRules(t *testing.T) {
	type want struct {
		line  string
		class Class
		rule  string
	}
	tests := []struct {
		name  string
		files []string
		want  []want
	}{
		{"a new program", []string{mine("x", `"mytool"`, "")}, []want{
			{"mytool --fast", Heavy, "x"}, {"mytool --version", Light, "x"}, {"sudo mytool", Heavy, "x"}, {"sh -c mytool", Heavy, "x"}, {"npm test", Heavy, "node-npm-test"}}},
		{"before the built-in rules", []string{mine("x", `"npm"`, `subcommands = ["test"]`)}, []want{
			{"npm test", Heavy, "x"}, {"npm ci", Heavy, "node-package-install"}}},
		{"light before heavy", []string{mine("x", `"make"`, `subcommands = ["docs"]`+"\nclass = 'light'")}, []want{
			{"make docs", Light, "x"}, {"make all", Heavy, "make"}}},
		{"before what it carries", []string{mine("x", `"npx"`, `subcommands = ["jest"]`+"\nclass = 'light'")}, []want{
			{"npx jest", Light, "x"}, {"npx vitest", Heavy, "js-test"}}},
		{"in the place of a built-in one", []string{mine("node-package-install", `"npm"`, `subcommands = ["ci"]`)}, []want{
			{"npm ci", Heavy, "node-package-install"}, {"npm install", Light, ""}}},
		{"switched off", []string{`disable = ["node-package-install"]`}, []want{{"npm ci", Light, ""}, {"npm test", Heavy, "node-npm-test"}}},
		{"a later file wins", []string{mine("x", `"t"`, ""), mine("x", `"t"`, "class = 'light'")}, []want{{"t", Light, "x"}}},
		{"a later file switches off", []string{mine("x", `"t"`, ""), `disable = ["x"]`}, []want{{"t", Light, ""}}},
		{"and is switched on again", []string{`disable = ["node-package-install"]`, mine("node-package-install", `"npm"`, `subcommands = ["ci"]`)}, []want{{"npm ci", Heavy, "node-package-install"}}},
		{"the first of two files is tried first", []string{mine("x", `"t"`, ""), mine("y", `"t"`, "")}, []want{{"t", Heavy, "x"}}},
		{"one version", []string{mine("x", `"gcc-13"`, `flags = ["-flto"]`)}, []want{
			{"gcc-13 -flto a.c", Heavy, "x"}, {"gcc-13 -c a.c", Heavy, "c-compiler"}, {"gcc-12 -flto a.c", Heavy, "c-compiler"}}},
		{"one version of an interpreter", []string{mine("x", `"python3.12"`, `operands = ["fit.py"]`)}, []want{
			{"python3.12 fit.py", Heavy, "x"}, {"python3.12 -m pytest", Heavy, "pytest"}, {"python3.11 fit.py", Light, ""}}},
		{"a pattern of names", []string{mine("x", `"my-*"`, `except = ["list"]`)}, []want{
			{"my-build all", Heavy, "x"}, {"my-build list", Light, ""}, {"nice my-x", Heavy, "x"}, {"sh -c 'cd /; my-x'", Heavy, "x"}}},
		{"a pattern before what is built in", []string{mine("x", `"py*"`, `subcommands = ["a.py"]`+"\nclass = 'light'")}, []want{
			{"python a.py", Light, "x"}, {"pytest", Heavy, "pytest"}, {"pytest a.py", Light, "x"}}},
		{"two patterns", []string{mine("x", `"a*"`, `flags = ["-x"]`) + mine("y", `"*b"`, "")}, []want{
			{"ab", Heavy, "y"}, {"ab -x", Heavy, "x"}, {"ac -x", Heavy, "x"}, {"ac", Light, ""}}},
		{"a carrier", []string{"[[carrier]]\nprograms = ['srun']\nvalues = ['-N']\n"}, []want{{"srun -N 2 make", Heavy, "make"}, {"srun -N 2 ls", Light, ""}}},
		{"a carrier decides", []string{"[[carrier]]\nprograms = ['nice']\nskip = 1\n"}, []want{{"nice make ls", Light, ""}, {"nice x make", Heavy, "make"}}},
		{"an interpreter", []string{"[[interpreter]]\nprograms = ['mysh']\nlanguage = 'shell'\ncode = ['-c']\n"}, []want{{"mysh -c make", Heavy, "make"}}},
		{"an alias", []string{"[[alias]]\nprogram = 'make'\nmodules = ['mymod']\nscripts = ['/mine/']\n"}, []want{
			{"python -m mymod", Heavy, "make"}, {"python /mine/x.py", Heavy, "make"}}},
		{"a tool", []string{"[[tool]]\nprograms = ['mt']\nvalues = ['-o']\nlight_flags = ['-l']\n" + mine("x", `"mt"`, `subcommands = ["build"]`)}, []want{
			{"mt -o x build", Heavy, "x"}, {"mt -l build", Light, "x"}, {"mt x build", Light, ""}}},
		{"a family", []string{"families = ['mine']\n" + strings.Replace(mine("x", `"t"`, ""), `"other"`, `"mine"`, 1)}, []want{{"t", Heavy, "x"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, faults := own(t, tt.files...)
			for _, f := range faults {
				t.Error(f)
			}
			for _, w := range tt.want {
				got := s.Line(w.line)
				if got.Class != w.class || got.Rule != w.rule {
					t.Errorf("%q: got %s by %q (%s), want %s by %q\n%s", w.line, got.Class, got.Rule, got.Reason, w.class, w.rule, strings.Join(got.Trace, "\n"))
				}
			}
		})
	}
}

// A broken file costs what is in it and nothing else, and all that is wrong is
// told at once.
func TestBrokenFiles(t *testing.T) {
	good := mine("good", `"good"`, "")
	tests := []struct {
		name  string
		files []string
		want  []string
	}{
		{"syntax", []string{good, "[[rule]\n"}, []string{"own2.toml:1: "}},
		{"two faults in one", []string{mine("", `"a/b"`, "wieght_mb = 3"), good}, []string{"own1.toml:2: ", "own1.toml:4: ", "own1.toml:6: "}},
		{"a fault in each", []string{"x = 1", good, "y = 1"}, []string{"own1.toml:1: ", "own3.toml:1: "}},
		{"one that needed a broken one", []string{"families = ['mine']\nx = 1\n", good, strings.Replace(mine("b", `"b"`, ""), `"other"`, `"mine"`, 1)},
			[]string{"own1.toml:2: ", `own3.toml:3: rule "b": unknown family "mine"`}},
		{"nothing to switch off", []string{"disable = ['nonesuch-rule']\n" + good}, []string{"own1.toml:1: there is no rule"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, faults := own(t, tt.files...)
			if len(faults) != len(tt.want) {
				t.Fatalf("got %q, want %q", faults, tt.want)
			}
			for i, w := range tt.want {
				if !strings.HasPrefix(faults[i].Error(), w) {
					t.Errorf("got %q, want %q", faults[i], w)
				}
			}
			for line, rule := range map[string]string{"good": "good", "make": "make"} {
				if got := s.Line(line); got.Rule != rule {
					t.Errorf("%s: got rule %q, want %q", line, got.Rule, rule)
				}
			}
		})
	}
}

func TestOwnRulesAreNamed(t *testing.T) {
	tests := []struct {
		name     string
		file     string
		names    []string // reported
		nameless int
	}{
		{"a name", mine("x", `"mytool"`, ""), []string{"mytool"}, 0},
		{"a pattern", mine("x", `"my-*"`, ""), nil, 1},
		{"a light pattern takes nothing", mine("x", `"my-*"`, "class = 'light'"), nil, 0},
		{"a pattern of supervisors", mine("x", `"my-*"`, "kind = ['supervisor']"), nil, 0},
		{"a capturing carrier", "[[carrier]]\nprograms = ['srun']\ncaptures = true\n", []string{"srun"}, 0},
		{"carriers by pattern", "[[carrier]]\nprograms = ['my-*']\ncaptures = true\n", nil, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, faults := own(t, tt.file)
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			names, all := s.Names()
			for _, n := range tt.names {
				if names[n] == 0 {
					t.Errorf("%q is not reported", n)
				}
			}
			if got := s.Nameless(); len(got) != tt.nameless || all != (tt.nameless > 0) {
				t.Errorf("nameless %q, all %v, want %d", got, all, tt.nameless)
			}
		})
	}
	s, _ := own(t, `disable = ["node-package-install"]`)
	if d := s.Disabled(); len(d) != 1 || d[0].ID != "node-package-install" || d[0].By != "own1.toml:1" {
		t.Errorf("switched off: %+v", d)
	}
}

func TestTraceOfNearMisses(t *testing.T) {
	s, faults := own(t, mine("flagged", `"mt"`, `flags = ["-a", "--big"]`)+mine("placed", `"mo"`, `operands = ["*.gguf"]`)+
		mine("not", `"mn"`, `except = ["list"]`)+mine("sub", `"ms"`, `subcommands = ["build"]`), `disable = ["make"]`)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for line, want := range map[string]string{
		"mt x":     "rule flagged (own1.toml:1) does not match: it wants --big or -a",
		"mo x.bin": "rule placed (own1.toml:7) does not match: it wants an argument like *.gguf",
		"mn list":  `rule not (own1.toml:13) does not match: "list" is one of its exceptions`,
		"ms biuld": `rule sub (own1.toml:19) does not match: "biuld" is not its "build"`,
		"make all": "would match, but own2.toml:1 switches it off",
	} {
		trace := strings.Join(s.Line(line).Trace, "\n")
		if !strings.Contains(trace, want) {
			t.Errorf("%s: got\n%s\nwant %q", line, trace, want)
		}
	}
}

func TestOneEdit(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"build", "build", false}, {"biuld", "build", true}, {"buil", "build", true}, {"builds", "build", true},
		{"bxild", "build", true}, {"bxxld", "build", false}, {"uild", "build", true}, {"", "b", true}, {"", "", false},
		{"ab", "ba", true}, {"abc", "cab", false}, {"builldd", "build", false},
	} {
		if got := oneEdit(tt.a, tt.b); got != tt.want {
			t.Errorf("%q, %q: got %v", tt.a, tt.b, got)
		}
		if got := oneEdit(tt.b, tt.a); got != tt.want {
			t.Errorf("%q, %q: got %v", tt.b, tt.a, got)
		}
	}
}
