package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor/admission"
)

func TestExplainProcess(t *testing.T) {
	a, err := testExplainer(t).process(strconv.Itoa(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	if a.PID != os.Getpid() || a.Class != classifier.Light || !strings.Contains(a.Command, ".test") {
		t.Errorf("got pid %d, %s, %q", a.PID, a.Class, a.Command)
	}
}

// What the running jobs were promised is not promised again.
func TestExplainCapHeedsRunningJobs(t *testing.T) {
	e := testExplainer(t)
	alone := e.capNow()
	e = testExplainer(t)
	e.claims = func() []admission.Claim { return []admission.Claim{{PromiseMB: alone.MemoryMB / 2, UsedMB: 0}} }
	if beside := e.capNow(); beside.Why == alone.Why {
		t.Errorf("the same with a job beside it: %q", beside.Why)
	}
}

// An array is an array also when there is nothing in it: a script that goes
// through it must not meet a null.
func TestAnswerHasArrays(t *testing.T) {
	var b strings.Builder
	if err := encodeAnswer(&b, testExplainer(t).line("true; false")); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "null") {
		t.Errorf("a null in %s", b.String())
	}
}
