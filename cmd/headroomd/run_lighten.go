package main

// lighten makes the command lighter, and notes what was changed.
func (t *task) lighten(e *explainer) {}
