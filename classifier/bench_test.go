package classifier

import (
	"runtime"
	"strings"
	"testing"
)

// BenchmarkArgv is the mean over the recorded execs: the target is 2 µs.
func BenchmarkArgv(b *testing.B) {
	s := Builtin()
	var cs []Command
	for _, r := range argvCorpus(b) {
		cs = append(cs, Command{Argv: r.Argv, Exe: r.Exe, Comm: r.Comm})
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Argv(cs[i%len(cs)])
	}
}

const line100 = `cd pyapp && source .venv/bin/activate && CI=1 timeout 120 python -m pytest -q tests/unit 2>&1 | tail -5`

// BenchmarkLine is one line of about 100 characters, for which the target is 25
// µs, and longer ones of the same: the time a byte must not grow.
func BenchmarkLine(b *testing.B) {
	s := Builtin()
	for _, size := range []struct {
		name string
		n    int
	}{{"100B", 1}, {"10KB", 100}, {"1MB", 10_000}} {
		line := strings.Repeat(line100+"\n", size.n)
		b.Run(size.name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				s.Line(line)
			}
		})
	}
}

// BenchmarkScript is `npm test` with a look into package.json.
func BenchmarkScript(b *testing.B) {
	s := Builtin()
	c := Command{Argv: []string{"node", "/usr/bin/npm", "run", "check"}, Exe: "/usr/bin/node", Cwd: "/p", Files: project1}
	b.ReportAllocs()
	for b.Loop() {
		s.Argv(c)
	}
}

// BenchmarkLineCorpus is the mean over the corpus of lines.
func BenchmarkLineCorpus(b *testing.B) {
	s := Builtin()
	rows := lineCorpus(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Line(rows[i%len(rows)].line)
	}
}

// TestLightAllocations keeps the hot path lean: most execs are light.
func TestLightAllocations(t *testing.T) {
	s := Builtin()
	for name, c := range map[string]Command{
		"unknown program": command("/usr/bin/ls", "ls -la"),
		"plain script":    command("/usr/bin/node", "node server.js"),
		"light use":       command("/usr/bin/make", "make -n"),
		"shell line":      command("/usr/bin/dash", "sh", "-c", "ls | wc -l"),
		"title":           command("/usr/bin/docker", "docker ps"),
	} {
		if got := testing.AllocsPerRun(100, func() { s.Argv(c) }); got > 2 {
			t.Errorf("%s: %v allocations, want at most 2", name, got)
		}
	}
}

// TestLinear compares work that no busy machine changes: a line ten times as
// long makes ten times the garbage.
func TestLinear(t *testing.T) {
	s := Builtin()
	bytes := func(n int) float64 {
		line := strings.Repeat(line100+"\n", n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.Line(line)
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	bytes(10)
	if small, large := bytes(100), bytes(1000); large > 12*small {
		t.Errorf("10 KB make %.0f bytes of garbage, 100 KB %.0f", small, large)
	}
}

// TestHeap bounds what the compiled rules keep in memory: the daemon lives on
// machines of 512 MB.
func TestHeap(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s, err := load(nil)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	kb := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / 1024
	t.Logf("the compiled rules keep %d KB: %d rules, %d programs", kb, len(s.rules), len(s.programs))
	if kb > 2048 {
		t.Errorf("the compiled rules keep %d KB, want at most 2 MB", kb)
	}
	runtime.KeepAlive(s)
}
