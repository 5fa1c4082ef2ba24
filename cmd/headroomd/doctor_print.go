package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/headroomd/headroomd/governor/doctor"
	"github.com/headroomd/headroomd/governor/journal"
)

// Columns of the checks: the state, the name, and what is said.
const (
	stateWidth = 8
	nameWidth  = 19
	saidAt     = stateWidth + nameWidth
)

// printChecks shows a check a line, and below what is not ok what follows from
// it and what to do. Commands stand whole on lines of their own, to be copied.
func printChecks(w io.Writer, checks []doctor.Check) {
	count := map[doctor.State]int{}
	for _, c := range checks {
		count[c.State]++
		head := fmt.Sprintf("%-*s%-*s ", stateWidth, stateWord(c.State), nameWidth-1, journal.Escape(c.Name, 60))
		said(w, head, c.Found)
		if c.Means != "" {
			said(w, fmt.Sprintf("%*s", saidAt, "so: "), c.Means)
		}
		if c.State == doctor.OK || c.State == doctor.NotApplicable {
			continue
		}
		if c.Remedy != "" {
			said(w, fmt.Sprintf("%*s", saidAt, "do: "), c.Remedy)
		}
		for _, command := range c.Commands {
			fmt.Fprintf(w, "%*s%s\n", saidAt, "$ ", journal.Escape(command, 4096))
		}
	}
	fmt.Fprintf(w, "\n%s, %s, %d ok", plural(count[doctor.Fail], "failure"), plural(count[doctor.Warn], "warning"), count[doctor.OK])
	if n := count[doctor.Unknown]; n > 0 {
		fmt.Fprintf(w, ", %d not known", n)
	}
	fmt.Fprintln(w)
}

// said writes a text behind a head of saidAt columns or more, folded.
func said(w io.Writer, head, text string) {
	for _, line := range wrap(text, columns-saidAt) {
		fmt.Fprintln(w, strings.TrimRight(head+line, " "))
		head = strings.Repeat(" ", saidAt)
	}
}

func stateWord(s doctor.State) string {
	switch s {
	case doctor.Fail:
		return "FAIL"
	case doctor.NotApplicable:
		return "n/a"
	}
	return string(s)
}
