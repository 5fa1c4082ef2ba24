package governor

import (
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor/journal"
)

// The manager's last word may come late; the process runs on as soon as its cap
// is in force.
func TestRunsOnWhenItsCapIsInForce(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.backend.with(func(b *fakeBackend) { b.placeTakes, b.early = 200*time.Millisecond, 60*time.Millisecond })
		c := w.caught(200, "make")
		w.after(100 * time.Millisecond)
		if c.Stopped() || c.Late() {
			t.Errorf("100 ms later: stopped %v, late %v", c.Stopped(), c.Late())
		}
		w.after(200 * time.Millisecond)
		placed := w.ledger.of(journal.Placed)
		if len(placed) != 1 || placed[0].TookMS < 59 || placed[0].TookMS > 61 || placed[0].Late {
			t.Errorf("placed %+v, want in force after 60 ms", placed)
		}
	})
}
