package governor

import (
	"context"
	"fmt"
	"testing/synctest"
	"time"

	"github.com/headroomd/headroomd/governor/note"
)

// fakeNotes puts what callers are told on the time line.
type fakeNotes struct{ tell func(string, ...any) }

func (f fakeNotes) Tell(n note.Note) { f.tell("note to %d (%s): %s", n.To.PID, n.Kind, n.Text) }

// signal sends a process of a scope a signal of its terminal.
func (w *world) signal(s statement) {
	pid := s.arg(0)
	frozen := false
	w.scopeOf(pid, func(sc *fakeScope) {
		if frozen = sc.frozen; frozen {
			sc.stopPending = sc.stopPending || s.verb == "ctrl-z"
			sc.endPending = sc.endPending || s.verb == "ctrl-c"
		}
	})
	switch {
	case frozen:
	case s.verb == "ctrl-c":
		w.proc.exit(pid)
	case s.verb == "ctrl-z":
		w.proc.change(pid, func(n *fakeProcess) { n.state = 'T' })
	default:
		w.proc.change(pid, func(n *fakeProcess) { n.state = 'S' })
	}
}

// run asks to run a command, as the control socket does for `headroomd run`:
// process PID-1 asks for its child.
func (w *world) run(s statement) {
	pid := s.arg(0)
	if !w.proc.has(pid - 1) {
		w.fork(pid-1, shell, pid-1, "headroomd", "run")
	}
	child := s.process(pid - 1)
	child.ppid, child.argv = pid-1, []string{"headroomd", "run"}
	id := w.proc.add(child)
	r := RunRequest{PID: pid, Start: id.Start, Argv: s.argv, Family: s.argv[0], Asker: pid - 1, UID: 1000, WaitS: float64(s.number("wait", 0))}
	for _, word := range s.args[1:] {
		r.Slotless = r.Slotless || word == "slotless"
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.askers[pid] = cancel
	go func() {
		last := ""
		err := w.gov.Admit(ctx, r, func(u RunUpdate) {
			if line := updateLine(u); line != last {
				time.Sleep(time.Duration(pid/10+7) * time.Millisecond) // no two at once: they have no order
				w.act("run %d is told: %s", pid, line)
				last = line
			}
		})
		if err != nil {
			w.act("run %d ends: %v", pid, err)
		}
	}()
	synctest.Wait()
}

func updateLine(u RunUpdate) string {
	text := fmt.Sprintf("%s %s", u.State, u.Job)
	if u.Position != 0 {
		text += fmt.Sprintf(" position=%d", u.Position)
	}
	if u.BehindPID != 0 {
		text += fmt.Sprintf(" behind %s pid=%d", u.BehindFamily, u.BehindPID)
	}
	if u.MissingMB != 0 {
		text += fmt.Sprintf(" missing=%d", u.MissingMB)
	}
	if u.State != RunWaiting {
		text += fmt.Sprintf(" waited=%.1fs isolated=%v cap=%d", u.WaitedS, u.Isolated, u.MemoryCapMB)
	}
	if u.PeakMB != 0 {
		text += fmt.Sprintf(" peak=%d", u.PeakMB)
	}
	if u.Why != "" {
		text += ": " + u.Why
	}
	return text
}

func (w *world) stopJob(s statement) {
	pid := s.arg(0)
	all := w.snapshot()
	for _, j := range append(all.Jobs, all.Queue...) {
		if j.PID == pid {
			go func() {
				err := w.gov.StopJob(context.Background(), j.ID, uint32(s.number("by", 0)))
				w.act("stop of %s: %v", j.ID, err)
			}()
			return
		}
	}
	w.t.Errorf("%q: no such job", s.text)
}

func (w *world) tellQueue() {
	all := w.snapshot().Queue
	w.act("queue: %d", len(all))
	for _, j := range all {
		text := fmt.Sprintf("  %d. %s %s waits %.1f s", j.Position, j.ID, j.State, j.WaitS)
		if j.Behind != "" {
			text += " behind " + j.Behind
		}
		if j.MissingMB != 0 {
			text += fmt.Sprintf(", %d MB missing", j.MissingMB)
		}
		w.act("%s: %s", text, j.Why)
	}
}
