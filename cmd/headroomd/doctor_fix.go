package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/governor/doctor"
	"github.com/headroomd/headroomd/governor/journal"
)

// fixMachine makes the edits that the checks name, after they were shown and
// agreed to. What is left to be done is said and not done.
func fixMachine(cmd *cobra.Command, f doctorFlags, checks []doctor.Check) error {
	w, root := cmd.OutOrStdout(), f.root
	if root == "" {
		root = "/"
	}
	edits := doctor.Edits(checks)
	if len(edits) == 0 {
		fmt.Fprintln(w, "\nNothing to fix: no check names an edit of a file.")
		return verdict(checks, nil)
	}
	var changes []doctor.Change
	for _, e := range edits {
		c, err := e.Change(root)
		if err != nil {
			return err
		}
		changes = append(changes, c)
		fmt.Fprintf(w, "\n%s would become:\n%s", c.Path, shownDiff(c.Diff()))
	}
	if !f.yes {
		if !isTerminal(os.Stdin) || !isTerminal(os.Stdout) {
			return usagef("doctor: --fix asks before it writes, and this is no terminal: nothing was changed; --yes answers for you")
		}
		fmt.Fprint(w, "\nMake this change? [y/N] ")
		answer, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
		if err != nil || !agrees(answer) {
			fmt.Fprintln(w, "Nothing was changed.")
			return errSaid
		}
	}
	fixed := map[string]bool{}
	for i, c := range changes {
		kept, err := c.Write(time.Now())
		if err != nil {
			if kept != "" {
				err = fmt.Errorf("%w (the file as it was is %s)", err, kept)
			}
			return err
		}
		fixed[edits[i].Path] = true
		fmt.Fprintf(w, "\n%s is changed. As it was, it is kept as\n%s\n", c.Path, kept)
		for _, command := range edits[i].After {
			fmt.Fprintf(w, "Now run this, without which it does not count:\n  $ %s\n", sudo(command))
		}
	}
	fmt.Fprintln(w, "It counts after a reboot.")
	return verdict(checks, fixed)
}

func sudo(command string) string {
	if os.Geteuid() == 0 {
		return command
	}
	return "sudo " + command
}

// verdict fails while a check fails that no edit has mended.
func verdict(checks []doctor.Check, fixed map[string]bool) error {
	for _, c := range checks {
		if c.State == doctor.Fail && (c.Fix == nil || !fixed[c.Fix.Path]) {
			return errSaid
		}
	}
	return nil
}

// shownDiff escapes what a file has that a terminal would act on.
func shownDiff(diff string) string {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		b.WriteString(journal.Escape(strings.TrimRight(line, "\r\n"), 8192))
		b.WriteByte('\n')
	}
	return b.String()
}

func agrees(answer string) bool {
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true
	}
	return false
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
