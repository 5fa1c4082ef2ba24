package main

import (
	"os"
	"runtime"

	"github.com/headroomd/headroomd/classifier/lighten"
)

// lighten makes the command lighter, and notes what was changed.
func (t *task) lighten(e *explainer) {
	o := lighten.Options{CPUs: runtime.NumCPU(), CapMB: e.capNow().MemoryMB, Env: os.LookupEnv}
	if t.line != "" {
		r := lighten.Line(e.rules, t.line, o)
		t.line, t.lightened = r.Line, r.Changes
		return
	}
	t.argv, t.lightened = lighten.Argv(e.rules, t.argv, o)
}
