package vmtests

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// recorder stands in for a *testing.T: it writes down what a replay tells it,
// one line each, and may refuse to run subtests as the host's -run does.
type recorder struct {
	log  *[]string
	path string
	only string // the one subtest that runs; "" for all
}

func (r recorder) note(format string, args ...any) {
	*r.log = append(*r.log, strings.TrimSpace(r.path+" "+fmt.Sprintf(format, args...)))
}

func (r recorder) Run(name string, f func(T)) bool {
	if r.only != "" && name != r.only {
		return true
	}
	sub := recorder{log: r.log, path: strings.TrimPrefix(r.path+"/"+name, "/")}
	sub.note("run")
	f(sub)
	return true
}

func (r recorder) Errorf(format string, args ...any) { r.note("error: "+format, args...) }
func (r recorder) Output() io.Writer                 { return r }
func (r recorder) Write(p []byte) (int, error)       { r.note("says %q", p); return len(p), nil }

// events runs the real converter, so that the tests break when its format
// changes. ^V (0x16) is what -test.v=test2json marks its own lines with.
func events(t *testing.T, raw string) io.Reader {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "tool", "test2json")
	cmd.Stdin = untilExit(strings.NewReader(strings.ReplaceAll(raw, "^V", "\x16")))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go tool test2json: %v", err)
	}
	return bytes.NewReader(out)
}

func TestReplay(t *testing.T) {
	tests := []struct {
		name string
		raw  string
		only string
		want []string // tests asked for
		log  []string
	}{
		{
			name: "passes, nested, with output",
			raw: `^V=== RUN   TestA
^V=== RUN   TestA/one
    a_test.go:3: hello
^V--- PASS: TestA/one (0.10s)
^V=== NAME  TestA
^V--- PASS: TestA (0.10s)
^V=== NAME  
^V=== RUN   TestB
^V--- PASS: TestB (0.00s)
^VPASS
headroom-vmtests: exit 0
`,
			want: []string{"TestA", "TestB"},
			log:  []string{"TestA run", "TestA/one run", `TestA/one says "    a_test.go:3: hello\n"`, "TestB run"},
		},
		{
			name: "a failure and a skip are failures",
			raw: `^V=== RUN   TestA
    a_test.go:3: bad
^V--- FAIL: TestA (0.10s)
^V=== RUN   TestB
    a_test.go:9: not here
^V--- SKIP: TestB (0.00s)
^VFAIL
headroom-vmtests: exit 1
`,
			want: []string{"TestA", "TestB"},
			log: []string{"TestA run", `TestA says "    a_test.go:3: bad\n"`, "TestA error: failed in the guest",
				"TestB run", `TestB says "    a_test.go:9: not here\n"`,
				"TestB error: skipped in the guest, where nothing may be skipped"},
		},
		{
			name: "the guest dies within a subtest",
			raw: `^V=== RUN   TestA
^V=== RUN   TestA/one
    a_test.go:3: so far`,
			want: []string{"TestA", "TestB"},
			log: []string{"TestA run", "TestA/one run", `TestA/one says "    a_test.go:3: so far"`,
				"TestA/one error: the guest died or hung; console"},
		},
		{
			name: "the guest dies between two tests",
			raw: `^V=== RUN   TestA
^V--- PASS: TestA (0.00s)
`,
			want: []string{"TestA", "TestB"},
			// The converter keeps a verdict back until something follows it.
			log: []string{"TestA run", "TestA error: the guest died or hung; console"},
		},
		{
			name: "the test binary panics",
			raw: `^V=== RUN   TestA
panic: oh
headroom-vmtests: exit 2
`,
			want: []string{"TestA"},
			log: []string{"TestA run", `TestA says "panic: oh\n"`,
				"TestA error: the guest's test binary ended with status 2 before this test's verdict"},
		},
		{
			name: "a bad flag: no test, no failure, a status",
			raw:  "flag provided but not defined: -x\nheadroom-vmtests: exit 2\n",
			want: []string{"TestA"},
			log: []string{`says "flag provided but not defined: -x\n"`,
				"error: the guest's test binary ended with status 2 and no failed test",
				"error: TestA did not run in the guest"},
		},
		{
			name: "a test that was asked for and never came",
			raw: `^V=== RUN   TestA
^V--- PASS: TestA (0.00s)
^VPASS
headroom-vmtests: exit 0
`,
			want: []string{"TestA", "TestB"},
			log:  []string{"TestA run", "error: TestB did not run in the guest"},
		},
		{
			name: "the host shows one test of two",
			raw: `^V=== RUN   TestA
^V=== RUN   TestA/one
^V--- PASS: TestA/one (0.10s)
^V=== NAME  TestA
^V--- PASS: TestA (0.10s)
^V=== NAME  
^V=== RUN   TestB
^V--- PASS: TestB (0.00s)
^VPASS
headroom-vmtests: exit 0
`,
			only: "TestB",
			want: []string{"TestA", "TestB"},
			log:  []string{"TestB run"},
		},
		{
			name: "nothing at all",
			raw:  "",
			want: []string{"TestA"},
			log:  []string{"error: the guest died or hung; console"},
		},
		{
			name: "what is said after the last word is not ours",
			raw: `^V=== RUN   TestA
^V--- PASS: TestA (0.00s)
^VPASS
headroom-vmtests: exit 0
^V=== RUN   TestX
`,
			want: []string{"TestA"},
			log:  []string{"TestA run"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var log []string
			Replay(recorder{log: &log, only: tt.only}, events(t, tt.raw), tt.want, func() string { return "console" })
			if !slices.Equal(log, tt.log) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(log, "\n"), strings.Join(tt.log, "\n"))
			}
		})
	}
}

func TestReplayNotJSON(t *testing.T) {
	var log []string
	Replay(recorder{log: &log}, strings.NewReader("nonsense\n"), nil, func() string { return "console" })
	if len(log) != 1 || !strings.Contains(log[0], `event "nonsense"`) {
		t.Errorf("got %q, want one error that shows the line", log)
	}
}

func TestUntilExit(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	tests := []struct{ name, raw, want string }{
		{"ends at the last word", "a\n" + exitWord + "0\nb\n", "a\n" + exitWord + "0\n"},
		{"no last word", "a\nb", "a\nb"},
		{"long lines pass whole", long + "\n" + exitWord + "0\nb", long + "\n" + exitWord + "0\n"},
		{"inside a line it is not the last word", "x " + exitWord + "0\nb\n", "x " + exitWord + "0\nb\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := io.ReadAll(untilExit(strings.NewReader(tt.raw)))
			if err != nil || string(got) != tt.want {
				t.Errorf("got %d bytes, %v; want %d", len(got), err, len(tt.want))
			}
		})
	}
}

// TestReplayFailed: whatever has no verdict has not passed, be it that it
// failed, that the machine died before, or that something outside of it failed.
func TestReplayFailed(t *testing.T) {
	const passed = "^V=== RUN   TestA\n^V--- PASS: TestA (0.00s)\n"
	tests := []struct {
		name, raw string
		want      []string
	}{
		{"all pass", passed + "^V=== RUN   TestB\n^V--- PASS: TestB (0.00s)\n^VPASS\n" + exitWord + "0\n", nil},
		{"one fails", passed + "^V=== RUN   TestB\n^V--- FAIL: TestB (0.00s)\n^VFAIL\n" + exitWord + "1\n", []string{"TestB"}},
		{"the machine dies", passed + "^V=== RUN   TestB\n", []string{"TestB"}},
		{"one does not run", passed + "^VPASS\n" + exitWord + "0\n", []string{"TestB"}},
		{"the binary fails", passed + "^V=== RUN   TestB\n^V--- PASS: TestB (0.00s)\n^VPASS\n" + exitWord + "3\n", []string{"TestA", "TestB"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var log []string
			got := Replay(recorder{log: &log}, events(t, tt.raw), []string{"TestA", "TestB"}, func() string { return "console" })
			if !slices.Equal(got, tt.want) {
				t.Errorf("not passed are %q, want %q; said was %q", got, tt.want, log)
			}
		})
	}
}
