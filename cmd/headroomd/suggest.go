package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// meant asks for the first of the suggestions; "" when there is none.
func meant(suggestions []string) string {
	if len(suggestions) == 0 {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", suggestions[0])
}

// nearestFlag is the known flag that is nearest to name.
func nearestFlag(cmd *cobra.Command, name string) []string {
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	found := nearest(name, known)
	for i := range found {
		found[i] = "--" + found[i]
	}
	return found
}

// nearest is the known word that fewest edits make of word: at most two, as
// with cobra's commands, or any that it begins or is the beginning of.
func nearest(word string, known []string) []string {
	best, found := 3, ""
	for _, k := range known {
		d := edits(word, k)
		if len(word) > 1 && (strings.HasPrefix(k, word) || strings.HasPrefix(word, k)) {
			d = min(d, 1)
		}
		if d < best {
			best, found = d, k
		}
	}
	if found == "" {
		return nil
	}
	return []string{found}
}

// edits is the Levenshtein distance of two words, by bytes: flags are ASCII.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
