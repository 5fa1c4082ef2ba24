package vmtests

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// T is what Replay asks of a test: *testing.T through hostT, and a recorder in
// this package's own tests.
type T interface {
	Run(name string, f func(T)) bool
	Errorf(format string, args ...any)
	Output() io.Writer
}

// event is one line of `go tool test2json` (see go doc test2json).
type event struct {
	Action string
	Test   string
	Output string
}

// exitWord precedes the test binary's exit status, the last line of a guest
// that was not cut off.
const exitWord = "headroom-vmtests: exit "

// Replay reads a stream of test2json events and gives each test of it a subtest
// with its output. It runs while the stream is written, so that `go test -v`
// shows a guest test when it happens. Guest tests share one machine and are
// never parallel, so each event belongs to the test begun last.
//
// The tests named in want must all come to a verdict. A skip is a failure: a
// guest has all that its tests need. lastWords is called for what to show when
// the stream ends too early. It returns those of want that did not pass.
func Replay(t T, events io.Reader, want []string, lastWords func() string) []string {
	r := &replay{scan: bufio.NewScanner(events), judged: map[string]bool{}, passed: map[string]bool{}, lastWords: lastWords}
	r.scan.Buffer(nil, 1<<20)
	r.level(t, "")
	if r.exit != "" && r.exit != "0" && !r.failed {
		t.Errorf("the guest's test binary ended with status %s and no failed test", r.exit)
	}
	for _, name := range want {
		if !r.judged[name] && !r.dead {
			t.Errorf("%s did not run in the guest", name)
		}
	}
	failed := slices.DeleteFunc(slices.Clone(want), func(name string) bool { return r.passed[name] })
	if len(failed) == 0 && r.exit != "0" {
		return want // something outside of them
	}
	return failed
}

type replay struct {
	scan      *bufio.Scanner
	judged    map[string]bool
	passed    map[string]bool
	lastWords func() string
	exit      string // "" until the guest has told it
	failed    bool
	dead      bool // the early end of the stream has been reported
}

// level handles the events of one test until its verdict; "" is the whole run,
// which ends with the stream.
func (r *replay) level(t T, test string) {
	for {
		e, err := r.next()
		if err != nil {
			r.end(t, test, err)
			return
		}
		switch {
		case e.Action == "run" && strings.HasPrefix(e.Test, prefix(test)) && e.Test != test:
			replayed := false
			t.Run(strings.TrimPrefix(e.Test, prefix(test)), func(t T) {
				replayed = true
				r.level(t, e.Test)
			})
			if !replayed { // filtered out by the host's -run
				r.skim(e.Test)
			}
		case e.Action == "output":
			r.output(t, e.Output)
		case e.Test != test || test == "":
		case e.Action == "pass":
			r.judged[test], r.passed[test] = true, true
			return
		case e.Action == "fail":
			r.judged[test], r.failed = true, true
			t.Errorf("failed in the guest")
			return
		case e.Action == "skip":
			r.judged[test], r.failed = true, true
			t.Errorf("skipped in the guest, where nothing may be skipped")
			return
		}
	}
}

// skim reads over a test that the host was told not to show.
func (r *replay) skim(test string) {
	for {
		e, err := r.next()
		if err != nil {
			return
		}
		if e.Test == test && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip") {
			r.judged[test], r.passed[test] = true, e.Action == "pass"
			return
		}
	}
}

func (r *replay) end(t T, test string, err error) {
	if r.dead || test == "" && r.exit != "" && errors.Is(err, io.EOF) {
		return
	}
	r.dead, r.failed = true, true
	switch {
	case !errors.Is(err, io.EOF):
		t.Errorf("read the guest's results: %v", err)
	case r.exit != "":
		t.Errorf("the guest's test binary ended with status %s before this test's verdict", r.exit)
	default:
		t.Errorf("the guest died or hung; %s", r.lastWords())
	}
}

// output passes a line on, without the words that the host's own `go test`
// prints for the subtest.
func (r *replay) output(t T, line string) {
	if status, ok := strings.CutPrefix(line, exitWord); ok {
		r.exit = strings.TrimSpace(status)
		return
	}
	switch strings.TrimSpace(line) {
	case "PASS", "FAIL", "":
		return
	}
	for _, noise := range []string{"=== RUN", "=== NAME", "--- PASS", "--- FAIL", "--- SKIP"} {
		if strings.HasPrefix(strings.TrimLeft(line, " "), noise) {
			return
		}
	}
	io.WriteString(t.Output(), line)
}

func (r *replay) next() (event, error) {
	if !r.scan.Scan() {
		if err := r.scan.Err(); err != nil {
			return event{}, err
		}
		return event{}, io.EOF
	}
	var e event
	if err := json.Unmarshal(r.scan.Bytes(), &e); err != nil {
		return event{}, fmt.Errorf("event %q: %w", r.scan.Text(), err)
	}
	return e, nil
}

func prefix(test string) string {
	if test == "" {
		return ""
	}
	return test + "/"
}
