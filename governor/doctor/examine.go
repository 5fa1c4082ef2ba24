package doctor

// Examine makes all checks, in the order in which they are shown: where this
// is, what the kernel gives, what the system gives, what the owner set.
func Examine(o Options) []Check {
	f := look(o)
	checks := []Check{
		f.environment(),
		f.kernelCheck(),
		f.pageCheck(),
		f.cgroupVersion(),
		f.memoryController(),
		f.swapAccounting(),
		f.psi(),
		f.execSource(),
		f.tracingFS(),
		f.ptrace(),
		f.systemd(),
		f.delegation(),
		f.lingering(),
		f.memoryCheck(),
		f.swapCheck(),
	}
	checks = append(checks, f.guardChecks()...)
	return append(checks, f.settings(), f.rules(), f.service(), f.governor())
}

func (f *facts) guardChecks() []Check {
	guards := f.guards()
	if len(guards) == 0 {
		return []Check{ok("other-guards", "none: headroomd alone acts on memory here")}
	}
	var checks []Check
	for _, g := range guards {
		c := Check{Name: "guard-" + g.Name, State: OK, Found: "runs", Means: g.Note}
		if g.first {
			c.State, c.Remedy = Warn, g.remedy
		}
		checks = append(checks, c)
	}
	return checks
}
