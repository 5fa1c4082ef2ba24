package governor

import (
	"fmt"
	"strings"

	"github.com/headroomd/headroomd/governor/journal"
)

// recordLine is a record as the time line has it: what it says, without what
// is the same in all records of a job.
func recordLine(r journal.Record) string {
	var b strings.Builder
	b.WriteString(r.Event)
	if r.Job != "" {
		b.WriteString(" " + r.Job)
	}
	add := func(key string, v any, said bool) {
		if said {
			fmt.Fprintf(&b, " %s=%v", key, v)
		}
	}
	add("pid", r.PID, r.PID != 0)
	add("cap", r.MemoryCapMB, r.MemoryCapMB != 0)
	add("swap", r.SwapCapMB, r.SwapCapMB != 0 && r.Event == journal.Captured)
	add("peak", r.PeakMB, r.PeakMB != 0)
	if r.CaughtRSSMB != nil {
		add("caught", *r.CaughtRSSMB, *r.CaughtRSSMB != 0)
	}
	add("oom", r.OOMKills, r.OOMKills != 0)
	if r.Isolated != nil {
		add("isolated", *r.Isolated, !*r.Isolated)
	}
	add("moved", r.Moved, r.Moved != 0)
	add("took", fmt.Sprintf("%.0fms", r.TookMS), r.TookMS != 0)
	add("stopped", fmt.Sprintf("%.0fms", r.StoppedMS), r.StoppedMS != 0)
	add("late", true, r.Late)
	add("waited", fmt.Sprintf("%.1fs", r.WaitedS), r.WaitedS != 0)
	add("behind", r.Behind, r.Behind != "")
	add("missing", r.MissingMB, r.MissingMB != 0)
	add("lost", r.LostEvents, r.LostEvents != 0)
	if why := strings.TrimSpace(r.Reason + " " + r.ExitReason); why != "" {
		b.WriteString(": " + why)
	}
	for _, n := range r.Notes {
		b.WriteString(" [" + n + "]")
	}
	return b.String()
}
