package explain

import (
	"fmt"
	"slices"

	"github.com/headroomd/headroomd/governor/journal"
)

// Ledger adds up what was decided over a time: how many heavy commands there
// were, how long they waited, what was killed, and, of the time in which it
// only watched, what would have been done. The zero value is ready.
type Ledger struct {
	caught, placed, left, failed   int
	held, refused, timedOut, quiet int
	kills                          int64
	swept                          int
	stopped, lateCaptured, alarms  int
	wouldStop                      int
	observed, wouldHold            int
	waits                          []float64 // seconds, of those that waited
	families                       map[string]int
	first, last                    journal.Record
	some                           bool
}

// Add counts a record.
func (l *Ledger) Add(r journal.Record) {
	if !l.some {
		l.first, l.some = r, true
	}
	l.last = r
	switch r.Event {
	case journal.Captured:
		l.caught++
		l.count(r.Family)
	case journal.Observed:
		l.observed++
		l.count(r.Family)
	case journal.Placed:
		l.placed++
	case journal.Left:
		l.left++
	case journal.Failed:
		l.failed++
	case journal.Held:
		l.held++
	case journal.WouldHold:
		l.wouldHold++
	case journal.Admitted:
		if r.WaitedS >= 0.1 {
			l.waits = append(l.waits, r.WaitedS)
		}
	case journal.TimedOut:
		l.timedOut++
	case journal.Refused:
		l.refused++
		l.waits = append(l.waits, r.WaitedS)
	case journal.Quiet:
		l.quiet++
	case journal.Swept:
		l.swept++
	case journal.WatchStop:
		l.stopped++
	case journal.CapturedLate:
		l.lateCaptured++
	case journal.Alarm:
		l.alarms++
	case journal.WouldStop:
		l.wouldStop++
	case journal.Ended:
		l.kills += r.OOMKills
	}
}

func (l *Ledger) count(family string) {
	if l.families == nil {
		l.families = map[string]int{}
	}
	if family != "" {
		l.families[family]++
	}
}

// Lines are the sums, a line each; what did not happen has none.
func (l *Ledger) Lines() []string {
	if !l.some {
		return []string{"nothing was recorded in this time"}
	}
	lines := []string{fmt.Sprintf("from %s to %s", l.first.Time.Local().Format("01-02 15:04"), l.last.Time.Local().Format("01-02 15:04"))}
	say := func(n int64, format string, a ...any) {
		if n > 0 {
			lines = append(lines, fmt.Sprintf("%6d  ", n)+fmt.Sprintf(format, a...))
		}
	}
	say(int64(l.caught), "heavy commands were caught%s", l.most())
	say(int64(l.placed), "were put in a scope of their own")
	say(int64(len(l.waits)), "waited, %s in all, the longest %s", duration(sum(l.waits)), duration(longest(l.waits)))
	say(int64(l.timedOut), "started although there was no room: their patience was over")
	say(int64(l.refused), "were refused after their wait")
	say(int64(l.quiet), "times a job did nothing and gave its slot back")
	say(l.kills, "processes were killed by the kernel at their job's cap")
	say(int64(l.swept), "were ended because nobody was left who waited for them")
	say(int64(l.stopped), "were stopped because the machine ran out of memory")
	say(int64(l.lateCaptured), "that no rule knows grew and were held to what they had")
	say(int64(l.alarms), "times memory was short and nothing was stopped")
	say(int64(l.left), "were left where they were")
	say(int64(l.failed), "could not be placed or joined")
	say(int64(l.observed), "would have been caught (only watched)%s", l.most())
	say(int64(l.wouldHold), "would have had to wait (only watched)")
	say(int64(l.wouldStop), "would have been stopped or held for want of memory (only watched)")
	if len(lines) == 1 {
		lines = append(lines, "no heavy command was started")
	}
	return lines
}

// most names the families that were caught most often, three at most.
func (l *Ledger) most() string {
	names := make([]string, 0, len(l.families))
	for name := range l.families {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if l.families[a] != l.families[b] {
			return l.families[b] - l.families[a]
		}
		return slices.Compare([]byte(a), []byte(b))
	})
	text := ""
	for i, name := range names[:min(3, len(names))] {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %d", name, l.families[name])
	}
	if text == "" {
		return ""
	}
	return ": " + text
}

func sum(all []float64) float64 {
	total := 0.0
	for _, v := range all {
		total += v
	}
	return total
}

func longest(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	return slices.Max(all)
}
