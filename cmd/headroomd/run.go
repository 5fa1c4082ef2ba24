package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor/journal"
)

type runOptions struct {
	line      string
	lineGiven bool
	noLighten bool
	json      bool
	result    string
	wait      time.Duration
	socket    string
	config    string
}

func newRunCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [flags] {-c 'LINE' | -- COMMAND [ARG]...}",
		Short: "Run a command: wait for its turn, cap it, say what became of it",
		Long: `Run a command as the governor would have it: a heavy one is made lighter, waits
until a slot and enough memory are free, and runs in a scope with a memory cap.
A light one is simply executed.

The terminal, the signals and the exit status are the command's own. With a
line (-c), bash runs it, or sh where there is no bash. Where no governor runs,
this user's commands take turns by lock files.

Exit status: the command's own (128 + n after signal n); 75 where it was
refused, or nothing became free in time; 2 for a mistake on the command line;
126 or 127 where the command cannot be executed or is not there.`,
		Example: `  headroomd run -- npm test
  headroomd run -c 'cd web && npm test'
  headroomd run --result /tmp/result.json -- make -j8
  headroomd run --json -c 'cargo build' 3>result.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.lineGiven = cmd.Flags().Changed("command")
			switch {
			case o.lineGiven && len(args) > 0:
				return usagef("run: either a line (-c) or a command, not both; %q comes after the line", args[0])
			case !o.lineGiven && len(args) == 0:
				return usagef("run: which command? headroomd run -- npm test, or headroomd run -c 'cd web && npm test'")
			case o.wait < 0:
				return usagef("run: --wait %v is negative", o.wait)
			}
			return runCommand(cmd.Context(), o, args)
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // the command's own flags are its own
	f.StringVarP(&o.line, "command", "c", "", "run the shell `LINE`")
	f.BoolVar(&o.noLighten, "no-lighten", false, "run it as it is written")
	f.BoolVar(&o.json, "json", false, "write the result object to file descriptor 3")
	f.StringVar(&o.result, "result", "", "write the result object to `FILE`")
	f.DurationVar(&o.wait, "wait", 0, "give up after `TIME`, such as 90s (default: queue_timeout_s of the settings)")
	f.StringVar(&o.config, "config", "", "read the settings from `FILE`")
	socketFlag(cmd, &o.socket)
	return cmd
}

// task is one command on its way.
type task struct {
	argv      []string // to be executed
	line      string   // of -c; "" otherwise
	shown     string   // as messages name it
	verdict   classifier.Verdict
	lightened []string
	result    runResult
}

func runCommand(ctx context.Context, o runOptions, args []string) error {
	out, err := openResult(o)
	if err != nil {
		return err
	}
	t, err := prepare(ctx, o, args)
	if err != nil {
		return err
	}
	if t.verdict.Class != classifier.Heavy {
		if out == nil {
			return replace(t.argv)
		}
		return finish(out, &t.result, runLight(t))
	}
	return finish(out, &t.result, runHeavy(ctx, o, t))
}

// prepare classifies the command and makes it lighter.
func prepare(ctx context.Context, o runOptions, args []string) (*task, error) {
	e, err := newExplainer(ctx, o.config, o.socket)
	if err != nil {
		return nil, err
	}
	t, here := &task{argv: args}, projectHere()
	if o.lineGiven {
		t.line, t.verdict = o.line, lineByScripts(e.rules, o.line, here).Verdict
	} else {
		t.verdict = byScripts(e.rules, classifier.Command{Argv: args}, here)
	}
	t.shown = t.verdict.Matched
	if t.verdict.Class == classifier.Heavy && e.config.Lighten && !o.noLighten {
		t.lighten(e, here)
	}
	if o.lineGiven {
		t.argv = []string{lineShell(), "-c", t.line}
	}
	if t.shown == "" {
		t.shown = path.Base(t.argv[0])
	}
	t.result = newResult(t)
	return t, nil
}

// lineShell is the shell that runs a line. People and agents write bash.
func lineShell() string {
	if p, err := exec.LookPath("bash"); err == nil {
		return p
	}
	return "/bin/sh"
}

// replace becomes the command.
func replace(argv []string) error {
	program, err := lookUp(argv[0])
	if err != nil {
		return err
	}
	return cannotExecute(argv[0], syscall.Exec(program, argv, os.Environ()))
}

// lookUp finds a program as a shell does.
func lookUp(name string) (string, error) {
	program, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		err = nil // PATH has a relative directory, as its owner wants it
	}
	if err != nil {
		return "", cannotExecute(name, err)
	}
	return program, nil
}

// cannotExecute is the error of a command that could not be started, with the
// exit status that shells give.
func cannotExecute(name string, err error) error {
	code := exitNotExecutable
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		code = exitNotFound
	}
	if cause := (&exec.Error{}); errors.As(err, &cause) {
		err = cause.Err
	}
	if cause := (&os.PathError{}); errors.As(err, &cause) {
		err = cause.Err
	}
	return exitError{code, fmt.Errorf("run %s: %w", journal.Escape(name, 200), err)}
}

// runLight runs a light command whose result is wanted.
func runLight(t *task) error {
	c, err := startChild(t.argv)
	if err != nil {
		return err
	}
	c.goOn()
	return c.await(nil)
}
