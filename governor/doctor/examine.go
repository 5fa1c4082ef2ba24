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
		f.panicOnOOM(),
	}
	checks = append(checks, f.guardChecks()...)
	return append(checks, f.settings(), f.rules(), f.service(), f.governor())
}
