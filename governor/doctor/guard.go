package doctor

import (
	"cmp"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/headroomd/headroomd/loader/proc"
)

// Guard is another program that acts on memory, priorities or cgroups here.
type Guard struct {
	Name     string `json:"name"`
	PID      int    `json:"pid"`
	ActsAtMB int64  `json:"acts_at_mb"` // available memory below which it kills; -1: it goes by something else, or it is not known
	Note     string `json:"note"`       // who acts first and what follows

	First    bool     `json:"-"` // it may act before headroomd does, or undo what that does
	Remedy   string   `json:"-"` // what to do about it
	Commands []string `json:"-"` // the same to be typed
}

// known is a program that is looked for.
type known struct {
	name  string   // as it is called in /proc/PID/comm
	units []string // services that start it: they may run it as another user than root
	judge func(f *facts, x proc.Exec) Guard
}

var knownGuards = []known{
	{"earlyoom", []string{"earlyoom"}, earlyoom},
	{"nohang", []string{"nohang", "nohang-desktop"}, nohang},
	{"systemd-oomd", []string{"systemd-oomd"}, systemdOOMD},
	{"oomd", []string{"oomd"}, byPressure},
	{"bustd", []string{"bustd"}, byPressure},
	{"thrash-protect", []string{"thrash-protect"}, thrashProtect},
	{"ananicy", []string{"ananicy"}, ananicy},
	{"ananicy-cpp", []string{"ananicy-cpp"}, ananicy},
	{"cgrulesengd", []string{"cgred", "cgrulesengd"}, cgrulesengd},
}

// Guards finds them below a root directory; who acts first comes first.
// criticalMB is the available memory below which headroomd stops a job; -1
// where it is not known.
func Guards(root string, criticalMB int64) []Guard {
	o := Options{Root: root}
	if criticalMB >= 0 {
		o.Limits = &Limits{CriticalMB: criticalMB}
	}
	return look(o).guards()
}

func (f *facts) guards() []Guard {
	pids, err := f.fs.List()
	if err != nil {
		return nil
	}
	slices.Sort(pids) // of two, the one that was started first
	all := []Guard{}
	for _, pid := range pids {
		comm, err := f.fs.Comm(pid)
		if err != nil {
			continue
		}
		i := slices.IndexFunc(knownGuards, func(k known) bool { return k.name == comm })
		if i < 0 || slices.ContainsFunc(all, func(g Guard) bool { return g.Name == comm }) {
			continue
		}
		x := proc.Exec{ID: proc.ID{PID: pid}, Comm: comm}
		if f.fs.ReadFacts(&x) != nil || f.fs.ReadCommand(&x) != nil || !f.genuine(knownGuards[i], x) {
			continue
		}
		g := knownGuards[i].judge(f, x)
		g.Name, g.PID = comm, pid
		all = append(all, g)
	}
	slices.SortStableFunc(all, func(a, b Guard) int {
		if a.First != b.First {
			if a.First {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.ActsAtMB, a.ActsAtMB)
	})
	return all
}

// genuine tells a guard from a process that calls itself so. A name is free for
// all; to be root, or to be in the cgroup of a service of the machine, is not.
// (earlyoom's and systemd-oomd's services run as users of their own.)
func (f *facts) genuine(k known, x proc.Exec) bool {
	ofUnit := slices.ContainsFunc(k.units, func(u string) bool { return below(x.Cgroup, "/system.slice/"+u+".service") })
	if x.UID != 0 && !ofUnit {
		return false
	}
	// One in a container guards the container.
	if _, is := proc.ContainerOf(x.Cgroup); is && f.place.container == "" {
		return false
	}
	if x.Exe == "" {
		return true // not root's to read
	}
	exe := path.Base(strings.TrimSuffix(x.Exe, " (deleted)"))
	return exe == k.name || interpreter(exe)
}

func interpreter(exe string) bool {
	for _, name := range []string{"python", "pypy", "perl", "bash", "sh", "dash", "busybox"} {
		if rest, ok := strings.CutPrefix(exe, name); ok && strings.Trim(rest, "0123456789.") == "" {
			return true
		}
	}
	return false
}

// ours is the line below which headroomd stops a job; -1 not known.
func (f *facts) ours() int64 {
	if f.o.Limits == nil {
		return -1
	}
	return f.o.Limits.CriticalMB
}

// stop are the commands that stop a guard for good.
func (f *facts) stop(x proc.Exec, unit string) []string {
	if f.systemdRuns() {
		if name := path.Base(x.Cgroup); below(x.Cgroup, "/system.slice") && strings.HasSuffix(name, ".service") && plainName(name) {
			unit = strings.TrimSuffix(name, ".service")
		}
		return []string{f.sudo("systemctl disable --now " + unit)}
	}
	if _, err := os.Stat(f.path("/sbin/openrc")); err == nil {
		return []string{f.sudo("rc-service " + unit + " stop"), f.sudo("rc-update del " + unit)}
	}
	return nil
}

// plainName is what may stand in a command to be copied.
func plainName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@") == ""
}

// guardChecks is a check for each guard, or one that says that there is none.
func (f *facts) guardChecks() []Check {
	if _, err := f.fs.List(); err != nil {
		return []Check{unknown("other-guards", "what else runs here", err)}
	}
	guards := f.guards()
	if len(guards) == 0 {
		return []Check{ok("other-guards", "none: headroomd alone acts on memory here")}
	}
	var checks []Check
	for _, g := range guards {
		c := Check{Name: "guard-" + g.Name, State: OK, Found: runsAs(g), Means: g.Note}
		if g.First {
			c.State, c.Remedy, c.Commands = Warn, g.Remedy, g.Commands
		}
		checks = append(checks, c)
	}
	return checks
}
