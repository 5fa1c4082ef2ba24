package main

import "github.com/headroomd/headroomd/classifier/lighten"

// lighten makes the command lighter, and notes what was changed.
func (t *task) lighten(e *explainer, p *projectFiles) {
	o := e.lightOptions(p)
	if t.line != "" {
		r := lighten.Line(e.rules, t.line, o)
		t.line, t.lightened = r.Line, r.Changes
		return
	}
	t.argv, t.lightened = lighten.Argv(e.rules, t.argv, o)
}
