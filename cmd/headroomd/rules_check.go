package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor/journal"
)

func newRulesCheckCommand() *cobra.Command {
	var f rulesFlags
	cmd := &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Say all that is wrong with files of rules",
		Long: `Say all that is wrong with files of rules, each fault with file and line.

Without a FILE the rules.d in force are checked, and whether those who could
write to them are to be believed. With files, these alone are, so that a file
can be checked before it is put there. The exit status is 1 if anything is
wrong.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && f.rules != "" {
				return usagef("rules check: either --rules or files, not both")
			}
			var set *classifier.Set
			var faults []error
			dir := ""
			if len(args) > 0 {
				set, faults = checkFiles(args)
			} else {
				r, err := rulesAt(f.config, f.rules, "")
				if err != nil {
					return err
				}
				set, faults, dir = r.set, r.faults, r.dir
			}
			for _, err := range faults {
				fmt.Fprintln(cmd.ErrOrStderr(), journal.Escape(err.Error(), 1000))
			}
			if len(faults) > 0 {
				return errSaid
			}
			own := 0
			for _, r := range set.Rules() {
				if r.Own {
					own++
				}
			}
			where := dir
			if dir == "" {
				where = plural(len(args), "file")
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s and %s switched off; nothing is wrong\n",
				where, plural(own, "rule"), plural(len(set.Disabled()), "rule"))
			return err
		},
	}
	f.add(cmd)
	return cmd
}

// checkFiles compiles the files together, in the order given.
func checkFiles(paths []string) (*classifier.Set, []error) {
	var files []classifier.File
	var faults []error
	for _, path := range paths {
		file, err := readRuleFile(path, trust{anybody: true})
		if err != nil {
			faults = append(faults, err)
			continue
		}
		files = append(files, file)
	}
	set, wrong := classifier.New(classifier.Options{Files: files})
	return set, append(faults, wrong...)
}

func newRulesManualCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "manual",
		Short: "Print the words of a file of rules, each with its meaning",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text := classifier.Manual()
			if text == "" {
				return errors.New("the manual is not in this program")
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), text)
			return err
		},
	}
}
