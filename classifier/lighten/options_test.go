package lighten

import (
	"testing"

	"github.com/headroomd/headroomd/classifier"
)

func TestWorkers(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cpus  int
		capMB int64
		want  int
	}{
		{"one job of a 1 GB Pi", 4, 400, 1},
		{"two fit", 4, 690, 2},
		{"no more than CPUs", 2, 6000, 2},
		{"a workstation", 16, 16000, 16},
		{"little memory", 4, 64, 1},
		{"unknown memory", 4, -1, 1},
		{"unknown CPUs", 0, 4000, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Workers(tt.cpus, tt.capMB); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestHeapMB(t *testing.T) {
	for capMB, want := range map[int64]int{-1: 0, 0: 0, 690: 483, 4000: 2800, 32000: 0} {
		if got := HeapMB(capMB); got != want {
			t.Errorf("HeapMB(%d) = %d, want %d", capMB, got, want)
		}
	}
}

func env(pairs map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := pairs[name]
		return v, ok
	}
}

// What the environment says already is heeded, and what it says smaller stays.
func TestEnvironment(t *testing.T) {
	o := small
	o.Env = env(map[string]string{
		"NODE_OPTIONS": "--openssl-legacy-provider", "MAKEFLAGS": "-j8", "PYTEST_ADDOPTS": "-n auto",
		"CARGO_BUILD_JOBS": "1", "CMAKE_BUILD_PARALLEL_LEVEL": "1", "CMAKE_GENERATOR": "Ninja", "GOFLAGS": "-mod=mod -p=1", "XZ_OPT": "-T1",
	})
	testLines(t, o, []lineTest{
		{"merged", "npm test", "NODE_OPTIONS='--openssl-legacy-provider --max-old-space-size=483' npm test"},
		{"merged inside a quote", "bash -c 'npm test'", `bash -c 'NODE_OPTIONS="--openssl-legacy-provider --max-old-space-size=483" npm test'`},
		{"make", "make all", "make -j2 all"},
		{"make says so itself", "make -j1", ""},
		{"make of the line", "MAKEFLAGS= make", ""},
		{"pytest", "pytest -q", "pytest -n 0 -q"},
		{"cargo", "cargo build", ""},
		{"cmake", "cmake --build b", ""},
		{"go", "go build ./...", ""},
		{"xz", "xz -9 a", ""},
	})
	o.Env = env(map[string]string{"NODE_OPTIONS": "--max-old-space-size=256", "CMAKE_GENERATOR": "Ninja"})
	testLines(t, o, []lineTest{
		{"smaller heap", "npm test", ""},
		{"ninja by the environment", "cmake --build b", "cmake --build b -j2"},
	})
	o.Env = env(map[string]string{"NODE_OPTIONS": "--max-old-space-size=4096 --no-warnings"})
	testLines(t, o, []lineTest{
		{"larger heap", "npm test", "NODE_OPTIONS='--max-old-space-size=483 --no-warnings' npm test"},
		{"there is no quote left", `bash -c "sh -c 'npm test'"`, ""},
		{"no quote is left, but a worker", `bash -c "sh -c 'npx jest'"`, `bash -c "sh -c 'npx jest --runInBand'"`},
	})
}

func TestOneWorker(t *testing.T) {
	o := Options{CPUs: 4, CapMB: 400}
	testLines(t, o, []lineTest{
		{"unknown number", "make -j$JOBS", "make -j1"},
		{"unknown number apart", `make -j "$JOBS"`, "make -j 1"},
		{"cmake", "cmake --build build --target all", "cmake --build build -j1 --target all"},
		{"half of the CPUs", "make -j$(( $(nproc) / 2 ))", "make -j1"},
	})
}

func TestUnknownMachine(t *testing.T) {
	testLines(t, Options{}, []lineTest{
		{"no heap", "npm test", ""},
		{"one worker", "make -j8", "make -j1"},
		{"nproc", "make -j$(nproc)", "make -j1"},
	})
	got := Line(classifier.Builtin(), "make -j8", Options{}).Changes
	if len(got) != 1 || got[0] != "make: -j8 → -j1 (the machine's size is not known)" {
		t.Errorf("got %q", got)
	}
}

// On a large machine there is little to do, and nothing is made heavier.
func TestLargeMachine(t *testing.T) {
	testLines(t, Options{CPUs: 16, CapMB: 32000}, []lineTest{
		{"make", "make -j16", ""},
		{"unbounded make", "make -j", "make -j16"},
		{"cargo", "cargo build", ""},
		{"heap", "npm ci", "NODE_OPTIONS=--max-old-space-size=4096 npm ci"},
		{"larger heap", "NODE_OPTIONS=--max-old-space-size=8192 npm ci", ""},
		{"turbo", "npx turbo run build", "NODE_OPTIONS=--max-old-space-size=4096 npx turbo run --concurrency=16 build"},
	})
}

func TestLargeHeapIsSaid(t *testing.T) {
	got := Line(classifier.Builtin(), "npm ci", Options{CPUs: 16, CapMB: 32000}).Changes
	want := "NODE_OPTIONS: --max-old-space-size=4096 added (Node's own limit on a large machine, below 70 % of 32000 MB)"
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestXdist(t *testing.T) {
	o := small
	o.Xdist = true
	testLines(t, o, []lineTest{
		{"by its settings", "pytest -q", "pytest -n 0 -q"},
		{"by its module", "python3 -m pytest -q", "python3 -m pytest -n 0 -q"},
		{"none already", "pytest -n0", ""},
	})
}
