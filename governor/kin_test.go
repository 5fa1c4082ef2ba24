package governor

import (
	"testing"

	"github.com/headroomd/headroomd/loader/proc"
)

// kinWorld is a /proc with an agent, a service and a person's shell.
func kinWorld(t *testing.T) *fakeProc {
	p := newFakeProc(t)
	p.add(fakeProcess{pid: 1, comm: "systemd", argv: []string{"/sbin/init"}, exe: "/init"})
	p.add(fakeProcess{pid: 10, ppid: 1, pgid: 10, comm: "systemd", argv: []string{"systemd", "--user"}, exe: "/init", uid: 1000, login: 1000})
	p.add(fakeProcess{pid: 100, ppid: 1, pgid: 100, argv: []string{"bash"}, exe: "/bin/bash", uid: 1000, login: 1000, cgroup: session})
	// an agent that does not detach its children: 200 leads the group of all
	p.add(fakeProcess{pid: 200, ppid: 100, pgid: 200, argv: []string{"claude"}, exe: "/bin/claude"})
	p.add(fakeProcess{pid: 201, ppid: 200, argv: []string{"bash", "-c", "npm test"}, exe: "/bin/bash"})
	p.add(fakeProcess{pid: 202, ppid: 201, argv: []string{"npm", "test"}, exe: "/bin/npm"})
	p.add(fakeProcess{pid: 203, ppid: 201, argv: []string{"make"}, exe: "/bin/make"})
	p.add(fakeProcess{pid: 204, ppid: 200, argv: []string{"sh", "-c", "make"}, exe: "/bin/sh"})
	p.add(fakeProcess{pid: 205, ppid: 204, argv: []string{"env", "make"}, exe: "/bin/env"})
	p.add(fakeProcess{pid: 206, ppid: 205, argv: []string{"make"}, exe: "/bin/make"})
	p.add(fakeProcess{pid: 207, ppid: 200, argv: []string{"make"}, exe: "/bin/make"})
	// the main process of a service, and one of a user's service
	p.add(fakeProcess{pid: 300, ppid: 1, pgid: 300, argv: []string{"runner"}, exe: "/bin/runner", cgroup: "/system.slice/ci.service"})
	p.add(fakeProcess{pid: 301, ppid: 300, argv: []string{"make"}, exe: "/bin/make"})
	p.add(fakeProcess{pid: 310, ppid: 10, pgid: 310, argv: []string{"runner"}, exe: "/bin/runner", cgroup: "/user.slice/user-1000.slice/user@1000.service/app.slice/ci.service"})
	p.add(fakeProcess{pid: 311, ppid: 310, argv: []string{"-zsh"}, exe: "/bin/zsh"})
	p.add(fakeProcess{pid: 312, ppid: 311, argv: []string{"make"}, exe: "/bin/make"})
	// below the service, a script with a group of its own
	p.add(fakeProcess{pid: 320, ppid: 300, pgid: 320, argv: []string{"sh", "build.sh"}, exe: "/bin/sh"})
	p.add(fakeProcess{pid: 321, ppid: 320, argv: []string{"make"}, exe: "/bin/make"})
	// a script whose leader is gone: 400
	p.add(fakeProcess{pid: 401, ppid: 1, pgid: 400, argv: []string{"make"}, exe: "/bin/make", uid: 1000, login: 1000, cgroup: session})
	// a person's script
	p.add(fakeProcess{pid: 500, ppid: 100, pgid: 500, argv: []string{"sh", "build.sh"}, exe: "/bin/sh"})
	p.add(fakeProcess{pid: 501, ppid: 500, argv: []string{"make"}, exe: "/bin/make"})
	p.add(fakeProcess{pid: 502, ppid: 500, argv: []string{"make"}, exe: "/bin/make"})
	p.add(fakeProcess{pid: 510, ppid: 100, pgid: 510, argv: []string{"make"}, exe: "/bin/make"})
	return p
}

func kinIn(t *testing.T, p *fakeProc, pid int) kin {
	t.Helper()
	x := proc.Exec{ID: proc.ID{PID: pid}}
	if err := p.fs().ReadFacts(&x); err != nil {
		t.Fatal(err)
	}
	return kinOf(&x, p.fs(), fakeRules{})
}

func TestKinOf(t *testing.T) {
	p := kinWorld(t)
	tests := []struct {
		name        string
		pid         int
		pgid, shell int
		mute        bool
	}{
		{"leader of its own group", 510, 510, 0, false},
		{"in a script", 501, 500, 0, false},
		{"the leader is gone", 401, 400, 0, false},
		{"agent, a shell between", 202, 200, 201, false},
		{"agent, the same shell between", 203, 200, 201, false},
		{"agent, the shell is further up", 206, 200, 204, false},
		{"agent, no shell between", 207, 200, 0, true},
		{"service's main process, no shell between", 301, 300, 0, true},
		{"user service's main process, a login shell between", 312, 310, 311, false},
		{"a script below a service", 321, 320, 0, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := kinIn(t, p, test.pid)
			if k.pgid != test.pgid || k.shell.PID != test.shell || k.mute != test.mute {
				t.Errorf("got %+v", k)
			}
			if test.shell != 0 && k.shell.Start == 0 {
				t.Error("the shell is a bare pid")
			}
		})
	}
}

func TestSameKin(t *testing.T) {
	p := kinWorld(t)
	tests := []struct {
		name string
		a, b int
		want bool
	}{
		{"one script", 501, 502, true},
		{"two commands of one shell", 501, 510, false},
		{"one shell of an agent", 202, 203, true},
		{"two shells of an agent", 202, 206, false},
		{"an agent's shell and the agent itself", 202, 207, false},
		{"nobody's kin, not even its own", 207, 207, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, b := kinIn(t, p, test.a), kinIn(t, p, test.b)
			if a.same(b) != test.want || b.same(a) != test.want {
				t.Errorf("%+v and %+v: %v and %v", a, b, a.same(b), b.same(a))
			}
		})
	}
}

func TestSameKinNeedsAllOfIt(t *testing.T) {
	k := kin{pgid: 5, loginUID: 1000, uid: 1000, shell: proc.ID{PID: 4, Start: 9}}
	change := map[string]func(*kin){
		"group":     func(k *kin) { k.pgid = 6 },
		"login":     func(k *kin) { k.loginUID = 1001 },
		"user":      func(k *kin) { k.uid = 0 },
		"shell":     func(k *kin) { k.shell.Start = 8 },
		"no group":  func(k *kin) { k.pgid = 0 },
		"no kin":    func(k *kin) { k.mute = true },
		"no shell":  func(k *kin) { k.shell = proc.ID{} },
		"other pid": func(k *kin) { k.shell.PID = 3 },
	}
	if !k.same(k) {
		t.Fatal("not its own kin")
	}
	for name, do := range change {
		o := k
		do(&o)
		if k.same(o) || o.same(k) {
			t.Errorf("another %s: still kin", name)
		}
	}
	if none := (kin{}); none.same(none) {
		t.Error("what has no group is kin of everything that has none")
	}
}

func TestKinOfTheGone(t *testing.T) {
	p := kinWorld(t)
	x := proc.Exec{ID: proc.ID{PID: 202}}
	if err := p.fs().ReadFacts(&x); err != nil {
		t.Fatal(err)
	}
	p.exit(202)
	if k := kinOf(&x, p.fs(), fakeRules{}); !k.mute || k.shell.PID != 0 {
		t.Errorf("got %+v; its shell cannot be known any more", k)
	}
}
