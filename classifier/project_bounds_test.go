package classifier

import (
	"fmt"
	"strings"
	"testing"
)

func TestPackageScriptArgv(t *testing.T) {
	ask := func(words ...string) Verdict {
		return Builtin().Argv(Command{Argv: words, Exe: "/usr/bin/node", Cwd: "/p", Files: project1})
	}
	v := ask("node", "/usr/bin/npm", "run", "check")
	if v.Class != Heavy || !v.Capture || v.Rule != "eslint" || v.Matched != "npm run check" {
		t.Errorf("npm run check: %+v", v)
	}
	const want = "npm run check runs `eslint . && vitest run`; eslint parses and checks sources"
	if !strings.HasPrefix(v.Reason, want) {
		t.Errorf("reason %q, want %q…", v.Reason, want)
	}
	if v = ask("npm run check"); v.Rule != "eslint" {
		t.Errorf("a process.title: %+v", v)
	}
	if v = ask("node", "/usr/bin/npm", "test"); v.Class != Light || v.Reason != "npm test runs `echo no tests`, and nothing in it is heavy" {
		t.Errorf("npm test: %+v", v)
	}
	if v = ask("node", "/usr/bin/npm", "run", "agent"); v.Class != Heavy || v.Capture || !v.Kind.Has(Supervisor) {
		t.Errorf("a supervisor must not be captured: %+v", v)
	}
	if v = ask("node", "/usr/bin/npm", "run", "mk"); v.Kind != 0 {
		t.Errorf("npm is no compiler for running one: %+v", v)
	}
	for name, c := range map[string]Command{
		"without files":  {Argv: []string{"npm", "test"}, Cwd: "/p"},
		"without a cwd":  {Argv: []string{"npm", "test"}, Files: project1},
		"a relative cwd": {Argv: []string{"npm", "test"}, Cwd: "p", Files: project1},
	} {
		if v := Builtin().Argv(c); v.Rule != "node-npm-test" {
			t.Errorf("%s: %+v, want the name to decide", name, v)
		}
	}
}

// The owner's patterns see what a script runs.
func TestPackageScriptPatterns(t *testing.T) {
	s, err := New(Options{ExtraHeavy: []string{"^echo hello"}, Exclude: []string{"^tsc"}})
	if err != nil {
		t.Fatal(err)
	}
	if v := s.LineIn("npm run --ignore-scripts hello", "/p", project1); v.Class != Heavy || v.Family != "custom" {
		t.Errorf("an extra heavy pattern: %+v", v.Verdict)
	}
	if v := s.LineIn("npm run types", "/p", project1); v.Class != Light {
		t.Errorf("an excluded program: %+v", v.Verdict)
	}
}

// What a script says is shown bounded, escaped and without secrets.
func TestPackageScriptShown(t *testing.T) {
	files := packages(map[string]map[string]string{"/p": {
		"esc":  "tsc \x1b[31m`x` \u202eabc",
		"long": "tsc " + strings.Repeat("é", 400),
		"key":  "NPM_TOKEN=abcdef tsc --password=geheim",
	}})
	for _, name := range []string{"esc", "long", "key", strings.Repeat("x\n", 100)} {
		v := Builtin().LineIn("npm run '"+name+"'", "/p", files)
		text := v.Reason + v.Matched
		for _, bad := range []string{"\x1b", "\u202e", "\n", "abcdef", "geheim"} {
			if strings.Contains(text, bad) {
				t.Errorf("%q shows %q", text, bad)
			}
		}
		if len(v.Reason) > 450 || v.Class != Heavy {
			t.Errorf("%d bytes, %s: %q", len(v.Reason), v.Class, v.Reason)
		}
	}
}

func TestParseScripts(t *testing.T) {
	tests := []struct{ name, text, test, fault string }{
		{"plain", `{"scripts": {"test": "jest"}}`, "jest", ""},
		{"a mark of the byte order", "\ufeff" + `{"scripts": {"test": "jest"}}`, "jest", ""},
		{"the last one counts", `{"scripts": {"test": "a"}, "scripts": {"test": "b"}}`, "b", ""},
		{"keys by their case", `{"Scripts": {"test": "jest"}}`, "", ""},
		{"no text", `{"scripts": {"test": ["jest"], "x": 1}}`, "", ""},
		{"none", `{}`, "", ""},
		{"null", `{"scripts": null}`, "", ""},
		{"an array", `[1]`, "", "not a JSON object"},
		{"cut", `{"scripts": {"test": "SECRET`, "", "not a JSON object"},
		{"empty", ``, "", "not a JSON object"},
		{"a text for the scripts", `{"scripts": "SECRET"}`, "", "not an object"},
		{"deep", strings.Repeat("[", 100_000), "", "not a JSON object"},
		{"large", `{"a": "` + strings.Repeat("x", maxManifest) + `"}`, "", "too large"},
		{"many", `{"scripts": {` + manyScripts(maxScripts+1) + `}}`, "", "more than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			scripts, err := parseScripts([]byte(tt.text))
			fault := ""
			if err != nil {
				fault = err.Error()
			}
			if scripts["test"] != tt.test || !strings.Contains(fault, tt.fault) || (fault == "") != (tt.fault == "") {
				t.Errorf("got %q, %v", scripts["test"], err)
			}
			if strings.Contains(fault, "SECRET") {
				t.Errorf("the fault %q has content", fault)
			}
		})
	}
}

func manyScripts(n int) string {
	pairs := make([]string, n)
	for i := range pairs {
		pairs[i] = fmt.Sprintf(`"s%d": "npm run s%d && npm run s%d"`, i, (2*i+1)%n, (2*i+2)%n)
	}
	return strings.Join(pairs, ",")
}

// Whatever the files say, a look-up ends: in reads, in scripts and in depth.
func TestProjectBounds(t *testing.T) {
	reads := 0
	deep := mapFiles{files: map[string]string{"/package.json": `{"scripts": {"test": "tsc"}}`}, reads: &reads}
	if v := Builtin().LineIn("npm test", "/a/b/c", deep); v.Rule != "typescript" || reads != 4 {
		t.Errorf("upwards: %s after %d reads", v.Rule, reads)
	}
	reads = 0
	if v := Builtin().LineIn("npm test", "/1/2/3/4/5/6/7/8/9", deep); v.Rule != "node-npm-test" || reads != maxUp {
		t.Errorf("too far upwards: %s after %d reads", v.Rule, reads)
	}
	var line strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&line, "(cd d%d && npm test);", i)
	}
	reads = 0
	Builtin().LineIn(line.String()[:strings.LastIndex(line.String()[:15_000], ";")], "/", deep)
	if reads > maxReads {
		t.Errorf("%d reads, want at most %d", reads, maxReads)
	}
	tree := mapFiles{files: map[string]string{"/p/package.json": `{"scripts": {` + manyScripts(maxScripts) + `}}`}}
	l := newProject("/p", tree)
	j := judge{s: Builtin(), look: l}
	j.command([]string{"npm", "run", "s0"}, "")
	if len(l.known) > maxRuns+maxNested || l.text > maxText {
		t.Errorf("%d scripts of %d bytes were judged", len(l.known), l.text)
	}
	if len(l.running) != 0 || l.dir != "/p" {
		t.Errorf("it ends in %q with %v on the stack", l.dir, l.running)
	}
}

// Light is said of a script only if nothing in it is unknown.
func TestProjectSure(t *testing.T) {
	if r := (&judge{s: Builtin(), depth: maxDepth}).command([]string{"make"}, ""); r.reason != tooNested {
		t.Errorf("the reason at the end is %q, and sure() waits for %q", r.reason, tooNested)
	}
	for line, want := range map[string]bool{
		"echo a": true, "git status": true, "tsc --version": true, "node x.js": false, "./x": false, "env": false,
		"sh -c 'ls'": false, "$X": false, "node -e 1": false, "bash x.sh": false,
	} {
		j := judge{s: Builtin(), look: newProject("/p", project1)}
		a := j.runScript("/p", "x", line)
		if a.sure != want || a.r.heavy {
			t.Errorf("%s: sure is %v, want %v", line, a.sure, want)
		}
	}
}

func TestMatchScript(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"a:*", "a:b", true}, {"a:*", "a:b:c", false}, {"a:**", "a:b:c", true},
		{"*", "a", true}, {"*", "a:b", false}, {"a:*:c", "a:b:c", true}, {"a*", "abc", true}, {"**", "a:b", true}, {"a:*", "a", false},
	} {
		if got := matchScript(tt.pattern, tt.name); got != tt.want {
			t.Errorf("%s on %s: got %v", tt.pattern, tt.name, got)
		}
	}
}
