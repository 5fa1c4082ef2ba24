package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// systemdRuns reports whether systemd is pid 1, by the directory that it makes
// then and only then.
func (f *facts) systemdRuns() bool { return f.has("/run/systemd/system") }

var sharedLibrary = regexp.MustCompile(`^libsystemd-shared-(\d+(?:\.\d+)?)`)

// systemdVersion is that of the running one as it was handed in, or what the
// name of its library tells: which has no minor number at most distributions.
func (f *facts) systemdVersion() release {
	if r := parseRelease(f.o.Systemd); r.known() {
		return r
	}
	for _, pattern := range []string{"/usr/lib/systemd/libsystemd-shared-*", "/lib/systemd/libsystemd-shared-*", "/usr/lib/*/systemd/libsystemd-shared-*", "/usr/lib64/systemd/libsystemd-shared-*"} {
		found, err := filepath.Glob(f.path(pattern))
		if err != nil {
			continue
		}
		for _, path := range found {
			if m := sharedLibrary.FindStringSubmatch(filepath.Base(path)); m != nil {
				return parseRelease(m[1])
			}
		}
	}
	return release{}
}

func (f *facts) systemd() Check {
	const name = "systemd"
	is, err := f.there("/run/systemd/system")
	if err != nil {
		return unknown(name, "whether systemd runs this machine", err)
	}
	if !is {
		c := Check{Name: name, State: Warn, Found: "systemd does not run this machine",
			Means: "jobs are put into cgroups that headroomd makes itself, as root or where one was delegated; nothing restarts headroomd if it dies"}
		c.Remedy = "nothing has to be done; have your init start headroomd serve as root and restart it"
		if f.place.wsl == 2 {
			c.Remedy = `put [boot] systemd=true into /etc/wsl.conf, then "wsl --shutdown" in a Windows terminal`
		}
		return c
	}
	v := f.systemdVersion()
	if !v.known() {
		return unknown(name, "the version of systemd, which runs this machine,", nil)
	}
	found := fmt.Sprintf("systemd %d", v.major)
	if v.minor > 0 {
		found = "systemd " + v.String()
	}
	var lacks []string
	if v.before(249, 0) {
		lacks = append(lacks, "StopPropagatedFrom= (249): a job outlives a restart of the service that it came from")
	}
	// 252 got it by a fix, and its minor number is not always to be had.
	if v.before(252, 0) || v.major == 252 && v.minor > 0 && v.minor < 5 {
		lacks = append(lacks, "OOMPolicy= for scopes (252.5): after a kernel OOM kill the whole job is stopped, not its largest process alone")
	}
	if v.before(255, 0) {
		// Not worth a warning: the identity is checked before and after.
		found += " (no PIDFDs=, 255: processes are handed over by their pid and looked at again)"
	}
	if len(lacks) == 0 {
		return ok(name, found)
	}
	return Check{Name: name, State: Warn, Found: found, Means: "it lacks " + strings.Join(lacks, "; "),
		Remedy: "nothing has to be done; a newer release of the distribution has it"}
}

// userManager is the cgroup of this user's service manager.
func (f *facts) userManager() string {
	return fmt.Sprintf("/user.slice/user-%d.slice/user@%d.service", f.o.UID, f.o.UID)
}

// delegation is what a governor of this user alone would rest on.
func (f *facts) delegation() Check {
	const name = "delegation"
	switch {
	case f.root():
		return notApplicable(name, "root needs none")
	case f.o.Governor.answers():
		return notApplicable(name, "the machine's governor caps this user's jobs")
	case !f.systemdRuns():
		return notApplicable(name, "there is no systemd that would delegate a cgroup to this user")
	}
	h := f.hierarchy()
	if h.unified == "" {
		return Check{Name: name, State: Fail, Found: "no cgroup version 2 is mounted", Means: "as this user no job gets a cap", Remedy: "see cgroup-version"}
	}
	dir := h.unified + f.userManager()
	is, err := f.there(dir)
	if err != nil {
		return unknown(name, dir, err)
	}
	if !is {
		return Check{Name: name, State: Fail, Found: "no service manager runs for this user",
			Means: "headroomd has nobody to ask for a scope: as this user no job gets a cap",
			Remedy: "log in by ssh or at the console (su and sudo -u start none), or see lingering; where there is none then either, " +
				"the packages dbus-user-session and libpam-systemd are missing"}
	}
	list, err := f.controllers(dir)
	if err != nil {
		return unknown(name, dir+"/cgroup.controllers", err)
	}
	var missing []string
	for _, want := range []string{"memory", "pids"} {
		if !contains(list, want) {
			missing = append(missing, want)
		}
	}
	if len(missing) == 0 {
		return ok(name, "this user's service manager has memory and pids")
	}
	whole, err := f.controllers(h.unified)
	if err == nil && missing[0] == "memory" && !contains(whole, "memory") {
		return Check{Name: name, State: Fail, Found: "this user's service manager has no memory controller, since the machine has none",
			Means: "as this user no job gets a cap that the kernel enforces", Remedy: "see memory-controller"}
	}
	return Check{Name: name, State: Fail, Found: "this user's service manager lacks " + strings.Join(missing, " and "),
		Means:  "as this user jobs are put into scopes whose caps nobody enforces",
		Remedy: "have it delegated, then log out of every session and in again",
		Commands: []string{
			"sudo mkdir -p /etc/systemd/system/user@.service.d",
			"printf '[Service]\\nDelegate=cpu cpuset io memory pids\\n' | sudo tee /etc/systemd/system/user@.service.d/delegate.conf",
			"sudo systemctl daemon-reload",
		}}
}

// lingering keeps a user's service manager, and the governor in it, alive
// without a session.
func (f *facts) lingering() Check {
	const name = "lingering"
	switch {
	case f.root():
		return notApplicable(name, "root's governor is a service of the machine")
	case f.o.Governor.answers():
		return notApplicable(name, "the machine's governor needs no session of this user")
	case !f.systemdRuns():
		return notApplicable(name, "there is no systemd")
	case f.o.User == "":
		return unknown(name, "this user's name", nil)
	}
	is, err := f.there("/var/lib/systemd/linger/" + f.o.User)
	if err != nil {
		return unknown(name, "/var/lib/systemd/linger", err)
	}
	if is {
		return ok(name, "this user's services run without a session")
	}
	return Check{Name: name, State: Warn, Found: "off for " + f.o.User,
		Means:  "this user's governor ends with the last session: what runs on in tmux or by nohup is then unguarded",
		Remedy: "turn it on", Commands: []string{"loginctl enable-linger " + f.o.User}}
}

func contains(list []string, want string) bool {
	for _, s := range list {
		if s == want {
			return true
		}
	}
	return false
}

// unitDirs are where units of the machine lie, the first of a name counts.
var unitDirs = []string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}

func (f *facts) unitFile(name string) (string, error) {
	var last error
	for _, dir := range unitDirs {
		path := filepath.Join(dir, name)
		is, err := f.there(path)
		if is {
			return path, nil
		}
		if err != nil {
			last = err
		}
	}
	return "", last
}

// enabled reports whether a unit is started at boot: systemctl enable makes a
// link in the directory of the target that wants it.
func (f *facts) enabled(name string) bool {
	for _, dir := range unitDirs {
		found, err := filepath.Glob(f.path(filepath.Join(dir, "*.wants", name)))
		if err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// masked reports whether a unit file is a link to /dev/null.
func (f *facts) masked(path string) bool {
	to, err := os.Readlink(f.path(path))
	return err == nil && to == "/dev/null"
}
