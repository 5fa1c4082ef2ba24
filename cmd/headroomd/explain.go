package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/loader/proc"
)

// explainFlags are the flags of explain.
type explainFlags struct {
	pid    string
	stdin  bool
	nul    bool
	argv   bool
	asJSON bool
	config string
	rules  string
	socket string
}

func newExplainCommand() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain {'shell line' | -- CMD ARG... | --pid PID | --stdin}",
		Short: "Say what the governor would make of a command, and why",
		Long: `Say what the governor would make of a command, and why. Nothing is run.

  headroomd explain 'cd web && npm test'     a shell line
  headroomd explain -- npm test              a command and its arguments
  headroomd explain --pid 812                a running process
  headroomd explain --stdin --json           a shell line a line

The answer is by the built-in rules, the files of the rules.d in force and the
patterns in the settings, as "headroomd rules list" shows them.

With --stdin there is one answer for each line, in order and at once. With -0
lines end with a NUL instead; with --argv each is a JSON array of the words of
one command. A line that cannot be read is answered with an "error", and the
exit status is 1 in the end.`,
		Args: func(cmd *cobra.Command, args []string) error { return f.check(cmd.ArgsLenAtDash(), args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := explainerAt(cmd.Context(), f.config, f.rules, f.socket)
			if err != nil {
				return err
			}
			tellFaults(cmd.ErrOrStderr(), e.faults)
			return runExplain(e, cmd.InOrStdin(), cmd.OutOrStdout(), f, cmd.ArgsLenAtDash() == 0, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.pid, "pid", "", "explain the running process `PID`")
	flags.BoolVar(&f.stdin, "stdin", false, "explain each line of the standard input")
	flags.BoolVarP(&f.nul, "null", "0", false, "with --stdin: lines end with a NUL")
	flags.BoolVar(&f.argv, "argv", false, "with --stdin: each line is a JSON array of words")
	flags.BoolVar(&f.asJSON, "json", false, "one JSON object an answer")
	flags.StringVar(&f.config, "config", "", "read the settings from `FILE`")
	rulesFlag(cmd, &f.rules)
	socketFlag(cmd, &f.socket)
	return cmd
}

// check wants exactly one of the four forms. dash is how many arguments stood
// before "--", -1 without one.
func (f explainFlags) check(dash int, args []string) error {
	switch {
	case (f.nul || f.argv) && !f.stdin:
		return usagef("explain: -0 and --argv go with --stdin")
	case f.pid != "" && f.stdin:
		return usagef("explain: --pid and --stdin exclude each other")
	case (f.pid != "" || f.stdin) && len(args) > 0:
		return usagef("explain: no command beside --pid or --stdin, not even %q", args[0])
	case f.pid != "" || f.stdin:
		return nil
	case dash > 0:
		return usagef("explain: either a shell line or -- and a command, not both")
	case len(args) == 0:
		return usagef("explain: what? Give a shell line in quotes, -- and a command, --pid or --stdin")
	case dash < 0 && len(args) > 1:
		return usagef("explain: %d words; put a shell line in quotes, or -- before a command", len(args))
	}
	return nil
}

func runExplain(e *explainer, in io.Reader, out io.Writer, f explainFlags, isArgv bool, args []string) error {
	show := printAnswer
	if f.asJSON {
		show = encodeAnswer
	}
	switch {
	case f.stdin:
		if !f.asJSON {
			show = printAnswerLine
		}
		return e.stream(in, out, f, show)
	case f.pid != "":
		a, err := e.process(f.pid)
		if err != nil {
			return err
		}
		return show(out, a)
	case isArgv:
		return show(out, e.command(classifier.Command{Argv: args}, projectHere()))
	}
	return show(out, e.line(args[0]))
}

// process answers for a running process.
func (e *explainer) process(word string) (answer, error) {
	pid, err := strconv.Atoi(word)
	if err != nil || pid <= 0 {
		return answer{}, usagef("explain: --pid %q is not a process id", word)
	}
	fs := proc.NewFS("/proc")
	x := proc.Exec{ID: proc.ID{PID: pid}}
	if stat, err := fs.Stat(pid); err == nil {
		x.Comm = stat.Comm
	} else if errors.Is(err, proc.ErrGone) {
		return answer{}, fmt.Errorf("there is no process %d", pid)
	}
	for _, read := range []func(*proc.Exec) error{fs.ReadCommand, fs.ReadFacts} {
		if err := read(&x); errors.Is(err, proc.ErrGone) {
			return answer{}, fmt.Errorf("there is no process %d any more", pid)
		} else if err != nil {
			return answer{}, fmt.Errorf("read process %d: %w", pid, err)
		}
	}
	c := classifier.Command{Argv: x.Argv, Exe: x.Exe, Comm: x.Comm}
	a := e.command(c, projectOf(proc.NewPeeker(fs), x.ID, x.Cwd))
	a.PID, a.Cgroup = pid, x.Cgroup
	return a, nil
}

func encodeAnswer(w io.Writer, a answer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(a)
}
