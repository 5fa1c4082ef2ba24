package governor

import (
	"strings"
	"testing"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/loader/proc"
)

func TestLook(t *testing.T) {
	base := fakeProcess{pid: 200, ppid: 1, argv: []string{"npm", "test"}, exe: "/usr/bin/npm", uid: 1000, login: 1000, cgroup: session}
	tests := []struct {
		name  string
		set   func(p *fakeProcess)
		look  proc.ID
		found bool
		leave string // a part of it
	}{
		{"heavy", func(*fakeProcess) {}, proc.ID{PID: 200}, true, ""},
		{"light", func(p *fakeProcess) { p.argv = []string{"ls"} }, proc.ID{PID: 200}, false, ""},
		{"heavy, not to be captured itself", func(p *fakeProcess) { p.argv = []string{"claude"} }, proc.ID{PID: 200}, false, ""},
		{"gone", func(*fakeProcess) {}, proc.ID{PID: 999}, false, ""},
		{"zombie", func(p *fakeProcess) { p.state = 'Z' }, proc.ID{PID: 200}, false, ""},
		{"another's pid by now", func(*fakeProcess) {}, proc.ID{PID: 200, Start: 5}, false, ""},
		{"the governor itself", func(p *fakeProcess) { p.pid = 99 }, proc.ID{PID: 99}, false, ""},
		{"pid 1", func(p *fakeProcess) { p.pid = 1 }, proc.ID{PID: 1}, false, ""},
		{"no pid", func(*fakeProcess) {}, proc.ID{}, false, ""},
		{"setuid by AT_SECURE", func(p *fakeProcess) { p.secure = true; p.euid = 1000 }, proc.ID{PID: 200}, true, "setuid"},
		{"setuid by its ids", func(p *fakeProcess) { p.euid = 33 }, proc.ID{PID: 200}, true, "setuid"},
		{"root's binary cannot be read", func(p *fakeProcess) { p.uid, p.exe = 0, "" }, proc.ID{PID: 200}, true, "cannot be read"},
		{"a user's binary cannot be read", func(p *fakeProcess) { p.exe = "" }, proc.ID{PID: 200}, true, ""},
		{"in a job", func(p *fakeProcess) { p.cgroup = "/user.slice/headroom-npm-1.scope" }, proc.ID{PID: 200}, false, ""},
		{"below a job", func(p *fakeProcess) { p.cgroup = "/user.slice/headroom-npm-1.scope/sub" }, proc.ID{PID: 200}, false, ""},
		{"in the governor's own service", func(p *fakeProcess) { p.cgroup = "/system.slice/headroom-x.service" }, proc.ID{PID: 200}, true, ""},
		{"in a container", func(p *fakeProcess) { p.cgroup = "/system.slice/docker-0abc.scope" }, proc.ID{PID: 200}, true, "container (docker 0abc)"},
		{"in a pod", func(p *fakeProcess) { p.cgroup = "/kubepods.slice/x/cri-containerd-1.scope" }, proc.ID{PID: 200}, true, "container (containerd 1)"},
		{"in podman's", func(p *fakeProcess) { p.cgroup = "/machine.slice/libpod-1.scope" }, proc.ID{PID: 200}, true, "container (podman 1)"},
		{"in an engine's own service", func(p *fakeProcess) { p.cgroup = "/system.slice/docker.service" }, proc.ID{PID: 200}, true, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fake, p := newFakeProc(t), base
			test.set(&p)
			fake.add(p)
			x := proc.Exec{ID: test.look, Comm: "npm"}
			f, found := NewJudge(fake.fs(), fakeRules{}, 99).Look(&x)
			if found != test.found || !strings.Contains(f.Leave, test.leave) || (test.leave == "") != (f.Leave == "") {
				t.Fatalf("found %v, leave %q", found, f.Leave)
			}
			if found && (f.Verdict.Family != "npm" || f.Exec.ID.Start == 0 || f.Exec.Cgroup != p.cgroup || len(f.Exec.Argv) != 2) {
				t.Errorf("incomplete: %+v", f)
			}
		})
	}
}

func TestLookCounts(t *testing.T) {
	p := newFakeProc(t)
	p.add(fakeProcess{pid: 200, ppid: 1, argv: []string{"ls"}, exe: "/bin/ls", uid: 1000})
	p.add(fakeProcess{pid: 201, ppid: 1, argv: []string{"make"}, exe: "/bin/make", uid: 1000, cgroup: "/headroom-a-1.scope"})
	j := NewJudge(p.fs(), fakeRules{}, 99)
	for _, pid := range []int{200, 200, 201} {
		j.Look(&proc.Exec{ID: proc.ID{PID: pid}})
	}
	if l, i := j.light.Load(), j.inside.Load(); l != 2 || i != 1 {
		t.Errorf("light %d, inside %d", l, i)
	}
}

// lightRules find nothing heavy.
type lightRules struct{}

func (lightRules) Argv(classifier.Command) classifier.Verdict {
	return classifier.Verdict{Class: classifier.Light}
}

func TestSetRules(t *testing.T) {
	p := newFakeProc(t)
	p.add(fakeProcess{pid: 200, ppid: 1, argv: []string{"make"}, exe: "/bin/make", uid: 1000})
	j := NewJudge(p.fs(), fakeRules{}, 99)
	if _, ok := j.Look(&proc.Exec{ID: proc.ID{PID: 200}}); !ok {
		t.Fatal("not found by the first rules")
	}
	j.SetRules(lightRules{})
	if _, ok := j.Look(&proc.Exec{ID: proc.ID{PID: 200}}); ok {
		t.Error("found by rules that find nothing")
	}
}

func TestInsidePackageManager(t *testing.T) {
	p := newFakeProc(t)
	p.add(fakeProcess{pid: 1, comm: "systemd", argv: []string{"/sbin/init"}, exe: "/init"})
	p.add(fakeProcess{pid: 100, ppid: 1, argv: []string{"bash"}, exe: "/bin/bash"})
	p.add(fakeProcess{pid: 200, ppid: 100, argv: []string{"apt", "upgrade"}, exe: "/bin/apt"})
	p.add(fakeProcess{pid: 201, ppid: 200, argv: []string{"dpkg", "-i"}, exe: "/bin/dpkg"})
	p.add(fakeProcess{pid: 202, ppid: 201, argv: []string{"sh", "postinst"}, exe: "/bin/sh"})
	p.add(fakeProcess{pid: 203, ppid: 202, argv: []string{"make"}, exe: "/bin/make"})
	p.add(fakeProcess{pid: 204, ppid: 202, argv: []string{"apt", "update"}, exe: "/bin/apt"})
	p.add(fakeProcess{pid: 300, ppid: 100, argv: []string{"make", "apt"}, exe: "/bin/make"})
	tests := []struct {
		name, inside, leave string
		pid                 int
		kind                classifier.Kind
	}{
		{"apt in a shell is none", "", "", 200, classifier.PackageManager},
		{"a maintainer script's build", "dpkg", "insides of a package manager", 203, 0},
		{"a package manager's package manager", "dpkg", "it runs inside dpkg", 204, classifier.PackageManager},
		{"a build whose argument is apt", "", "", 300, 0},
		{"gone", "", "", 999, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := Finding{Exec: proc.Exec{ID: proc.ID{PID: test.pid}}, Verdict: classifier.Verdict{Kind: test.kind}}
			if name, ok := insidePackageManager(&f.Exec, p.fs()); name != test.inside || ok != (test.inside != "") {
				t.Errorf("got %q, %v", name, ok)
			}
			if why := leave(&f, p.fs()); !strings.Contains(why, test.leave) || (why == "") != (test.leave == "") {
				t.Errorf("leave: %q", why)
			}
		})
	}
}

func TestLeaveSaysWhatTheJudgeSaid(t *testing.T) {
	f := Finding{Leave: "it is setuid"}
	if got := leave(&f, newFakeProc(t).fs()); got != "it is setuid" {
		t.Errorf("got %q", got)
	}
}
