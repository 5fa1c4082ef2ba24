package governor

import (
	"strings"
	"testing"

	"github.com/headroomd/headroomd/loader/proc"
)

// TestSpared: a process is judged by its binary, its cgroup and its uid. What it
// calls itself saves it from nothing, and exposes it to nothing.
func TestSpared(t *testing.T) {
	const home = "/user.slice/user-1000.slice/session-2.scope"
	s := &sparing{rules: fakeRules{}, protect: []string{"hermes.service", "user-1003.slice"}, own: map[proc.ID]bool{{PID: 77, Start: 7}: true},
		exe: "/usr/bin/headroomd", machine: true}
	user := &sparing{rules: fakeRules{}, uid: 1000}
	tests := []struct {
		name string
		by   *sparing
		x    proc.Exec
		want string // in the reason; "" for none
	}{
		{name: "a.out", x: proc.Exec{Argv: []string{"./a.out"}, Exe: "/home/dora/a.out"}},
		{name: "a.out that calls itself npm", x: proc.Exec{Argv: []string{"npm", "test"}, Exe: "/home/dora/a.out", Comm: "npm"}},
		{name: "a.out that calls itself sshd", x: proc.Exec{Argv: []string{"sshd: dora"}, Exe: "/home/dora/a.out", Comm: "sshd"}},
		{name: "a program at home named sshd", x: proc.Exec{Argv: []string{"./sshd"}, Exe: "/home/dora/sshd"}},
		{name: "a program in /tmp named bash", x: proc.Exec{Argv: []string{"bash"}, Exe: "/tmp/bash"}},
		{name: "python", x: proc.Exec{Argv: []string{"python3", "train.py"}, Exe: "/usr/bin/python3.12"}},
		{name: "sshd that calls itself npm", x: proc.Exec{Argv: []string{"npm", "test"}, Exe: "/usr/sbin/sshd"}, want: "sshd"},
		{name: "a shell that calls itself make", x: proc.Exec{Argv: []string{"make"}, Exe: "/usr/bin/bash"}, want: "shell"},
		{name: "a display server", x: proc.Exec{Argv: []string{"cargo"}, Exe: "/usr/lib/xorg/Xorg"}, want: "display server"},
		{name: "a multiplexer", x: proc.Exec{Argv: []string{"tmux", "new"}, Exe: "/usr/bin/tmux"}, want: "multiplexer"},
		{name: "an agent", x: proc.Exec{Argv: []string{"claude"}, Exe: "/usr/bin/node"}, want: "supervises"},
		{name: "apt", x: proc.Exec{Argv: []string{"apt", "install", "x"}, Exe: "/usr/bin/apt"}, want: "package managers"},
		{name: "dpkg that calls itself make", x: proc.Exec{Argv: []string{"make"}, Exe: "/usr/bin/dpkg"}, want: "package managers"},
		{name: "pid 1", x: proc.Exec{ID: proc.ID{PID: 1}, Argv: []string{"npm"}, Exe: "/sbin/init"}, want: "pid 1"},
		{name: "a kernel thread", x: proc.Exec{Argv: []string{"npm"}}, want: "binary"},
		{name: "setuid", x: proc.Exec{Argv: []string{"make"}, Exe: "/usr/bin/passwd", UID: 1000, EUID: 0}, want: "setuid"},
		{name: "setuid to the same", x: proc.Exec{Argv: []string{"make"}, Exe: "/usr/bin/x", Secure: true}, want: "setuid"},
		{name: "the governor's ancestor", x: proc.Exec{ID: proc.ID{PID: 77, Start: 7}, Argv: []string{"make", "run"}, Exe: "/usr/bin/make"}, want: "governor"},
		{name: "another with its pid", x: proc.Exec{ID: proc.ID{PID: 77, Start: 8}, Argv: []string{"make", "run"}, Exe: "/usr/bin/make"}},
		{name: "headroomd run", x: proc.Exec{Argv: []string{"make"}, Exe: "/usr/bin/headroomd"}, want: "governor"},
		{name: "a service", x: proc.Exec{Argv: []string{"make"}, Exe: "/usr/bin/node", Cgroup: "/system.slice/web.service"}, want: "web.service is a service"},
		{name: "a service that names itself as a job's scope", x: proc.Exec{Argv: []string{"make"}, Exe: "/usr/bin/node", Cgroup: "/system.slice/headroom-.service"}, want: "service"},
		{name: "a scope of the system's", x: proc.Exec{Argv: []string{"make"}, Exe: "/usr/bin/node", Cgroup: "/system.slice/run-1.scope"}, want: "system"},
		{name: "a user's service", x: proc.Exec{Argv: []string{"make"}, Exe: "/usr/bin/node", Cgroup: "/user.slice/user-1000.slice/user@1000.service/app.slice/web.service"}, want: "web.service"},
		{name: "a terminal's scope", x: proc.Exec{Argv: []string{"make"}, Exe: "/usr/bin/node", Cgroup: "/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn-1.scope"}},
		{name: "a user's manager", x: proc.Exec{Argv: []string{"npm"}, Exe: "/usr/lib/systemd/systemd", Cgroup: "/user.slice/user-1000.slice/user@1000.service/init.scope"}, want: "service manager"},
		{name: "docker", x: proc.Exec{Argv: []string{"npm"}, Exe: "/usr/bin/node", Cgroup: "/system.slice/docker-0123456789ab.scope"}, want: "container"},
		{name: "podman of a user", x: proc.Exec{Argv: []string{"npm"}, Exe: "/usr/bin/node", Cgroup: "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-12.scope"}, want: "container"},
		{name: "protected", x: proc.Exec{Argv: []string{"npm"}, Exe: "/usr/bin/node", Cgroup: "/user.slice/user-1003.slice/session-9.scope"}, want: "user-1003.slice is protected"},
		{name: "a name that only begins so", x: proc.Exec{Argv: []string{"npm"}, Exe: "/usr/bin/node", Cgroup: "/user.slice/user-1003.slices/session-9.scope"}},
		{name: "another user's, for one user", by: user, x: proc.Exec{Argv: []string{"./a.out"}, UID: 1001, EUID: 1001}, want: "another user"},
		{name: "one's own, for one user", by: user, x: proc.Exec{Argv: []string{"./a.out"}, Exe: "/home/pi/a.out", UID: 1000, EUID: 1000}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.by == nil {
				test.by = s
			}
			if test.x.ID.PID == 0 {
				test.x.ID.PID = 500
			}
			if test.x.Cgroup == "" {
				test.x.Cgroup = home
			}
			got := test.by.why(&test.x)
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want it with %q", got, test.want)
			}
		})
	}
}
