package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor/journal"
)

// printAnswer is an answer for a person.
func printAnswer(w io.Writer, a answer) error {
	fmt.Fprintf(w, "%s: %s\n\n", a.Class, journal.Escape(a.Command, columns-8))
	if a.PID > 0 && a.Cgroup != "" {
		field(w, "runs in", a.Cgroup)
	}
	if len(a.Commands) > 1 {
		for _, c := range a.Commands {
			field(w, string(c.Class), strings.Join(c.Words, " "))
		}
		fmt.Fprintln(w)
	}
	if a.Rule != "" {
		rule := a.Rule
		if a.Family != "" {
			rule += ", family " + a.Family
		}
		if a.Source != "" {
			rule += " (" + a.Source + ")"
		}
		field(w, "rule", rule)
	}
	if a.Matched != "" {
		field(w, "matched", a.Matched)
	}
	if a.Reason != "" {
		field(w, "why", a.Reason)
	}
	if a.Class == classifier.Heavy {
		printHeavy(w, a)
	}
	for i, step := range a.Trace {
		name := ""
		if i == 0 {
			name = "steps"
		}
		field(w, name, fmt.Sprintf("%d. %s", i+1, step))
	}
	return nil
}

func printHeavy(w io.Writer, a answer) {
	if a.WeightMB > 0 {
		field(w, "takes", fmt.Sprintf("typically %d MB", a.WeightMB))
	}
	if len(a.Commands) == 0 {
		captured := "this process gets a scope of its own"
		if !a.Capture {
			captured = "not this process; the heavy commands that it starts are, one by one"
		}
		field(w, "caught", captured)
	}
	if c := a.Cap; c != nil {
		field(w, "cap now", fmt.Sprintf("%d MB and %s: %s", c.MemoryMB, swapWords(c.SwapMB), c.Why))
	}
	if l := a.Lightened; l != nil && len(l.Changes) > 0 {
		field(w, "lighter", l.Command)
		name := "changes"
		for _, change := range l.Changes {
			field(w, name, change)
			name = ""
		}
	}
	if a.Remedy != "" {
		field(w, "too big?", a.Remedy)
	}
}

// printAnswerLine is an answer in one line, in columns that cut and awk split
// at tabs: class, family, rule, command. "-" stands for none.
func printAnswerLine(w io.Writer, a answer) error {
	class := string(a.Class)
	if a.Error != "" {
		class = "error"
	}
	_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", class, orDash(a.Family), orDash(a.Rule), journal.Escape(a.Command, 4096))
	return err
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return journal.Escape(s, 60)
}
