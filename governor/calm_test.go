package governor

import (
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor/journal"
)

// TestQuietJobs: a job that does nothing gives its slot back after a minute, or
// after 5 s while somebody waits, and takes it again when it works.
func TestQuietJobs(t *testing.T) {
	running(t, nil, func(w *world) {
		w.proc.change(200, func(n *fakeProcess) { n.idle = true })
		w.after(30 * turn)
		if j := w.job(); j.Quiet || w.slots() != 1 {
			t.Errorf("quiet after 30 s with nobody waiting: %+v", j)
		}
		w.after(35 * turn)
		if j := w.job(); !j.Quiet || j.State != string(Quiet) || w.slots() != 0 {
			t.Errorf("not quiet after a minute: %+v, %d slots", j, w.slots())
		}
		w.proc.change(200, func(n *fakeProcess) { n.idle = false })
		w.after(5 * turn)
		if j := w.job(); j.Quiet || w.slots() != 1 {
			t.Errorf("quiet while it works: %+v", j)
		}
		w.wantEvents("captured placed quiet busy")
	})
}

func TestIdleHolderGivesWay(t *testing.T) {
	holding(t, nil, func(w *world) {
		w.proc.change(200, func(n *fakeProcess) { n.state = 'T' }) // Ctrl-Z of the holder
		w.after(4 * turn)
		if !w.frozen(300) {
			t.Error("it gave way within 4 s")
		}
		w.after(4 * turn)
		if w.frozen(300) {
			t.Errorf("the other waits for one that does nothing:\n%s", w.timeline())
		}
	})
}

// TestInsideAQuietJob: what a dev server starts is a job of its own, with a
// scope beside it, as long as the server is quiet.
func TestInsideAQuietJob(t *testing.T) {
	running(t, nil, func(w *world) {
		server := w.job()
		inside := func(pid int) *fakeCatch {
			w.fork(pid, 200, 200, "make")
			return w.tracer(pid, false)
		}
		if inside(201) != nil {
			t.Error("a finding in a busy job")
		}
		w.proc.exit(201)
		w.proc.change(200, func(n *fakeProcess) { n.idle = true })
		w.after(65 * turn)
		if len(w.sight.ignored) != 0 {
			t.Error("the source does not tell of it")
		}
		if inside(202) == nil {
			t.Fatal("no finding in a quiet job")
		}
		w.after(turn / 2)
		at, err := w.proc.fs().Cgroup(202)
		if err != nil || at == server.Cgroup || len(w.snapshot().Jobs) != 2 {
			t.Errorf("it sits in %q, %v", at, err)
		}
		spec := w.backend.placed[1]
		if spec.Origin.PartOf != server.Unit || spec.Origin.Cgroup != server.Cgroup || spec.Origin.Kind == "job" {
			t.Errorf("origin %+v", spec.Origin)
		}
		w.proc.exit(202)
		w.proc.change(200, func(n *fakeProcess) { n.idle = false })
		w.after(6 * turn)
		if inside(203) != nil || w.sight.ignored[1] == "" {
			t.Error("a finding in a job that works again")
		}
		w.proc.exit(203)
		w.proc.exit(200)
		w.after(linger + 3*turn)
		if len(w.sight.ignored) != 0 {
			t.Errorf("%v are ignored at the end", w.sight.ignored)
		}
	})
}

func TestAQuietJobKeepsItsCap(t *testing.T) {
	running(t, nil, func(w *world) {
		w.proc.change(200, func(n *fakeProcess) { n.idle, n.rssMB = true, 50 })
		was := w.job().MemoryCapMB
		w.after(70 * turn)
		if j := w.job(); !j.Quiet || j.MemoryCapMB < was {
			t.Errorf("quiet %v, cap %d, it was %d", j.Quiet, j.MemoryCapMB, was)
		}
		if r := w.ledger.of(journal.Quiet); len(r) != 1 || r[0].MemoryCapMB == 0 {
			t.Errorf("got %+v", r)
		}
	})
}

func TestScopeOf(t *testing.T) {
	tests := []struct {
		cgroup, want string
	}{
		{"/user.slice/headroom-npm-0a1b2c3d.scope", "/user.slice/headroom-npm-0a1b2c3d.scope"},
		{"/user.slice/headroom-npm-0a1b2c3d.scope/below/it", "/user.slice/headroom-npm-0a1b2c3d.scope"},
		{"/headroom-x.scope", "/headroom-x.scope"},
		{"/user.slice/session-2.scope", ""},
		{"/", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if got, ok := scopeOf(tt.cgroup); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%q: %q, %v; want %q", tt.cgroup, got, ok, tt.want)
		}
	}
}

func TestLateFindingsAreNotHeld(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.caught(200, "npm", "test")
		w.after(turn)
		tests := []struct {
			pid  int
			ran  time.Duration
			held bool
		}{
			{300, 10 * time.Second, false}, // it has its memory by now
			{400, 0, true},
		}
		for _, tt := range tests {
			w.proc.add(fakeProcess{pid: tt.pid, ppid: shell, pgid: tt.pid, argv: []string{"make"}, exe: "/usr/bin/make",
				start: TicksNow() - uint64(tt.ran.Seconds()*clockTicks)})
			w.found(tt.pid, true)
			w.after(turn)
			if got := w.frozen(tt.pid); got != tt.held {
				t.Errorf("found %v late: held %v", tt.ran, got)
			}
		}
	})
}
