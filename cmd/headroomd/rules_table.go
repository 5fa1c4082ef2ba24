package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor/journal"
)

func newRulesTestCommand() *cobra.Command {
	var f rulesFlags
	cmd := &cobra.Command{
		Use:   "test FILE",
		Short: "Try the rules on a table of commands",
		Long: `Try the rules on a table of commands, so that an owner can keep a test of his
own rules. FILE has a command a line ("-" is the standard input):

  # class, a tab, the shell line; then, if it matters, a tab and the rule's id
  heavy	npm test
  light	npm run docs
  heavy	my-build all	my-build

Lines that begin with "#" and empty ones are skipped. Each wrong line is told
with what came instead and why; the exit status is then 1.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("rules test: want one FILE with a table of commands, got %d; see headroomd rules test --help", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := rulesAt(f.config, f.rules, "")
			if err != nil {
				return err
			}
			in := cmd.InOrStdin()
			if args[0] != "-" {
				file, err := os.Open(args[0])
				if err != nil {
					return fmt.Errorf("read the table %s: %w", args[0], plainCause(err))
				}
				defer file.Close()
				in = file
			}
			tellFaults(cmd.ErrOrStderr(), r.faults)
			return tryTable(cmd.OutOrStdout(), in, args[0], r.set)
		},
	}
	f.add(cmd)
	return cmd
}

// tryTable judges each row and tells of the wrong ones.
func tryTable(w io.Writer, in io.Reader, name string, set *classifier.Set) error {
	rows := bufio.NewReaderSize(in, 64<<10)
	tried, wrong := 0, 0
	for n := 1; ; n++ {
		line, err := readLine(rows, '\n')
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended && !errors.Is(err, errTooLong) {
			return fmt.Errorf("read the table %s: %w", name, err)
		}
		text := strings.TrimRight(string(line), "\r")
		if trimmed := strings.TrimSpace(text); trimmed != "" && trimmed[0] != '#' || errors.Is(err, errTooLong) {
			tried++
			fault := ""
			if errors.Is(err, errTooLong) {
				fault = err.Error()
			} else {
				fault = tryRow(text, set)
			}
			if fault != "" {
				wrong++
				fmt.Fprintf(w, "%s:%d: %s\n", name, n, fault)
			}
		}
		if ended {
			break
		}
	}
	if tried == 0 {
		return fmt.Errorf("%s has no command in it: want lines of heavy or light, a tab, and a shell line", name)
	}
	fmt.Fprintf(w, "%s, %d wrong\n", plural(tried, "command"), wrong)
	if wrong > 0 {
		return errSaid
	}
	return nil
}

// tryRow judges one row; "" is right.
func tryRow(text string, set *classifier.Set) string {
	row := strings.TrimLeft(text, " \t")
	i := strings.IndexAny(row, " \t")
	if i < 0 {
		i = len(row)
	}
	class := row[:i]
	if class != string(classifier.Heavy) && class != string(classifier.Light) {
		return fmt.Sprintf("want heavy or light and a tab at the beginning, not %q", journal.Escape(class, 40))
	}
	command, rule, _ := strings.Cut(strings.TrimLeft(row[i:], " \t"), "\t")
	command, rule = strings.TrimSpace(command), strings.TrimSpace(rule)
	if command == "" {
		return "no command behind " + class
	}
	got := set.Line(command)
	why := got.Reason
	if got.Class == classifier.Light {
		why = lightReasons(got)
	}
	by := ""
	if got.Rule != "" {
		by = fmt.Sprintf(" by rule %s (%s)", got.Rule, got.Source)
	}
	switch {
	case string(got.Class) != class:
		return fmt.Sprintf("%s: want %s, got %s%s: %s", journal.Escape(command, 200), class, got.Class, by, why)
	case rule != "" && rule != got.Rule:
		if by == "" {
			by = " by no rule"
		}
		return fmt.Sprintf("%s: want rule %s, got %s%s: %s", journal.Escape(command, 200), journal.Escape(rule, 64), got.Class, by, why)
	}
	return ""
}

// lightReasons says why none of the commands of a line is heavy.
func lightReasons(v classifier.LineVerdict) string {
	const most = 3
	var why []string
	for _, c := range v.Commands {
		if c.Reason != "" && !slices.Contains(why, c.Reason) && len(why) < most {
			why = append(why, c.Reason)
		}
	}
	if why == nil {
		return v.Reason
	}
	return strings.Join(why, "; ")
}
