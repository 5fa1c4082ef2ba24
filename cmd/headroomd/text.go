package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/headroomd/headroomd/governor/journal"
)

// columns is the width that all text is written for: the console of a machine
// without a desktop, and what is left of a split terminal.
const columns = 80

// field writes a named value whose further lines stand below its first one.
func field(w io.Writer, name, value string) {
	const indent = 13
	head := fmt.Sprintf("  %-*s", indent-2, name)
	for _, line := range wrap(value, columns-indent) {
		fmt.Fprintln(w, head+line)
		head = strings.Repeat(" ", indent)
	}
}

// wrap breaks s at blanks into lines of at most width columns. A word that is
// longer has a line of its own and is left whole: it may be a path to copy.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		word = journal.Escape(word, 4096)
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

// age is a duration as people say it, in at most seven columns.
func age(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm %ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh %dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd %dh", int(d.Hours())/24, int(d.Hours())%24)
}

// megabytes is a size in MB, "?" for one that is not known (-1).
func megabytes(mb int64) string {
	if mb < 0 {
		return "?"
	}
	return strconv.FormatInt(mb, 10)
}
