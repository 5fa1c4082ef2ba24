package explain

import (
	"fmt"
	"strings"

	"github.com/headroomd/headroomd/governor/journal"
)

// sentenceBytes bounds a sentence: a reason has 1,024 at most.
const sentenceBytes = 1600

// Job is the story that the records of one job tell, oldest first, a sentence
// or two a line. Records of which nothing was kept leave a hole in the story
// and no error: a journal is bounded.
func Job(records []journal.Record) []string {
	var story []string
	say := func(format string, a ...any) {
		story = append(story, journal.Escape(fmt.Sprintf(format, a...), sentenceBytes))
	}
	joined := 0
	flush := func() {
		if joined > 0 {
			say("%s joined it and shared its cap.", plural(int64(joined), "more process"))
		}
		joined = 0
	}
	for _, r := range records {
		if r.Event == journal.Joined {
			joined += max(r.Moved, 1)
			continue
		}
		flush()
		clock := r.Time.Local().Format("15:04:05")
		switch r.Event {
		case journal.Captured:
			say("%s was caught at %s%s", full(r), clock, because(r.Reason))
		case journal.Observed:
			say("%s was seen at %s and not touched; it would have had %s%s", full(r), clock, long(r), because(r.Reason))
		case journal.Adopted:
			say("%s was found running at %s, with %s%s", full(r), clock, long(r), because(r.Reason))
		case journal.Placed:
			placed(r, say)
		case journal.Left:
			say("%s was left where it is%s", full(r), because(r.Reason))
		case journal.Failed:
			say("At %s something failed%s", clock, because(r.Reason))
		case journal.OOMKill:
			say("At %s it %s. Nothing outside the job was touched; who started it sees status 137 (SIGKILL) from what was killed.", clock, oomKill(r))
		case journal.Held:
			say("From %s on it waited%s%s", clock, place(r), because(r.Reason))
		case journal.WouldHold:
			say("At %s it would have had to wait%s%s", clock, place(r), because(r.Reason))
		case journal.Admitted:
			say("It started at %s%s, with %s%s", clock, after(r), long(r), because(r.Reason))
		case journal.TimedOut:
			say("At %s it had waited long enough and started although there was no room%s", clock, because(r.Reason))
		case journal.Refused:
			say("At %s it was given up and not started%s", clock, because(r.Reason))
		case journal.Suspended:
			say("At %s it left the queue for a while%s", clock, because(r.Reason))
		case journal.Quiet:
			say("At %s it did nothing any more and gave its slot back%s", clock, because(r.Reason))
		case journal.Busy:
			say("At %s it worked again%s", clock, because(r.Reason))
		case journal.Swept:
			say("At %s it was ended, since nobody was left who waited for it%s", clock, because(r.Reason))
		case journal.CapturedLate:
			say("At %s %s had grown to %d MB while memory ran short, and was allowed %d MB more%s", clock, full(r), r.MemoryMB, r.MemoryCapMB, because(r.Reason))
		case journal.WatchStop:
			stopped(r, clock, say)
		case journal.WouldStop:
			say("At %s it would have been acted on, had this not been observe mode%s", clock, because(r.Reason))
		case journal.Ended:
			say("It ended at %s%s%s", clock, usage(r), because(r.ExitReason))
		default:
			say("At %s: %s%s", clock, r.Event, because(r.Reason))
		}
		for _, note := range r.Notes {
			say("Note: %s", note)
		}
	}
	flush()
	return story
}

// stopped tells of a stop for the machine's sake: what was left, what was to be
// gained, and what its caller saw.
func stopped(r journal.Record, clock string, say func(string, ...any)) {
	had := ""
	if r.MemoryMB > 0 {
		had = fmt.Sprintf(", with the %d MB that it had", r.MemoryMB)
	}
	say("At %s %s was stopped to keep the machine alive%s%s", clock, full(r), had, because(r.Reason))
	if r.CriticalMB > 0 && r.AvailableMB > 0 {
		say("%d MB were available; below %d MB something has to be stopped. Who started it sees status 143 (SIGTERM), or 137 if it did not end within %.1f s.",
			r.AvailableMB, r.CriticalMB, r.GraceS)
	}
}

func placed(r journal.Record, say func(string, ...any)) {
	where := ""
	if r.Unit != "" {
		where = " in " + r.Unit
	}
	after := ""
	if r.TookMS > 0 {
		after = fmt.Sprintf(" %.0f ms after it started", r.TookMS)
	}
	say("It was placed%s with %s%s%s", where, long(r), after, because(r.Reason))
	if r.CaughtRSSMB != nil && *r.CaughtRSSMB >= 0.1 {
		say("Before that it had touched %.1f MB, which count where it was started.", *r.CaughtRSSMB)
	}
	if r.Late {
		say("Placing took long, so it ran on before the cap was in force.")
	}
}

func full(r journal.Record) string {
	name := r.Command
	if name == "" {
		name = "A command"
	}
	switch {
	case r.PID != 0 && r.Family != "":
		return fmt.Sprintf("%s (pid %d, %s)", name, r.PID, r.Family)
	case r.PID != 0:
		return fmt.Sprintf("%s (pid %d)", name, r.PID)
	}
	return name
}

func long(r journal.Record) string {
	if r.MemoryCapMB <= 0 || r.Isolated != nil && !*r.Isolated {
		return "no memory cap"
	}
	text := fmt.Sprintf("a cap of %d MB", r.MemoryCapMB)
	switch {
	case r.SwapCapMB < 0:
		text += " and unlimited swap"
	case r.SwapCapMB > 0:
		text += fmt.Sprintf(" and %d MB of swap", r.SwapCapMB)
	}
	return text
}

func because(reason string) string {
	if reason == "" {
		return "."
	}
	return ": " + strings.TrimSuffix(reason, ".") + "."
}
