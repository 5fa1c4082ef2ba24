package governor

import (
	"strings"
	"testing"
)

// TestSurvey: what a process that grew is part of, and whether that may be
// stopped.
func TestSurvey(t *testing.T) {
	tests := []struct {
		name  string
		procs []string // as a scenario has them
		grows int
		root  int    // 0: it is a job's
		spare string // in the reason; "" for none
	}{
		{"below a shell", []string{"501 ppid=100 -- ./a.out"}, 501, 501, ""},
		{"its child", []string{"501 ppid=100 -- ./a.out", "502 ppid=501 -- ./worker"}, 502, 501, ""},
		{"below a script", []string{"501 ppid=100 -- bash run.sh", "502 ppid=501 -- ./a.out"}, 502, 502, ""},
		{"with a script in between", []string{"501 ppid=100 -- ./a.out", "502 ppid=501 -- sh", "503 ppid=502 -- ./b.out"}, 501, 501, ""},
		{"below an agent", []string{"501 ppid=100 -- claude", "502 ppid=501 -- ./a.out"}, 502, 502, ""},
		{"the agent itself", []string{"501 ppid=100 -- claude", "502 ppid=501 -- ./a.out"}, 501, 501, "supervises"},
		{"that has started an agent", []string{"501 ppid=100 -- ./wrap", "502 ppid=501 -- claude"}, 501, 501, "502 runs below it"},
		{"beside an agent that its parent started", []string{"501 ppid=100 -- ./wrap", "502 ppid=501 -- claude", "503 ppid=501 -- ./a.out"}, 503, 503, ""},
		{"below a package manager", []string{"501 ppid=100 uid=0 login=1000 cgroup=/user.slice/user-1000.slice/session-2.scope -- dpkg", "502 ppid=501 -- sh", "503 ppid=502 -- ./postinst"},
			503, 503, "inside a package manager"},
		{"as another user", []string{"501 ppid=100 uid=1001 -- ./a.out", "502 ppid=501 uid=1000 -- ./b.out"}, 502, 502, ""},
		{"in another cgroup", []string{"501 ppid=100 -- ./a.out", "502 ppid=501 cgroup=/user.slice/user-1000.slice/session-9.scope -- ./b.out"}, 502, 502, ""},
		{"of a group of its own", []string{"501 ppid=100 -- panel", "502 ppid=501 pgid=502 -- ./a.out", "503 ppid=502 -- ./worker"}, 503, 502, ""},
		{"in a job", []string{"501 ppid=100 cgroup=/user.slice/headroom-npm-0123abcd.scope -- node"}, 501, 0, ""},
		{"without systemd, below a shell", []string{"500 ppid=1 cgroup=/ -- ash", "501 ppid=500 -- ./a.out"}, 501, 501, ""},
		{"without systemd, a service", []string{"501 ppid=1 cgroup=/ -- nginx", "502 ppid=501 -- worker"}, 502, 501, "taken for a service"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newFakeProc(t)
			p.add(fakeProcess{pid: 1, comm: "systemd", argv: []string{"/sbin/init"}, exe: "/usr/lib/systemd/systemd"})
			p.add(fakeProcess{pid: shell, ppid: 1, pgid: shell, argv: []string{"bash"}, exe: "/usr/bin/bash", uid: 1000, login: 1000, cgroup: session})
			for _, line := range test.procs {
				p.add(parseStatement(t, "proc "+line).process(0))
			}
			was, err := lookAtSizes(p.fs(), 700)
			if err != nil {
				t.Fatal(err)
			}
			p.change(test.grows, func(n *fakeProcess) { n.rssMB = 300 })
			now, _ := lookAtSizes(p.fs(), 400)
			s := surveyor{fs: p.fs(), spare: &sparing{fs: p.fs(), rules: fakeRules{}, machine: true}}
			v := s.look(was, now, members{})
			if v.lostMB != 300 {
				t.Errorf("%d MB lost, want 300", v.lostMB)
			}
			if test.root == 0 {
				if len(v.trees) != 0 || v.jobs["?"] != 300 {
					t.Errorf("trees %+v, jobs %v", v.trees, v.jobs)
				}
				return
			}
			if len(v.trees) != 1 {
				t.Fatalf("%d trees, want one", len(v.trees))
			}
			tree := v.trees[0]
			if tree.exec.ID.PID != test.root || tree.grownMB != 300 || (tree.spare == "") != (test.spare == "") || !strings.Contains(tree.spare, test.spare) {
				t.Errorf("got the tree of %d, grown by %d MB, spared: %q; want %d, %q", tree.exec.ID.PID, tree.grownMB, tree.spare, test.root, test.spare)
			}
		})
	}
}

// Jobs that have a package manager in them are kept, if it is one: what any user
// names so is not.
func TestSurveyKeepsJobs(t *testing.T) {
	p := newFakeProc(t)
	p.add(fakeProcess{pid: 200, argv: []string{"make"}, exe: "/usr/bin/make", uid: 1000, cgroup: session})
	p.add(fakeProcess{pid: 201, ppid: 200, argv: []string{"dpkg"}, exe: "/usr/bin/dpkg", uid: 1})
	p.add(fakeProcess{pid: 300, argv: []string{"dpkg"}, exe: "/home/dora/dpkg", uid: 1000})
	s := surveyor{fs: p.fs(), spare: &sparing{fs: p.fs(), rules: fakeRules{}, machine: true}}
	v := s.look(sizes{}, sizes{}, members{jobs: map[int]string{200: "make-1", 201: "make-1", 300: "hog-2"}})
	if len(v.keep) != 1 || !strings.Contains(v.keep["make-1"], "dpkg (pid 201)") {
		t.Errorf("kept are %v", v.keep)
	}
}
