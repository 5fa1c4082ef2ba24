package governor

import (
	"strings"
	"testing"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/loader/proc"
)

// TestNeverTaken: what must not be taken is not, whatever it calls itself. The
// rules are those that are built in.
func TestNeverTaken(t *testing.T) {
	const (
		service = "/system.slice/x.service"
		id      = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	)
	rules, faults := classifier.New(classifier.Options{})
	if len(faults) != 0 {
		t.Fatal(faults)
	}
	tests := []struct {
		name  string
		p     fakeProcess
		why   string // of what is told; "" where nothing is
		taken bool   // it is what it says, so that the table can fail
	}{
		{name: "make itself", p: fakeProcess{argv: []string{"make"}, exe: "/usr/bin/make"}, taken: true},
		{name: "npm itself", p: fakeProcess{argv: []string{"node", "/usr/bin/npm", "ci"}, comm: "npm", exe: "/usr/bin/node"}, taken: true},

		{name: "a login shell", p: fakeProcess{argv: []string{"-bash"}, exe: "/usr/bin/bash"}},
		{name: "a login shell named make", p: fakeProcess{argv: []string{"-make"}, exe: "/usr/bin/bash"}},
		{name: "a shell named make", p: fakeProcess{argv: []string{"make"}, exe: "/usr/bin/bash"}},
		{name: "a shell named npm with words", p: fakeProcess{argv: []string{"npm", "test"}, exe: "/usr/bin/dash"}},
		{name: "a shell named cargo", p: fakeProcess{argv: []string{"cargo", "build"}, exe: "/usr/bin/zsh"}},
		{name: "fish named cargo", p: fakeProcess{argv: []string{"cargo", "build"}, exe: "/usr/bin/fish"}},
		{name: "a shell whose comm is npm", p: fakeProcess{argv: []string{"bash"}, comm: "npm", exe: "/usr/bin/bash"}},
		{name: "sshd", p: fakeProcess{argv: []string{"sshd: make [priv]"}, comm: "sshd", exe: "/usr/sbin/sshd"}},
		{name: "sshd named make", p: fakeProcess{argv: []string{"make"}, exe: "/usr/sbin/sshd"}},
		{name: "a session of sshd named npm", p: fakeProcess{argv: []string{"npm", "ci"}, exe: "/usr/lib/openssh/sshd-session"}},
		{name: "ssh named make", p: fakeProcess{argv: []string{"make", "pi@host"}, exe: "/usr/bin/ssh"}},
		{name: "sudo", p: fakeProcess{argv: []string{"sudo", "make"}, exe: "/usr/bin/sudo", secure: true}},
		{name: "sudo named make", p: fakeProcess{argv: []string{"make", "all"}, exe: "/usr/bin/sudo", secure: true}},
		{name: "su", p: fakeProcess{argv: []string{"su", "-c", "npm ci"}, exe: "/usr/bin/su", secure: true}},
		{name: "su named npm", p: fakeProcess{argv: []string{"npm", "ci"}, exe: "/usr/bin/su", secure: true}},
		{name: "pkexec named cargo", p: fakeProcess{argv: []string{"cargo", "build"}, exe: "/usr/bin/pkexec", secure: true}},
		{name: "passwd named make", p: fakeProcess{argv: []string{"make"}, exe: "/usr/bin/passwd", secure: true}},
		{name: "a setuid copy", p: fakeProcess{argv: []string{"/home/pi/make"}, exe: "/home/pi/make", secure: true}, why: "setuid"},
		{name: "a setuid copy that is another by now", p: fakeProcess{argv: []string{"make"}, exe: "/home/pi/make", euid: 33}, why: "setuid"},
		{name: "an X server named make", p: fakeProcess{argv: []string{"make", ":0"}, exe: "/usr/lib/xorg/Xorg"}},
		{name: "a compositor named npm", p: fakeProcess{argv: []string{"npm", "ci"}, exe: "/usr/bin/gnome-shell"}},

		{name: "sleep named make", p: fakeProcess{argv: []string{"make"}, exe: "/usr/bin/sleep"}},
		{name: "sleep by a link named make", p: fakeProcess{argv: []string{"/tmp/make", "9"}, exe: "/usr/bin/sleep"}},
		{name: "sleep in a directory named npm", p: fakeProcess{argv: []string{"/opt/npm/sleep", "9"}, exe: "/opt/npm/sleep"}},
		{name: "sleep that calls itself npm", p: fakeProcess{argv: []string{"sleep", "9"}, comm: "npm", exe: "/usr/bin/sleep"}},
		{name: "sleep with make for an argument", p: fakeProcess{argv: []string{"sleep", "make", "npm", "test"}, exe: "/usr/bin/sleep"}},

		{name: "tmux", p: fakeProcess{argv: []string{"tmux", "new", "-d", "npm test"}, comm: "tmux: server", exe: "/usr/bin/tmux"}},
		{name: "tmux named npm", p: fakeProcess{argv: []string{"npm", "test"}, exe: "/usr/bin/tmux"}},
		{name: "screen", p: fakeProcess{argv: []string{"SCREEN", "-d", "-m", "make"}, comm: "screen", exe: "/usr/bin/screen"}},
		{name: "screen named make", p: fakeProcess{argv: []string{"make", "-d"}, exe: "/usr/bin/screen"}},
		{name: "an agent", p: fakeProcess{argv: []string{"node", "/usr/bin/claude", "npm test"}, comm: "claude", exe: "/usr/bin/node"}},
		{name: "an agent by its title", p: fakeProcess{argv: []string{"claude"}, comm: "claude", exe: "/usr/bin/node"}},
		{name: "an agent in a directory named npm", p: fakeProcess{argv: []string{"node", "/usr/lib/npm/claude"}, comm: "npm", exe: "/usr/bin/node"}},
		{name: "a process manager", p: fakeProcess{argv: []string{"node", "/usr/bin/pm2", "start", "npm"}, comm: "pm2", exe: "/usr/bin/node"}},
		{name: "an editor's server", p: fakeProcess{argv: []string{"node", "/home/pi/.vscode-server/bin/1/out/server-main.js"}, exe: "/usr/bin/node"}},

		{name: "docker's", p: fakeProcess{argv: []string{"make"}, exe: "/usr/bin/make", cgroup: "/system.slice/docker-" + id + ".scope"}, why: "container (docker 0123456789ab)"},
		{name: "podman's", p: fakeProcess{argv: []string{"make"}, exe: "/usr/bin/make", cgroup: "/machine.slice/libpod-" + id + ".scope/container"}, why: "container (podman"},
		{name: "nspawn's", p: fakeProcess{argv: []string{"make"}, exe: "/usr/bin/make", cgroup: "/machine.slice/systemd-nspawn@a.service/payload/x.service"}, why: "container (nspawn a)"},
		{name: "lxc's", p: fakeProcess{argv: []string{"make"}, exe: "/usr/bin/make", cgroup: "/lxc.payload.web/x"}, why: "container (lxc web)"},
		{name: "a pod's", p: fakeProcess{argv: []string{"make"}, exe: "/usr/bin/make", cgroup: "/kubepods/besteffort/pod1/" + id}, why: "container (kubernetes"},
		{name: "buildkit's", p: fakeProcess{argv: []string{"make"}, exe: "/usr/bin/make", cgroup: "/docker/buildkit/x"}, why: "container (buildkit"},

		{name: "dpkg's script", p: fakeProcess{ppid: 51, argv: []string{"make"}, exe: "/usr/bin/make"}, why: "package manager"},
		{name: "a package manager's hook", p: fakeProcess{ppid: 50, argv: []string{"cargo", "build"}, exe: "/usr/bin/cargo"}, why: "package manager"},
		{name: "a kernel thread", p: fakeProcess{comm: "kworker/u8:make"}},
		{name: "a kernel thread named make", p: fakeProcess{comm: "make"}},
		{name: "pid 1", p: fakeProcess{pid: 1, argv: []string{"make"}, exe: "/usr/bin/make"}},
		{name: "the governor", p: fakeProcess{pid: 99, argv: []string{"make"}, exe: "/usr/bin/make"}},
		{name: "what started the governor", p: fakeProcess{pid: 98, argv: []string{"make"}, exe: "/usr/bin/make"}},
		{name: "a placeholder", p: fakeProcess{ppid: 99, argv: []string{"make"}, exe: "/usr/bin/make"}},
		{name: "root's, whose binary cannot be read", p: fakeProcess{ppid: 1, argv: []string{"make"}, cgroup: service}, why: "cannot be read"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fake := newFakeProc(t)
			fake.add(fakeProcess{pid: 1, comm: "systemd", argv: []string{"/sbin/init"}, exe: "/usr/lib/systemd/systemd"})
			fake.add(fakeProcess{pid: shell, ppid: 1, argv: []string{"bash"}, exe: "/usr/bin/bash", uid: 1000, login: 1000, cgroup: session})
			fake.add(fakeProcess{pid: 50, ppid: 1, argv: []string{"apt", "install"}, exe: "/usr/bin/apt", cgroup: session})
			fake.add(fakeProcess{pid: 51, ppid: 50, argv: []string{"sh", "/var/lib/dpkg/info/x.postinst"}, exe: "/usr/bin/dash"})
			fake.add(fakeProcess{pid: 98, ppid: shell, argv: []string{"make"}, exe: "/usr/bin/make"})
			fake.add(fakeProcess{pid: 99, ppid: 98, argv: []string{"headroomd", "serve"}, exe: "/usr/bin/headroomd"})
			p := test.p
			if p.pid == 0 {
				p.pid = 200
			}
			if p.ppid == 0 && p.pid == 200 {
				p.ppid = shell
			} else if p.pid == 99 {
				p.ppid = 98
			}
			if p.pid == 98 || p.pid == 99 {
				st, err := fake.fs().Stat(p.pid)
				if err != nil {
					t.Fatal(err)
				}
				p.start = st.ID.Start
			}
			judge := NewJudge(fake.fs(), rules, 99)
			fake.add(p)
			for _, late := range []bool{false, true} {
				f, found := judge.Look(&proc.Exec{ID: proc.ID{PID: p.pid}, Comm: p.comm, Late: late})
				why := ""
				if found {
					why = leave(&f, fake.fs())
				}
				switch taken := found && why == ""; {
				case taken != test.taken:
					t.Errorf("late %v: taken %v as %+v", late, taken, f.Verdict)
				case !strings.Contains(why, test.why), test.why != "" && why == "":
					t.Errorf("late %v: told %q, want %q in it", late, why, test.why)
				case found && test.why == "" && !test.taken:
					t.Errorf("late %v: told %q, want nothing", late, why)
				}
			}
		})
	}
}
