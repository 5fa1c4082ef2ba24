package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/headroomd/headroomd/governor/journal"
)

// commands are the commands in the order of the help text.
var commands = []func() *cobra.Command{
	newServeCommand,
	newRunCommand,
	newStatusCommand,
	newEventsCommand,
	newExplainCommand,
	newWhyCommand,
	newEnvCommand,
	newHookCommand,
	newRulesCommand,
	newDoctorCommand,
	newReleaseCommand,
	newSelftestCommand,
	newVersionCommand,
}

// newRoot returns the whole command line.
func newRoot() *cobra.Command {
	cobra.EnableCommandSorting = false
	root := &cobra.Command{
		Use:   "headroomd",
		Short: "Keep heavy commands from taking the whole memory of the machine",
		Long: `Keep heavy commands from taking the whole memory of the machine.

The governor sees each heavy command that any shell or program starts, and
gives it a scope with a memory cap of its own. Start it with "make run" or as
the service headroomd; ask it with the commands below.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		// Two edits away, as with flags.
		SuggestionsMinimumDistance: 2,
		// With Args set, cobra leaves an unknown command to them.
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usagef("unknown command %q%s", args[0], meant(cmd.SuggestionsFor(args[0])))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	for _, command := range commands {
		root.AddCommand(command())
	}
	return root
}

// run is the program: it returns the exit code.
func run(args []string) int {
	root := newRoot()
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return 0
	}
	if !errors.Is(err, errSaid) {
		fmt.Fprintln(os.Stderr, "headroomd:", err)
	}
	return exitStatus(err)
}

// errSaid fails a command whose output has said already what is wrong.
var errSaid = errors.New("said in the output")

// usageError is a mistake on the command line.
type usageError struct{ message string }

func (e usageError) Error() string { return e.message }

func usagef(format string, args ...any) error {
	return usageError{fmt.Sprintf(format, args...)}
}

// noArgs refuses arguments in our own words.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument, not even %q", cmd.Name(), args[0])
	}
	return nil
}

// flagError names the nearest flag where one is not known.
func flagError(cmd *cobra.Command, err error) error {
	unknown := (*pflag.NotExistError)(nil)
	if !errors.As(err, &unknown) {
		return usagef("%s: %s", cmd.Name(), journal.Escape(err.Error(), 200))
	}
	name := unknown.GetSpecifiedName()
	dashes := "--"
	if unknown.GetSpecifiedShortnames() != "" {
		dashes = "-"
	}
	return usagef("%s: unknown flag %q%s", cmd.Name(), dashes+name, meant(nearestFlag(cmd, name)))
}
