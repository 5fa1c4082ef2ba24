package main

import (
	_ "embed"

	"github.com/spf13/cobra"
)

//go:embed rules.d.README
var rulesReadme string

// rulesFlags are those of all the commands below rules.
type rulesFlags struct {
	config string
	rules  string
}

func newRulesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules {list | check | test FILE | manual}",
		Short: "Show, check and test what is called heavy",
		Long:  rulesReadme,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("rules: what? One of list, check, test and manual")
			}
			return usagef("rules: unknown command %q%s", args[0], meant(cmd.SuggestionsFor(args[0])))
		},
		RunE:                       func(*cobra.Command, []string) error { return nil },
		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newRulesListCommand(), newRulesCheckCommand(), newRulesTestCommand(), newRulesManualCommand())
	return cmd
}

// flags adds those that say which rules are meant.
func (f *rulesFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.config, "config", "", "read the settings from `FILE`")
	rulesFlag(cmd, &f.rules)
}

func rulesFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "rules", "", "read the owner's rules from `DIR` instead of the rules.d in force")
}
