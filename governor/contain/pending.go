package contain

// Signals is what waits for the members of a scope, and how they stand. The
// placeholder is none of them.
type Signals struct {
	StopPending bool // a SIGTSTP, SIGSTOP, SIGTTIN or SIGTTOU waits: they would stop if they were thawed
	EndPending  bool // a SIGHUP, SIGINT, SIGQUIT or SIGTERM waits for a handler: only a thawed process can act on it
	Stopped     bool // all that live are stopped (state T)
	Empty       bool // no member lives, or the scope is gone
	Frozen      bool // the cgroup is told to freeze; a user may thaw his own
}

// Signals reads what waits for the members of a scope.
func (s *Systemd) Signals(sc Scope) Signals {
	return Signals{Frozen: s.cg.frozen(sc.Cgroup)}
}
