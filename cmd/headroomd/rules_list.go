package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor/journal"
)

func newRulesListCommand() *cobra.Command {
	var f rulesFlags
	var asJSON bool
	var family string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the rules in force, in the order in which they are tried",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := rulesAt(f.config, f.rules, "")
			if err != nil {
				return err
			}
			if known := r.set.Families(); family != "" && !slices.Contains(known, family) {
				return usagef("rules list: unknown family %q; the families are %s", family, strings.Join(known, ", "))
			}
			tellFaults(cmd.ErrOrStderr(), r.faults)
			if asJSON {
				return encodeRules(cmd.OutOrStdout(), r.set, family)
			}
			printRules(cmd.OutOrStdout(), r.set, family)
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a rule")
	cmd.Flags().StringVar(&family, "family", "", "only the rules of the `FAMILY`")
	return cmd
}

// encodeRules writes a JSON object a line; "disabled_by" is on those that are
// switched off.
func encodeRules(w io.Writer, set *classifier.Set, family string) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, r := range set.Rules() {
		if family != "" && r.Family != family {
			continue
		}
		if err := enc.Encode(r); err != nil {
			return fmt.Errorf("write a rule: %w", err)
		}
	}
	for _, r := range set.Disabled() {
		if family != "" && r.Family != family {
			continue
		}
		if err := enc.Encode(r); err != nil {
			return fmt.Errorf("write a rule: %w", err)
		}
	}
	return nil
}

// printRules shows a row for each rule, below the name of its file: with file
// and line in each row there would be no room for the programs.
func printRules(w io.Writer, set *classifier.Set, family string) {
	header, shown, own := "", 0, 0
	for _, r := range set.Rules() {
		if family != "" && r.Family != family {
			continue
		}
		file, line := cutLine(r.Source)
		if file != header {
			if header != "" {
				fmt.Fprintln(w)
			}
			header = file
			fmt.Fprintf(w, "%s\n%5s %-24s %-14s %-5s %s\n", journal.Escape(file, 200), "LINE", "RULE", "FAMILY", "CLASS", "PROGRAMS")
		}
		fmt.Fprintf(w, "%5s %-24s %-14s %-5s %s\n", line, r.ID, r.Family, r.Class,
			programsWords(r.Programs, max(columns-52-max(len(r.ID)-24, 0)-max(len(r.Family)-14, 0), 12)))
		shown++
		if r.Own {
			own++
		}
	}
	if shown > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s, %d of them yours\n", plural(shown, "rule"), own)
	for _, r := range set.Disabled() {
		if family == "" || r.Family == family {
			field(w, "off", fmt.Sprintf("%s, by %s", r.ID, r.By))
		}
	}
	for _, why := range set.Nameless() {
		field(w, "no name", why+": every exec is looked at for it")
	}
}

// cutLine splits "built in: 20-node.toml:71".
func cutLine(source string) (file, line string) {
	i := strings.LastIndexByte(source, ':')
	if i < 0 {
		return source, ""
	}
	return source[:i], source[i+1:]
}

// programsWords are as many names as fit, and how many there are besides.
func programsWords(names []string, width int) string {
	text := ""
	for i, name := range names {
		next := journal.Escape(name, width)
		if i > 0 {
			next = text + " " + next
		}
		rest := ""
		if left := len(names) - i - 1; left > 0 {
			rest = fmt.Sprintf(" +%d", left)
		}
		if i > 0 && len(next)+len(rest) > width {
			return fmt.Sprintf("%s +%d", text, len(names)-i)
		}
		text = next
	}
	return text
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
