package governor

import (
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor/journal"
)

// A user can stop his own service manager. Then it is his jobs that wait for
// it, however many he starts.
func TestAHangingUserManagerHoldsUpNobodyElse(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.backend.with(func(b *fakeBackend) { b.hangs = "user-1000" })
		for i := range 3 * placers {
			pid := 300 + i
			w.spawn(pid, "make")
			w.proc.change(pid, func(p *fakeProcess) {
				p.cgroup = "/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope"
			})
			w.tracer(pid, false)
		}
		w.after(20 * time.Millisecond)
		other := w.caught(200, "npm", "test")
		w.after(100 * time.Millisecond)
		placed := w.ledger.of(journal.Placed)
		if len(placed) != 1 || placed[0].PID != 200 {
			t.Fatalf("placed %+v, want pid 200 alone", placed)
		}
		if other.Late() {
			t.Error("it waited past its bound")
		}
	})
}
