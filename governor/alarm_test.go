package governor

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/loader/proc"
)

func TestWatchStatus(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.after(3 * time.Second)
		s := w.snapshot().Watch
		if !s.On || s.Level != "calm" || s.Alarm != "none" || s.UntilCriticalS != -1 || s.LookAwayMS <= 0 || s.Counts != (WatchCounts{}) {
			t.Errorf("a calm machine: %+v", s)
		}
		w.memory.mu.Lock()
		w.memory.reading.MemAvailable = 50 << 20
		w.memory.mu.Unlock()
		w.after(3 * time.Second)
		s = w.snapshot().Watch
		if s.Level != "critical" || s.Alarm != "kill" || s.Counts.Alarms != 1 || !strings.Contains(s.Why, "50 MB") {
			t.Errorf("an alarm: %+v", s)
		}
		if n := len(w.ledger.of(journal.Alarm)); n != 1 {
			t.Errorf("the alarm is told %d times", n)
		}
		w.memory.fail()
		w.after(3 * time.Second)
		if _, err := json.Marshal(w.snapshot()); err != nil {
			t.Errorf("a memory that cannot be read: %v", err)
		}
	})
}

// Before the first reading nothing is known, and the status can be told all the
// same.
func TestWatchStatusBeforeAnything(t *testing.T) {
	g := New(Options{Config: Default()})
	s := g.watchStatus()
	if s.Level != "unknown" || s.SlopeMBs != nil || s.UntilCriticalS != -1 {
		t.Errorf("got %+v", s)
	}
	if _, err := json.Marshal(s); err != nil {
		t.Error(err)
	}
}

func TestLately(t *testing.T) {
	l := make(lately)
	id := proc.ID{PID: 5, Start: 9}
	if l.has(id) {
		t.Error("known before it was noted")
	}
	l.note(id)
	if !l.has(id) || l.has(proc.ID{PID: 5, Start: 10}) {
		t.Error("not the process that was noted")
	}
	l[id] = time.Now().Add(-stuckFor)
	if l.has(id) || len(l) != 0 {
		t.Error("remembered for ever")
	}
}

// What the records say of spared processes: none twice.
func TestNamed(t *testing.T) {
	notes := []string{"postgres (pid 600) has 560 MB: db.service is a service"}
	if !named(notes, "postgres (pid 600) has 560 MB: it did not grow") || named(notes, "postgres (pid 60) has 1 MB: x") {
		t.Error("a process is known by its pid")
	}
}
