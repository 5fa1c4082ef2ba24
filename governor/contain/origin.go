package contain

import (
	"fmt"
	"strings"

	"github.com/headroomd/headroomd/loader/proc"
)

// SystemManager is the name of pid 1 as Origin.Manager and Scope.Manager have it.
const SystemManager = "system"

// scopePrefix and scopeSuffix are what every job's unit name has.
const (
	scopePrefix = "headroom-"
	scopeSuffix = ".scope"
)

// IsScopeName reports whether a unit name is one of a job.
func IsScopeName(unit string) bool {
	return strings.HasPrefix(unit, scopePrefix) && strings.HasSuffix(unit, scopeSuffix)
}

// ParseOrigin reads what a cgroup path alone can tell: which unit of which
// manager it is, and whether it is of a kind that is never moved. path is that
// of the unified hierarchy, as the last line of /proc/PID/cgroup has it.
func ParseOrigin(path string) Origin {
	o := Origin{Cgroup: path, Kind: "none"}
	switch {
	case path == "":
		o.Refuse = "its cgroup is not known"
		return o
	case !strings.HasPrefix(path, "/"):
		o.Refuse = fmt.Sprintf("%q is no cgroup path", path)
		return o
	case path == "/":
		o.Refuse = "it sits in the root cgroup, outside any unit"
		return o
	case path == "/.." || strings.HasPrefix(path, "/../"):
		o.Refuse = "it sits outside the cgroup namespace of the governor"
		return o
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	// A scope of ours is known before anything else: the name of a job's
	// family may look like a container runtime's.
	o.Manager = SystemManager
	slice, rest := splitSlices(parts)
	if len(rest) > 0 {
		if uid, ok := userManager(rest[0]); ok {
			o.Manager = "user-" + uid
			if len(rest) == 1 {
				o.Unit, o.Kind = rest[0], "user-manager"
				o.Refuse = "it is part of the user's own manager"
				return o
			}
			slice, rest = splitSlices(rest[1:])
		}
	}
	o.Slice = slice
	if len(rest) == 0 {
		o.Unit, o.Kind = slice, "slice"
		o.Refuse = fmt.Sprintf("it sits in %s itself, outside any unit", slice)
		return o
	}
	o.Unit = rest[0]
	if IsScopeName(o.Unit) {
		o.Kind = "job"
		return o
	}
	// A process that is moved out of a container keeps its namespaces and loses
	// its limits.
	if c, ok := proc.ContainerOf(path); ok {
		o.Kind = "container"
		o.Refuse = fmt.Sprintf("it runs in a container (%s): its processes are not moved", c)
		return o
	}
	return o.ofUnit(rest)
}

// ofUnit settles the kind of a unit from its name. rest begins with the unit.
func (o Origin) ofUnit(rest []string) Origin {
	switch {
	case o.Unit == "init.scope":
		o.Kind = "none"
		if o.Manager != SystemManager {
			o.Kind = "user-manager"
		}
		o.Refuse = "it is part of a service manager"
	case strings.HasPrefix(o.Unit, "snap."):
		// snapd hangs its device filter on the scope's cgroup, where no unit
		// property shows it.
		o.Kind = "scope"
		o.Refuse = fmt.Sprintf("%q is a snap's: its device filter hangs on its cgroup", o.Unit)
	case strings.HasSuffix(o.Unit, ".scope"):
		o.Kind = "scope"
		if o.Manager == SystemManager && strings.HasPrefix(o.Unit, "session-") && strings.HasPrefix(o.Slice, "user-") {
			o.Kind = "session"
		}
		o.PartOf = o.Unit
	case strings.HasSuffix(o.Unit, ".service"):
		o.Kind = "service"
		o.PartOf = o.Unit
	default:
		o.Kind = "none"
		o.Refuse = fmt.Sprintf("%q is no unit of systemd", o.Unit)
	}
	if len(rest) > 1 && o.Refuse == "" {
		o.Refuse = fmt.Sprintf("it sits in %q, a cgroup that %s made for itself", strings.Join(rest[1:], "/"), o.Unit)
	}
	if o.Refuse != "" {
		o.PartOf = ""
	}
	return o
}

// Slices are the slices above the unit within its own manager, the nearest
// first, with "-.slice" last.
func (o Origin) Slices() []string {
	parts := strings.Split(strings.Trim(o.Cgroup, "/"), "/")
	if o.Manager != SystemManager {
		for i, p := range parts {
			if _, ok := userManager(p); ok {
				parts = parts[i+1:]
				break
			}
		}
	}
	return slicesOf(parts)
}

// outerUnits are the units of the system manager that carry a user's manager:
// user@UID.service and the slices above it. Nil for the system manager.
func (o Origin) outerUnits() []string {
	if o.Manager == SystemManager {
		return nil
	}
	parts := strings.Split(strings.Trim(o.Cgroup, "/"), "/")
	for i, p := range parts {
		if uid, ok := userManager(p); ok {
			return append([]string{p, "user-runtime-dir@" + uid + ".service"}, slicesOf(parts[:i])...)
		}
	}
	return nil
}

func slicesOf(parts []string) []string {
	var above []string
	for _, p := range parts {
		if !strings.HasSuffix(p, ".slice") {
			break
		}
		above = append([]string{p}, above...)
	}
	return append(above, "-.slice")
}

// splitSlices returns the nearest slice ("-.slice" where there is none) and
// what is below it.
func splitSlices(parts []string) (slice string, rest []string) {
	slice = "-.slice"
	for i, p := range parts {
		if !strings.HasSuffix(p, ".slice") {
			return slice, parts[i:]
		}
		slice = p
	}
	return slice, nil
}

// userManager reads the uid in "user@UID.service".
func userManager(part string) (uid string, ok bool) {
	uid, ok = strings.CutPrefix(part, "user@")
	if !ok {
		return "", false
	}
	uid, ok = strings.CutSuffix(uid, ".service")
	return uid, ok && isNumber(uid)
}

func isNumber(s string) bool {
	return s != "" && len(s) <= 10 && strings.Trim(s, "0123456789") == ""
}
