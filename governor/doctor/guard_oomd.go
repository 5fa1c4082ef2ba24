package doctor

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/headroomd/headroomd/loader/proc"
)

// controlDirs are where `systemctl set-property` writes, before the unit files.
var controlDirs = []string{"/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/transient"}

// managed is what systemd-oomd watches of one unit.
type managed struct {
	unit           string
	swap, pressure bool
	limit          string // of the pressure; "" = the default
}

// systemdOOMD kills whole cgroups below those units that ask for it.
func systemdOOMD(f *facts, x proc.Exec) Guard {
	swapLimit, pressureLimit := f.oomdLimits()
	g := Guard{ActsAtMB: -1, First: true, Commands: f.stop(x, "systemd-oomd")}
	var said []string
	for _, m := range f.managed() {
		// A session's jobs are below user.slice; those of a user's own manager
		// are below its service as well.
		if m.swap {
			text := fmt.Sprintf("below %s when %d %% of memory and of swap are used", m.unit, swapLimit)
			if f.memory.total > 0 && f.memory.swap > 0 {
				g.ActsAtMB = max(g.ActsAtMB, f.memory.total*int64(100-swapLimit)/100)
			}
			said = append(said, text)
		}
		if m.pressure {
			limit := fmt.Sprintf("%d %%", pressureLimit)
			if m.limit != "" {
				limit = m.limit
			}
			said = append(said, fmt.Sprintf("below %s when its tasks stand still for memory %s of the time", m.unit, limit))
		}
	}
	switch {
	case len(said) == 0:
		g.First = false
		g.Note = "systemd-oomd runs, and no unit asks it to watch: it kills nothing"
	case f.memory.swap == 0 && !slices.ContainsFunc(f.managed(), func(m managed) bool { return m.pressure }):
		g.First = false
		g.Note = "systemd-oomd would kill a whole cgroup " + strings.Join(said, ", ") + "; without swap that does not come about"
	default:
		g.Note = "systemd-oomd kills a whole cgroup " + strings.Join(said, ", or ") +
			". It goes by time spent waiting and headroomd by memory that is free, so either may be first: it may end a whole session or service where headroomd would stop one job"
	}
	g.Remedy = "headroomd does its work here, one job at a time: stop it, or leave it as the second net"
	return g
}

// oomdLimits are SwapUsedLimit= and DefaultMemoryPressureLimit= in percent.
func (f *facts) oomdLimits() (swap, pressure int) {
	swap, pressure = 90, 60
	files := []string{"/usr/lib/systemd/oomd.conf", "/etc/systemd/oomd.conf"}
	for _, dir := range []string{"/usr/lib/systemd/oomd.conf.d", "/etc/systemd/oomd.conf.d"} {
		files = append(files, f.filesIn(dir, ".conf")...)
	}
	for _, file := range files {
		text, err := f.read(file)
		if err != nil {
			continue
		}
		keys := assignments(text)
		swap = percent(keys["SwapUsedLimit"], swap)
		pressure = percent(keys["DefaultMemoryPressureLimit"], pressure)
	}
	return swap, pressure
}

// percent reads "90%" and "90.5%"; what is none leaves the value as it was.
func percent(text string, was int) int {
	number, ok := strings.CutSuffix(text, "%")
	if !ok {
		return was
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n < 0 || n > 100 {
		return was
	}
	return int(n)
}

// managed reads the unit files of those units in whose trees jobs are: what
// systemd-oomd was told is not to be asked without its bus.
func (f *facts) managed() []managed {
	var all []managed
	for _, names := range [][]string{
		{"-.slice"}, {"user.slice"}, {"system.slice"},
		{fmt.Sprintf("user-%d.slice", f.o.UID), "user-.slice"},
		{fmt.Sprintf("user@%d.service", f.o.UID), "user@.service"},
	} {
		m := managed{unit: names[len(names)-1]}
		// The more general name first, so that the other overrules it.
		for i := len(names) - 1; i >= 0; i-- {
			m.read(f, names[i])
		}
		if m.swap || m.pressure {
			all = append(all, m)
		}
	}
	return all
}

// read takes in a unit's file and then its drop-ins in the order of their
// names; of several with one name, that of the first directory counts.
func (m *managed) read(f *facts, unit string) {
	dirs := append(slices.Clone(controlDirs), unitDirs...)
	files := map[string]string{}
	for _, dir := range dirs {
		if _, done := files[""]; !done && f.has(path.Join(dir, unit)) {
			files[""] = path.Join(dir, unit)
		}
		for _, file := range f.filesIn(path.Join(dir, unit+".d"), ".conf") {
			if name := path.Base(file); files[name] == "" {
				files[name] = file
			}
		}
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		text, err := f.read(files[name])
		if err != nil {
			continue
		}
		keys := assignments(text)
		if v, ok := keys["ManagedOOMSwap"]; ok {
			m.swap = v == "kill"
		}
		if v, ok := keys["ManagedOOMMemoryPressure"]; ok {
			m.pressure = v == "kill"
		}
		if v, ok := keys["ManagedOOMMemoryPressureLimit"]; ok {
			if n := percent(v, 0); n > 0 {
				m.limit = fmt.Sprintf("%d %%", n)
			}
		}
	}
}
