package doctor

import (
	"fmt"
	"strings"
)

const unit = "headroomd.service"

// service says whether the governor is there, comes back after a boot, and
// answers.
func (f *facts) service() Check {
	const name = "service"
	g := f.o.Governor
	if !f.systemdRuns() {
		c := notApplicable(name, "no systemd here; your own init has to start headroomd serve")
		return c
	}
	path, err := f.unitFile(unit)
	switch {
	case path == "" && err != nil:
		return unknown(name, "whether "+unit+" is installed", err)
	case path == "" && g.Asked && g.Err == nil:
		return Check{Name: name, State: Warn, Found: "headroomd runs, but is not installed as a service", Means: "it is gone after the next boot, and nothing restarts it if it dies",
			Remedy: "install it", Commands: []string{f.sudo("make install"), f.sudo("systemctl enable --now headroomd")}}
	case path == "":
		return Check{Name: name, State: Warn, Found: "not installed", Means: "nothing guards this machine after a boot",
			Remedy: "install it", Commands: []string{f.sudo("make install"), f.sudo("systemctl enable --now headroomd")}}
	case f.masked(path):
		return Check{Name: name, State: Fail, Found: path + " is masked", Means: "systemd refuses to start the governor: nothing is guarded",
			Remedy: "unmask it", Commands: []string{f.sudo("systemctl unmask headroomd"), f.sudo("systemctl enable --now headroomd")}}
	}
	running, known := f.unitRuns()
	switch {
	case known && !running:
		return Check{Name: name, State: Fail, Found: "installed (" + path + ") and not running", Means: "nothing is guarded: no command is held or capped",
			Remedy: "start it; if it does not stay up, its journal says why", Commands: []string{f.sudo("systemctl enable --now headroomd"), f.sudo("journalctl -u headroomd -n 30")}}
	case !f.enabled(unit):
		c := Check{Name: name, State: Warn, Found: "not enabled", Means: "nothing is guarded after the next boot",
			Remedy: "enable it", Commands: []string{f.sudo("systemctl enable headroomd")}}
		if known {
			c.Found = "running, but not enabled"
		}
		return c
	case !known:
		return ok(name, "installed and enabled")
	}
	return ok(name, "running, and enabled at boot")
}

// unitRuns asks the cgroup of the service whether somebody is in it.
func (f *facts) unitRuns() (runs, known bool) {
	h := f.hierarchy()
	if h.unified == "" {
		return false, false
	}
	dir := h.unified + "/system.slice"
	if is, err := f.there(dir); !is || err != nil {
		return false, false
	}
	is, err := f.there(dir + "/" + unit)
	if err != nil {
		return false, false
	}
	if !is {
		return false, true
	}
	text, err := f.read(dir + "/" + unit + "/cgroup.events")
	if err != nil {
		return false, false
	}
	return strings.Contains(text, "populated 1"), true
}

// governor says what the running governor said of itself.
func (f *facts) governor() Check {
	const name = "governor"
	g := f.o.Governor
	switch {
	case !g.Asked:
		return unknown(name, "whether a governor answers (nobody was asked)", nil)
	case g.Err != nil:
		return Check{Name: name, State: Warn, Found: "none answers: " + g.Err.Error(), Means: "nothing is held, capped or stopped now; headroomd run guards what it starts by itself",
			Remedy: "see service; or start one by hand", Commands: []string{f.sudo("headroomd serve")}}
	}
	whom := "this user's processes"
	if g.Machine {
		whom = "the whole machine"
	}
	found := fmt.Sprintf("guards %s (mode %s), sees by %s, caps by %s", whom, g.Mode, g.Source, g.Contain)
	if g.Mode != "enforce" {
		return Check{Name: name, State: Warn, Found: found, Means: "it only tells what it would do", Remedy: `set mode = "enforce" in the settings when you trust it`,
			Commands: []string{f.sudo("systemctl reload headroomd")}}
	}
	if g.NoCaps != "" {
		return Check{Name: name, State: Warn, Found: found, Means: "no cap of the kernel's is in force: " + g.NoCaps,
			Remedy: "see the checks above that fail; after a change, restart it", Commands: []string{f.sudo("systemctl restart headroomd")}}
	}
	return ok(name, found)
}

// shownFaults is how many faults of a file are told; `rules check` and the
// journal tell all.
const shownFaults = 3

func (f *facts) settings() Check { return f.files("settings", f.o.Settings) }

func (f *facts) rules() Check { return f.files("rules", f.o.Rules) }

func (f *facts) files(name string, file File) Check {
	switch {
	case file.Path == "":
		return unknown(name, "the "+name, nil)
	case len(file.Faults) == 0 && !file.Found:
		return ok(name, "no "+file.Path+": the built-in "+name+" hold")
	case len(file.Faults) == 0:
		return ok(name, file.Path+" can be read")
	}
	var told []string
	for i, err := range file.Faults {
		if i == shownFaults {
			told = append(told, fmt.Sprintf("and %d more", len(file.Faults)-i))
			break
		}
		told = append(told, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	c := Check{Name: name, State: Fail, Found: strings.Join(told, "; "), Remedy: "mend the lines named"}
	if name == "rules" {
		c.Means = "a file of rules with a mistake is left out as a whole"
		c.Commands = []string{"headroomd rules check", f.sudo("systemctl reload headroomd")}
	} else {
		c.Means = "the governor does not start with these settings; one that runs keeps those from before"
		c.Commands = []string{f.sudo("systemctl restart headroomd")}
	}
	return c
}
