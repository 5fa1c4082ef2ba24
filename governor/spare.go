package governor

import (
	"fmt"
	"path"
	"strings"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/loader/proc"
)

// sparing knows which processes are never stopped for the machine's sake,
// whatever they take: to lose them costs more than the memory is worth. What a
// process is, its binary, its cgroup and its uid say; the name that it gives
// itself is asked for nothing but whether it supervises others.
type sparing struct {
	fs      proc.FS
	rules   Rules
	protect []string         // names of units
	own     map[proc.ID]bool // the governor and what started it
	exe     string           // the governor's binary
	machine bool             // guards the whole machine, not one user
	uid     uint32           // of that user
}

// Why some are spared; their insides have rules of their own.
const (
	spareShell    = "it is a shell"
	sparePackages = "package managers are not interrupted"
)

// wholeSessions are programs without which nobody gets in, or all that a person has
// open is gone. Their binaries are the system's: one of that name elsewhere is
// any program.
var wholeSessions = map[string]string{
	"sshd": "sshd", "sshd-session": "sshd", "sshd-auth": "sshd", "dropbear": "an ssh server", "mosh-server": "an ssh server",
	"ssh": "an ssh connection", "login": "a login", "agetty": "a login", "getty": "a login", "sulogin": "a login",
	"su": "su", "sudo": "sudo", "sudo-rs": "sudo", "doas": "doas", "pkexec": "pkexec", "runuser": "runuser", "systemd-run": "systemd-run",
	"Xorg": "a display server", "Xwayland": "a display server", "X": "a display server", "Xvnc": "a display server", "wayvnc": "a display server",
	"labwc": "a display server", "wayfire": "a display server", "weston": "a display server", "sway": "a display server",
	"Hyprland": "a display server", "kwin_wayland": "a display server", "kwin_x11": "a display server", "mutter": "a display server",
	"gnome-shell": "a display server", "cage": "a display server", "openbox": "a window manager", "xfwm4": "a window manager",
	"i3": "a window manager", "lightdm": "a display manager", "gdm3": "a display manager", "gdm": "a display manager",
	"sddm": "a display manager", "gdm-session-worker": "a display manager", "gdm-wayland-session": "a display manager",
	"gdm-x-session": "a display manager", "lxsession": "a desktop session", "gnome-session-binary": "a desktop session",
	"xfce4-session": "a desktop session", "plasmashell": "a desktop session", "startplasma-wayland": "a desktop session",
	"dbus-daemon": "the message bus", "dbus-broker": "the message bus", "dbus-broker-launch": "the message bus",
	"systemd": "a service manager", "openrc-run": "a service manager", "supervise-daemon": "a service manager",
	"s6-supervise": "a service manager", "s6-svscan": "a service manager", "runsv": "a service manager", "runsvdir": "a service manager",
	"tmux": "a multiplexer", "screen": "a multiplexer", "zellij": "a multiplexer", "dtach": "a multiplexer", "abduco": "a multiplexer",
	"pipewire": "the sound server", "wireplumber": "the sound server", "pulseaudio": "the sound server",
	"conmon": "a container's monitor", "containerd-shim-runc-v2": "a container's monitor", "dockerd": "a container engine",
	"containerd": "a container engine", "podman": "a container engine", "docker": "a container engine",
}

// why says why the process must not be touched; empty for one that may be. x
// has its command and its facts.
func (s *sparing) why(x *proc.Exec) string {
	base := path.Base(x.Exe)
	switch {
	case x.ID.PID <= 1:
		return "it is pid 1"
	case s.own[x.ID], s.exe != "" && x.Exe == s.exe:
		return "it is the governor, or started it"
	case x.Exe == "" && s.machine:
		return "its binary cannot be read"
	case !s.machine && x.UID != s.uid:
		return "it is another user's"
	case x.Secure || x.UID != x.EUID:
		return "it runs with more rights than its caller has (setuid)"
	}
	if c, ok := proc.ContainerOf(x.Cgroup); ok {
		return fmt.Sprintf("it runs in a container (%s)", c)
	}
	if unit := s.protected(x.Cgroup); unit != "" {
		return fmt.Sprintf("%s is protected", unit)
	}
	if why := ofService(x.Cgroup); why != "" {
		return why
	}
	if systemBinary(x.Exe) {
		if what := wholeSessions[base]; what != "" {
			return "it is " + what
		}
		if isShell(base) {
			return spareShell
		}
		if packageManagers[base] {
			return sparePackages
		}
	}
	if len(x.Argv) == 0 {
		return ""
	}
	switch kind := s.rules.Argv(classifier.Command{Argv: x.Argv, Exe: x.Exe, Comm: x.Comm}).Kind; {
	case kind.Has(classifier.Supervisor):
		return "it supervises others"
	case kind.Has(classifier.PackageManager):
		return sparePackages
	}
	return ""
}

// protected is the protected unit that a cgroup is, or is below.
func (s *sparing) protected(cgroup string) string {
	for part := range strings.SplitSeq(cgroup, "/") {
		for _, unit := range s.protect {
			if part == unit {
				return unit
			}
		}
	}
	return ""
}

// ofService says why what sits in a cgroup is a service's, or the service
// manager's own: their unit says what becomes of them.
func ofService(cgroup string) string {
	o := contain.ParseOrigin(cgroup)
	switch {
	case o.Kind == "service":
		return o.Unit + " is a service"
	case o.Kind == "user-manager":
		return "it is part of a service manager"
	case o.Unit == "init.scope":
		return "it is part of a service manager"
	case o.Kind != "job" && strings.HasPrefix(cgroup, "/system.slice/"):
		return "it belongs to the system (system.slice)"
	}
	return ""
}

// systemBinary reports whether a binary is where only root installs. What a
// user has at home may have any name.
func systemBinary(exe string) bool {
	for _, dir := range []string{"/usr/", "/bin/", "/sbin/", "/lib", "/opt/", "/nix/store/", "/snap/"} {
		if strings.HasPrefix(exe, dir) {
			return true
		}
	}
	return false
}

// goesWithTree reports whether a tree may be stopped that has this process in
// it. The shells of scripts go with what they run; one that leads a session on
// a terminal is a person's.
func goesWithTree(x *proc.Exec, why string) bool {
	return why == "" || why == spareShell && !(x.SID == x.ID.PID && x.TTY != 0)
}
