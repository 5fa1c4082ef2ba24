package governor

import (
	"strings"
	"testing"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor/journal"
)

// agentsJob is a world in which an agent (300) runs npm (302) with a worker
// (303), both reading from its terminal.
func agentsJob(t *testing.T, set func(*Options), test func(w *world)) {
	t.Helper()
	inWorld(t, set, func(w *world) {
		w.after(turn / 10)
		w.fork(300, shell, 300, "claude")
		w.fork(301, 300, 301, "bash")
		w.fork(302, 301, 301, "npm", "test")
		w.proc.change(302, func(n *fakeProcess) { n.stdin = "/dev/pts/3" })
		w.tracer(302, false)
		w.after(turn / 2)
		w.fork(303, 302, 301, "node", "worker")
		w.proc.change(303, func(n *fakeProcess) { n.stdin = "/dev/pts/3" })
		w.after(turn)
		test(w)
	})
}

func TestSweep(t *testing.T) {
	tests := []struct {
		name  string
		do    func(w *world)
		swept bool
	}{
		{"all are there", func(*world) {}, false},
		{"the agent is gone", func(w *world) { w.proc.exit(300) }, true},
		{"the first process is gone", func(w *world) { w.proc.exit(302) }, true},
		{"only the shell between is gone", func(w *world) { w.proc.exit(301) }, false},
		{"nohup", func(w *world) {
			w.proc.exit(300)
			w.proc.change(303, func(n *fakeProcess) { n.ignored = 1 })
		}, false},
		{"setsid", func(w *world) {
			w.proc.exit(300)
			w.proc.change(303, func(n *fakeProcess) { n.pgid = 303 }) // the fake's session is its group
		}, false},
		{"in the background", func(w *world) {
			w.proc.exit(302)
			w.proc.change(303, func(n *fakeProcess) { n.stdin = "/dev/null" })
		}, false},
		{"where it reads from is not known", func(w *world) {
			w.proc.exit(302)
			w.spawn(304, "node")
			w.proc.change(304, func(n *fakeProcess) { n.pgid, n.cgroup = 301, w.job().Cgroup })
		}, false},
		{"one of it is a supervisor", func(w *world) {
			w.proc.exit(302)
			w.proc.change(303, func(n *fakeProcess) { n.argv, n.comm = []string{"claude"}, "claude" })
		}, false},
		{"one of it is a package manager", func(w *world) {
			w.proc.exit(302)
			w.proc.change(303, func(n *fakeProcess) { n.argv, n.comm = []string{"dpkg"}, "dpkg" })
		}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			agentsJob(t, nil, func(w *world) {
				test.do(w)
				w.after(orphanGrace - turn)
				if len(w.ledger.of(journal.Swept)) != 0 {
					t.Error("swept within the grace")
				}
				w.after(4 * turn)
				got := w.ledger.of(journal.Swept)
				if (len(got) == 1) != test.swept || w.proc.has(303) == test.swept {
					t.Errorf("records %+v, its worker is there: %v", got, w.proc.has(303))
				}
				if test.swept && (!strings.Contains(got[0].Reason, "is gone") || got[0].Job == "") {
					t.Errorf("got %+v", got[0])
				}
			})
		})
	}
}

func TestSweepIsASetting(t *testing.T) {
	agentsJob(t, func(o *Options) { o.Config.Orphans = "keep" }, func(w *world) {
		w.proc.exit(300)
		w.after(2 * orphanGrace)
		if len(w.ledger.of(journal.Swept)) != 0 || !w.proc.has(303) {
			t.Error("swept")
		}
	})
}

func TestMeantToStayByItsRule(t *testing.T) {
	g := &Governor{}
	tests := []struct {
		name string
		job  job
		keep bool
	}{
		{"a daemon", job{kind: classifier.Daemon, pids: []int{1}}, true},
		{"a package manager", job{kind: classifier.PackageManager, pids: []int{1}}, true},
		{"nothing was read", job{}, true},
		{"too many to look at", job{pids: make([]int, maxSwept+1)}, true},
	}
	for _, tt := range tests {
		if got := g.meantToStay(&tt.job); (got != "") != tt.keep {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}
