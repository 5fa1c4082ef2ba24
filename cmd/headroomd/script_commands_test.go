package main

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/control"
	"github.com/headroomd/headroomd/governor/journal"
)

// exitCode is "exitcode N PROGRAM ARG...": the program must end with N. What
// it wrote is then in stdout and stderr, as with exec.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// widthOf is "width N FILE": no line of the file is longer than N columns.
func widthOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: width N FILE")
	}
	limit, err := strconv.Atoi(args[0])
	ts.Check(err)
	for i, line := range strings.Split(ts.ReadFile(args[1]), "\n") {
		if n := utf8.RuneCountInString(line); n > limit {
			ts.Fatalf("line %d has %d columns, want at most %d: %q", i+1, n, limit, line)
		}
	}
}

// fixedState answers with one snapshot.
type fixedState governor.Snapshot

func (s fixedState) Snapshot(context.Context) (governor.Snapshot, error) {
	return governor.Snapshot(s), nil
}

// fakeGovernor is "governor SOCKET SNAPSHOT [RECORDS]": from now on a control
// server at the socket gives the snapshot in the one file and the records, a
// JSON object a line, of the other.
func fakeGovernor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: governor SOCKET SNAPSHOT [RECORDS]")
	}
	var s governor.Snapshot
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &s))
	j := journal.New(journal.Options{})
	if len(args) == 3 {
		for line := range strings.Lines(ts.ReadFile(args[2])) {
			var r journal.Record
			ts.Check(json.Unmarshal([]byte(line), &r))
			j.Add(r)
		}
	}
	server := control.NewServer(ts.MkAbs(args[0]), fixedState(s), j, nil)
	serveUntilTheEnd(ts, server)
}
