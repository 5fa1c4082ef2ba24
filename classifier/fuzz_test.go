package classifier

import (
	"strings"
	"testing"
	"time"
)

// The words of a process are hostile: whatever they are, there is an answer, in
// a time that the length bounds.

func FuzzArgv(f *testing.F) {
	for i, r := range argvCorpus(f) {
		if i%8 == 0 {
			f.Add(strings.Join(r.Argv, "\x00"), r.Exe)
		}
	}
	f.Add("npm exec \x00", "")
	f.Add("tar\x00\x00-", "tar")
	f.Add("make\x00-\x00--\x00-C", "make")
	f.Add("env\x00-S\x00env -S env", "/usr/bin/env")
	f.Fuzz(func(t *testing.T, argv, exe string) {
		c := Command{Argv: strings.Split(argv, "\x00"), Exe: exe}
		start := time.Now()
		got := Builtin().Argv(c)
		if d := time.Since(start); d > time.Second+time.Duration(len(argv))*20*time.Microsecond {
			t.Errorf("took %v for %d bytes", d, len(argv))
		}
		long := Builtin().ExplainArgv(c)
		if got.Class != long.Class || got.Capture != long.Capture || got.Rule != long.Rule {
			t.Errorf("Argv says %+v, ExplainArgv %+v", got, long)
		}
		if got.Capture && got.Class != Heavy {
			t.Error("light, but captured")
		}
	})
}

func FuzzLine(f *testing.F) {
	for i, r := range lineCorpus(f) {
		if i%16 == 0 {
			f.Add(r.line)
		}
	}
	f.Add("eval eval 'eval make'")
	f.Add("f() { f; f; }; f")
	f.Add("$(((((")
	f.Add("cat <<A <<B\nA\nB")
	f.Fuzz(func(t *testing.T, line string) {
		start := time.Now()
		got := Builtin().Line(line)
		if d := time.Since(start); d > time.Second+time.Duration(len(line))*20*time.Microsecond {
			t.Errorf("took %v for %d bytes", d, len(line))
		}
		if got.Class != Light && got.Class != Heavy || len(got.Trace) == 0 {
			t.Errorf("no answer: %+v", got)
		}
	})
}

func FuzzPackageJSON(f *testing.F) {
	f.Add(`{"scripts": {"test": "npm run test:a && npm run test:b", "test:a": "tsc", "pretest": "npm test"}}`, "npm test")
	f.Add(`{"scripts": {"a": "run-s b:* -- x", "b:c": "concurrently 'npm:a' \"yarn b:c\""}}`, "cd x; npm -C .. run a -- $X --y='z'")
	f.Add("\ufeff{\"scripts\":{\"test\":\"\\u0000`$(\"}}", "(cd /; yarn test) | bun run test || node --run test")
	f.Add(`{"scripts": {"": "x", "*": "run-p **", "pre*": "bun *"}}`, "run-p '*' '' '**:*' && pnpm '*'")
	f.Fuzz(func(t *testing.T, text, line string) {
		files := mapFiles{files: map[string]string{"/p/package.json": text, "/package.json": text}}
		start := time.Now()
		got := Builtin().LineIn(line, "/p", files)
		if d := time.Since(start); d > time.Second+time.Duration(len(line)+len(text))*20*time.Microsecond {
			t.Errorf("took %v for %d bytes", d, len(line)+len(text))
		}
		if got.Class != Light && got.Class != Heavy || len(got.Trace) == 0 {
			t.Errorf("no answer: %+v", got)
		}
		argv := Builtin().Argv(Command{Argv: strings.Fields(line), Cwd: "/p", Files: files})
		if argv.Capture && argv.Class != Heavy {
			t.Error("light, but captured")
		}
	})
}

// Long hostile lines and argument lists are answered in a time and a memory
// that their length bounds. The kernel gives no argument over 128 KB.
func TestLongInput(t *testing.T) {
	const mb = 1 << 18 // of each; of some below four times that
	inputs := map[string]string{
		"openers":     strings.Repeat("(", mb),
		"commands":    strings.Repeat("a;", mb/2),
		"makes":       strings.Repeat("make;", mb/5),
		"pipes":       strings.Repeat("a|", mb/2) + "a",
		"quotes":      strings.Repeat("'a'", mb/3),
		"words":       strings.Repeat("make ", mb/5),
		"ifs":         strings.Repeat("if ", mb/3),
		"backticks":   strings.Repeat("`", mb),
		"dollars":     strings.Repeat("$(", mb/2),
		"one word":    strings.Repeat("a", mb),
		"evals":       strings.Repeat("eval ", mb/5),
		"functions":   strings.Repeat("f(){ f;};f;", mb/11),
		"newlines":    strings.Repeat("\n", mb),
		"ands":        strings.Repeat("a&&", mb/3) + "a",
		"here":        strings.Repeat("<<a ", mb/4),
		"assignments": strings.Repeat("A=1 ", mb/4),
		"doubling":    strings.Repeat("A=$A$A;", mb/7),
		"negations":   strings.Repeat("! ", mb/2),
		"braces":      strings.Repeat("${", mb/2),
		"arithmetic":  "$((" + strings.Repeat("1+", mb/2),
		"unary":       "$((" + strings.Repeat("-", mb),
		"tests":       "[[ " + strings.Repeat("-n ", mb/3),
		"elifs":       "if a; then b; " + strings.Repeat("elif a; then b; ", mb/16) + "fi",
		"commas":      "$((" + strings.Repeat("1,", mb/2) + "1))",
		"ternaries":   "$((" + strings.Repeat("1?", mb/2),
		"tildes":      "$((" + strings.Repeat("~", mb),
		"subscripts":  "a[" + strings.Repeat("1=", mb/2) + "1]=2",
		"dquotes":     strings.Repeat(`"$(`, mb/3),
		"hostile":     strings.Repeat("bash -c 'bash -c \"", mb/18),
		"variables":   "a='" + strings.Repeat("make ", 200) + "';" + strings.Repeat("$a;", mb/3),
		"heredocs":    strings.Repeat("sh <<a\nmake\na\n", mb/14),
		"herestrings": strings.Repeat("sh <<<'make';", mb/13),
		"line":        "sh -c '" + strings.Repeat("sh -c make;", mb/11) + "'",
		"lines":       "hyperfine " + strings.Repeat("'make -n' ", mb/10),
		"carriers":    strings.Repeat("sudo ", mb/5) + "make",
		"options":     "docker exec " + strings.Repeat("-a ", mb/3),
		"scripts":     strings.Repeat("npm t;", mb/6),
		"moves":       strings.Repeat("cd a;npm t;", mb/11),
		"not UTF-8":   strings.Repeat("\xff\x00", mb/2),

		"1 MB of openers":  strings.Repeat("(", 4*mb),
		"1 MB of $(":       strings.Repeat("$(", 2*mb),
		"1 MB of doubling": strings.Repeat("a=$a$a;", 4*mb/7),
		"1 MB of quotes":   strings.Repeat(`'"`, 2*mb),
		"1 MB of words":    strings.Repeat("make tests ", 4*mb/11),
		"one of 1 MB":      strings.Repeat("a", 4*mb),
	}
	const limit = time.Minute // the slowest takes 0.3 s, or 3 s with the race detector on a busy machine
	for name, line := range inputs {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			Builtin().LineIn(line, "/p", project1)
			if d := time.Since(start); d > limit {
				t.Errorf("Line took %v", d)
			}
			start = time.Now()
			Builtin().Argv(Command{Argv: []string{"sh", "-c", line}})
			Builtin().Argv(Command{Argv: append([]string{"gcc"}, strings.Fields(line)...)})
			Builtin().Argv(Command{Argv: []string{"npm", "run", line, line}, Cwd: "/p", Files: project1})
			Builtin().Argv(Command{Argv: []string{line, line}, Exe: line})
			if d := time.Since(start); d > limit {
				t.Errorf("Argv took %v", d)
			}
		})
	}
}
