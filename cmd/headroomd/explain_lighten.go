package main

import (
	"os"
	"runtime"

	"github.com/headroomd/headroomd/classifier/lighten"
	"github.com/headroomd/headroomd/governor/journal"
)

// lightOptions is what a command of the project p is made lighter for: the cap
// that it would get now, the CPUs that this process may use, and the environment
// that it has itself, because a command typed here would have the same.
func (e *explainer) lightOptions(p *projectFiles) lighten.Options {
	return lighten.Options{CPUs: runtime.NumCPU(), CapMB: e.capNow().MemoryMB, Env: os.LookupEnv, Dir: p.cwd, Files: p}
}

// lighter is the lighter form of a heavy command of the project p, or of a shell
// line where argv is nil. With lighten off in the settings nothing is changed.
func (e *explainer) lighter(command string, argv []string, p *projectFiles) *lightened {
	l := &lightened{Command: command, Changes: []string{}}
	switch {
	case !e.config.Lighten:
	case argv == nil:
		if r := lighten.Line(e.rules, command, e.lightOptions(p)); r.Changes != nil {
			l.Command, l.Changes = r.Line, r.Changes
		}
	default:
		if out, changes := lighten.Argv(e.rules, argv, e.lightOptions(p)); changes != nil {
			l.Command, l.Changes = journal.Command(out), changes
		}
	}
	return l
}
