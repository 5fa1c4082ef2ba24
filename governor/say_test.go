package governor

import (
	"strings"
	"sync"
	"testing"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/note"
)

// keptNotes keeps what callers are told.
type keptNotes struct {
	mu  sync.Mutex
	all []note.Note
}

func (k *keptNotes) Tell(n note.Note) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, n)
}

// TestNotes: once for a wait and once for its end, to the first process, with
// what the settings and the command allow.
func TestNotes(t *testing.T) {
	tests := []struct {
		name             string
		setting          string
		argv             string
		agent            bool
		kinds            string
		terminal, agent2 bool
	}{
		{"a command", "on", "make", false, "waiting started", false, false},
		{"terminals only", "terminal", "make", false, "waiting started", true, false},
		{"off", "off", "make", false, "", false, false},
		{"a compiler", "on", "cc1", false, "waiting started", true, false},
		{"under an agent", "on", "make", true, "waiting started", false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, func(o *Options) { o.Config.Notes = tt.setting }, func(w *world) {
				kept := &keptNotes{}
				_ = w.gov.do(w.t.Context(), func() { w.gov.o.Notes = kept })
				w.caught(200, "npm", "test")
				w.after(turn)
				parent := shell
				if tt.agent {
					w.spawn(299, "claude")
					parent = 299
				}
				w.fork(300, parent, 300, tt.argv)
				w.tracer(300, false)
				w.after(5 * turn)
				w.proc.exit(200)
				w.after(turn)
				var kinds []string
				for _, n := range kept.all {
					kinds = append(kinds, string(n.Kind))
					if n.To.PID != 300 || n.Terminal != tt.terminal || n.Agent != tt.agent2 || n.Text == "" {
						t.Errorf("note %+v", n)
					}
				}
				if got := strings.Join(kinds, " "); got != tt.kinds {
					t.Errorf("told %q, want %q", got, tt.kinds)
				}
			})
		})
	}
}

func TestNotesOfAnothersJobNameItsFamily(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		kept := &keptNotes{}
		_ = w.gov.do(w.t.Context(), func() { w.gov.o.Notes = kept })
		w.caughtOf(1001, 200, "cc1", "/home/other/secret.c")
		w.after(turn)
		w.caught(300, "make")
		w.after(3 * turn)
		if len(kept.all) != 1 || !strings.Contains(kept.all[0].Text, "gcc (pid 200") || strings.Contains(kept.all[0].Text, "cc1") {
			t.Errorf("told %+v", kept.all)
		}
	})
}

func TestAShortWaitIsNotWorthANote(t *testing.T) {
	holding(t, nil, func(w *world) {
		w.proc.exit(200)
		w.after(3 * turn)
		if strings.Contains(w.timeline(), "note to") {
			t.Errorf("time line:\n%s", w.timeline())
		}
	})
}

func TestOverTheCapIsSaid(t *testing.T) {
	running(t, nil, func(w *world) {
		w.scopeOf(200, func(s *fakeScope) { s.oom, s.peakMB = 1, 460 })
		w.after(turn)
		if !strings.Contains(w.timeline(), "note to 200 (over-cap): npm went over its memory cap of 460 MB") {
			t.Errorf("time line:\n%s", w.timeline())
		}
	})
}

// The end of a job is told to the shell that started it where the job itself has
// nothing left to be written to; not to an agent's own terminal.
func TestWhoElseIsToldOfAnEnd(t *testing.T) {
	for _, tt := range []struct {
		name, parent string
		parentEnds   bool
		want         int
	}{
		{"a shell", "bash", false, 150},
		{"a shell that ended as well", "bash", true, 0},
		{"an agent", "claude", false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, nil, func(w *world) {
				kept := &keptNotes{}
				_ = w.gov.do(w.t.Context(), func() { w.gov.o.Notes = kept })
				w.spawn(150, tt.parent)
				w.fork(200, 150, 200, "npm", "test")
				w.tracer(200, false)
				w.after(turn)
				if tt.parentEnds {
					w.proc.exit(150)
				}
				w.scopeOf(200, func(s *fakeScope) { s.oom, s.peakMB = 1, 460 })
				w.after(turn)
				if len(kept.all) != 1 || kept.all[0].Kind != note.OverCap || kept.all[0].To.PID != 200 || kept.all[0].Else.PID != tt.want {
					t.Errorf("told %+v, want also %d", kept.all, tt.want)
				}
			})
		})
	}
}

// Where the governor measures it knows what it killed, and says that it did.
func TestOverAMeasuredCapIsSaid(t *testing.T) {
	running(t, nil, func(w *world) {
		_ = w.gov.do(w.t.Context(), func() {
			for _, j := range w.gov.jobs {
				j.scope.SoftCap = true
				w.gov.note(j, contain.Usage{OOMKills: 1, Peak: 480 << 20, Working: -1,
					SoftKill: contain.SoftKill{PID: 201, Name: "node", Bytes: 400 << 20, Sum: 480 << 20, Cap: 460 << 20}})
			}
		})
		const want = "note to 200 (over-cap): npm went over its memory cap of 460 MB (peak 480 MB): headroomd killed its largest process (node). "
		if !strings.Contains(w.timeline(), want) {
			t.Errorf("time line:\n%s", w.timeline())
		}
	})
}
