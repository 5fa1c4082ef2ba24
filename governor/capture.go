package governor

import (
	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/loader/proc"
)

// packageManagers run maintainer scripts whose interruption leaves the machine
// half-installed. An `apt` may be a job; what runs below one that is not is
// left alone.
var packageManagers = map[string]bool{
	"apt": true, "apt-get": true, "aptitude": true, "dpkg": true, "unattended-upgr": true,
	"packagekitd": true, "dnf": true, "dnf5": true, "yum": true, "rpm": true, "zypper": true,
	"pacman": true, "apk": true, "snapd": true, "snap": true,
}

// insidePackageManager reports the package manager that a process descends
// from. Its own exec of `apt` does not count.
func insidePackageManager(x *proc.Exec, table processTable) (string, bool) {
	up, err := table.Ancestors(x.ID.PID, maxAncestors)
	if err != nil {
		return "", false
	}
	for _, a := range up {
		if packageManagers[a.Comm] {
			return a.Comm, true
		}
	}
	return "", false
}

// leave says why a caught command is let go uncaptured, as far as the process
// table tells; empty when nothing speaks against it.
func leave(f *Finding, table processTable) string {
	if f.Leave != "" {
		return f.Leave
	}
	if name, ok := insidePackageManager(&f.Exec, table); ok && !f.Verdict.Kind.Has(classifier.PackageManager) {
		return "it runs inside " + name + ": the insides of a package manager are not captured"
	} else if ok {
		return "it runs inside " + name
	}
	return ""
}
