package lighten

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headroomd/headroomd/classifier"
)

// seeds have one of each kind of place where a line may be rewritten.
var seeds = []string{
	"make -j8", "make -j$(nproc) && ninja", `bash -lc "cd x && make -j8"`, "sudo bash -c 'sh -c \"make -j8\"'",
	"bash <<'EOF'\nmake -j8\nEOF", "bash <<EOF\nmake -j8\nEOF", "bash <<-EOF\n\tmake -j8\n\tEOF", "echo `make -j8 \\`nproc\\``",
	`export NODE_OPTIONS="--max-old-space-size=4096"; npm run build`, "NODE_OPTIONS= npm t", "NODE_OPTIONS=--x npm t",
	"PYTEST_ADDOPTS='-n auto' python -mpytest", "env -i MAKEFLAGS='-j 8 -k' make", "npx jest@29 --ci -w 50%",
	"yarn workspace a vitest run --maxWorkers=4", "pnpm -r --workspace-concurrency=9 build", "npx mocha -p a",
	"J=$(nproc); make -j$((J*2))", "f() { make -j8; }; f", "for i in 1 2; do cargo test -- -j8; done", "go test -C x -p=8 ./...",
	"find . -exec xz -9eT0 {} \\;", "ls | xargs -P8 gcc", "watch make -j8", "hyperfine 'npm test' \"make -j8\"", "dotnet build -m",
	"mvn -T 1C package", "npx turbo run build", "nx affected -t test --parallel", "eval \"make -j8\"", "coproc make -j8",
	"make \\\n -j8 # all", "cat <<A; make -j8\n$(make -j9)\nA", "{ make -j8; } 2>&1 | tee x", "a=(make -j8); [[ -n $(make -j3) ]]",
	"cmake -G Ninja . && cmake --build . -- -j", "make -j'8' \"-j9\" -j\\8", "MAKEFLAGS+=-j8 make", "timeout 5 make -j ${J:-8}",
}

// FuzzLine: a rewritten line parses, is judged as before, differs only where it
// says so, and is not rewritten again.
func FuzzLine(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	set := classifier.Builtin()
	o := small
	o.Script = func(_, _, _ string) (string, bool) { return "jest", true }
	f.Fuzz(func(t *testing.T, line string) {
		start := time.Now()
		got := Line(set, line, o)
		if d := time.Since(start); d > time.Second+time.Duration(len(line))*50*time.Microsecond {
			t.Errorf("took %v for %d bytes", d, len(line))
		}
		if len(got.Edits) == 0 {
			if got.Line != line || got.Changes != nil {
				t.Errorf("%q became %q (%q) without an edit", line, got.Line, got.Changes)
			}
			return
		}
		var b strings.Builder
		at := 0
		for _, e := range got.Edits {
			if e.Start < at || e.End < e.Start || e.End > len(line) {
				t.Fatalf("%q: edits %v", line, got.Edits)
			}
			b.WriteString(line[at:e.Start] + e.Text)
			at = e.End
		}
		b.WriteString(line[at:])
		if b.String() != got.Line {
			t.Errorf("%q: %v make %q, not %q", line, got.Edits, b.String(), got.Line)
		}
		before, after := set.Line(line), set.Line(got.Line)
		if !after.Parsed || after.Class != before.Class {
			t.Errorf("%q became %q: %s became %s, parsed %v", line, got.Line, before.Class, after.Class, after.Parsed)
		}
		if again := Line(set, got.Line, o); again.Line != got.Line {
			t.Errorf("%q became %q, then %q", line, got.Line, again.Line)
		}
	})
}

func FuzzArgv(f *testing.F) {
	for _, s := range seeds {
		f.Add(strings.Join(strings.Fields(s), "\x00"))
	}
	f.Add("bash\x00-c\x00make -j8")
	f.Add("env\x00NODE_OPTIONS=--max-old-space-size=9999\x00npm\x00t")
	set := classifier.Builtin()
	f.Fuzz(func(t *testing.T, words string) {
		argv := strings.Split(words, "\x00")
		given := slices.Clone(argv)
		got, changes := Argv(set, argv, small)
		if !slices.Equal(argv, given) {
			t.Errorf("%q was written to: %q", given, argv)
		}
		if changes == nil {
			if !slices.Equal(got, given) {
				t.Errorf("%q became %q without a change", given, got)
			}
			return
		}
		if a, b := set.Argv(classifier.Command{Argv: given}), set.Argv(classifier.Command{Argv: got}); a.Class != b.Class {
			t.Errorf("%q became %q: %s became %s", given, got, a.Class, b.Class)
		}
	})
}

// A hostile line costs no more than its length allows. One that no shell can be
// given is not looked at.
func TestLongLines(t *testing.T) {
	const size = maxLine - 16
	for name, line := range map[string]string{
		"makes":        "make -j8;" + strings.Repeat("make -j8;", size/9-1),
		"words":        "make " + strings.Repeat("-j8 ", size/4-2),
		"nested":       strings.Repeat("bash -c 'make -j8';", size/19),
		"assignments":  strings.Repeat("A=1 ", size/4-3) + "make -j8",
		"substitution": strings.Repeat("make -j$(nproc);", size/16),
		"arithmetic":   "make -j$((" + strings.Repeat("1+", 9000) + "1))",
		"variables":    strings.Repeat("A=$A$A;", size/7-2) + "make -j$A",
		"too long":     strings.Repeat("make -j8;", maxLine/9+1),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			got := Line(classifier.Builtin(), line, small)
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("took %v", d)
			}
			if name == "too long" && got.Line != line {
				t.Error("rewritten")
			}
		})
	}
}

// BenchmarkLine is one line of about 100 characters with two rewrites.
func BenchmarkLine(b *testing.B) {
	const line = `cd pyapp && source .venv/bin/activate && CI=1 timeout 120 python -m pytest -q -n 4 tests/unit 2>&1 | tail -5`
	set := classifier.Builtin()
	b.ReportAllocs()
	for b.Loop() {
		if Line(set, line, small).Changes == nil {
			b.Fatal("not rewritten")
		}
	}
}

// BenchmarkLight is what a light line costs: its judgement.
func BenchmarkLight(b *testing.B) {
	set := classifier.Builtin()
	b.ReportAllocs()
	for b.Loop() {
		Line(set, `cd web && ls -l src | grep -v node_modules > list.txt`, small)
	}
}
