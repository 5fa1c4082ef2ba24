package explain

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/headroomd/headroomd/governor/journal"
)

const (
	commandWidth = 32  // columns of a command in a line
	lineBytes    = 240 // of a whole line; most have 60 to 100
)

// Line is a record as one line: the local time, the event, and what happened.
func Line(r journal.Record) string {
	line := fmt.Sprintf("%s %-8s %s", r.Time.Local().Format("01-02 15:04:05"), r.Event, happened(r))
	return journal.Escape(strings.TrimRight(line, " "), lineBytes)
}

func happened(r journal.Record) string {
	who := subject(r)
	switch r.Event {
	case journal.Captured:
		return join(who, "caught", r.Reason)
	case journal.Observed:
		return join(who, "would be taken: "+capOf(r), "")
	case journal.Placed:
		return join(who, capOf(r)+placing(r), "")
	case journal.Joined:
		return join(who, "joined "+cmp.Or(r.Job, "a job"), "")
	case journal.Left:
		return join(who, "left where it is", r.Reason)
	case journal.Adopted:
		return join(who, "found running, "+capOf(r), r.Reason)
	case journal.OOMKill:
		return join(who, oomKill(r), "")
	case journal.Ended:
		return join(who, "ended"+usage(r), r.ExitReason)
	case journal.Held:
		return join(who, "waits"+place(r), r.Reason)
	case journal.WouldHold:
		return join(who, "would wait"+place(r), r.Reason)
	case journal.Admitted:
		return join(who, "starts"+after(r)+", "+capOf(r), "")
	case journal.TimedOut:
		return join(who, "starts although there is no room"+after(r), r.Reason)
	case journal.Refused:
		return join(who, "not started"+after(r), r.Reason)
	case journal.Suspended:
		return join(who, "left the queue"+after(r), r.Reason)
	case journal.Quiet:
		return join(who, "does nothing, gave its slot back", r.Reason)
	case journal.Busy:
		return join(who, "works again", r.Reason)
	case journal.Swept:
		return join(who, "ended, nobody is left who waits for it", r.Reason)
	case journal.Alarm:
		return join("", "memory alarm"+left(r), r.Reason)
	case journal.CapturedLate:
		return join(who, fmt.Sprintf("grew to %d MB, may have %d MB more", r.MemoryMB, r.MemoryCapMB), r.Reason)
	case journal.WatchStop:
		return join(who, "stopped for the machine's sake"+left(r), r.Reason)
	case journal.WouldStop:
		return join(who, "would be acted on"+left(r), r.Reason)
	case journal.Freed:
		return join("", "memory is back"+left(r), r.Reason)
	case journal.Changed:
		return join(who, "changed", r.Reason)
	case journal.Lost:
		return join("", plural(int64(r.LostEvents), "event")+" lost", r.Reason)
	case journal.Gap:
		return join("", plural(int64(r.LostEvents), "record")+" missing", r.Reason)
	}
	return join(who, "", r.Reason)
}

// join puts together who, what and why, whichever of them there are.
func join(who, what, why string) string {
	parts := make([]string, 0, 3)
	for _, part := range []string{who, what, why} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// subject names the process: by its command, or, where that may not be seen,
// by its family.
func subject(r journal.Record) string {
	name := shorten(r.Command, commandWidth)
	if name == "" {
		name = r.Family
	}
	switch {
	case r.PID == 0:
		return name
	case name == "":
		return fmt.Sprintf("pid %d", r.PID)
	}
	return fmt.Sprintf("%s (%d)", name, r.PID)
}

func shorten(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}

func capOf(r journal.Record) string {
	if r.MemoryCapMB <= 0 || r.Isolated != nil && !*r.Isolated {
		return "no cap"
	}
	return fmt.Sprintf("cap %d MB%s", r.MemoryCapMB, swapOf(r))
}

func swapOf(r journal.Record) string {
	switch {
	case r.SwapCapMB < 0:
		return " + any swap"
	case r.SwapCapMB > 0:
		return fmt.Sprintf(" + %d MB swap", r.SwapCapMB)
	}
	return ""
}

func placing(r journal.Record) string {
	text := ""
	if r.TookMS > 0 {
		text = fmt.Sprintf(" after %.0f ms", r.TookMS)
	}
	if r.CaughtRSSMB != nil && *r.CaughtRSSMB >= 0.1 {
		text += fmt.Sprintf(", %.1f MB touched before", *r.CaughtRSSMB)
	}
	if r.Late {
		text += ", late"
	}
	return text
}

// place is where a command stands in the queue.
func place(r journal.Record) string {
	text := ""
	if r.Position > 1 {
		text = fmt.Sprintf(" as number %d", r.Position)
	}
	if r.Behind != "" {
		text += " behind " + r.Behind
	}
	if r.MissingMB > 0 {
		text += fmt.Sprintf(", %d MB missing", r.MissingMB)
	}
	return text
}

// left is how much memory was available; "" where it is not told.
func left(r journal.Record) string {
	if r.AvailableMB <= 0 {
		return ""
	}
	return fmt.Sprintf(", %d MB available", r.AvailableMB)
}

// after is how long a command waited; "" where it did not.
func after(r journal.Record) string {
	if r.WaitedS < 0.1 {
		return ""
	}
	return " after " + duration(r.WaitedS)
}

func oomKill(r journal.Record) string {
	at := "reached its cap"
	if r.MemoryCapMB > 0 {
		at = fmt.Sprintf("reached its cap of %d MB", r.MemoryCapMB)
	}
	who := ", the kernel"
	if r.Soft {
		who = ", the governor"
	}
	if r.OOMKills > 0 {
		return at + who + " killed " + plural(r.OOMKills, "process") + " in it"
	}
	return at + who + " killed in it"
}

func usage(r journal.Record) string {
	text := ""
	if r.AgeS > 0 {
		text = " after " + duration(r.AgeS)
	}
	switch {
	case r.PeakMB > 0 && r.MemoryCapMB > 0:
		text += fmt.Sprintf(", peak %d of %d MB", r.PeakMB, r.MemoryCapMB)
	case r.PeakMB > 0:
		text += fmt.Sprintf(", peak %d MB", r.PeakMB)
	}
	if r.OOMKills > 0 {
		text += ", " + plural(r.OOMKills, "OOM kill")
	}
	return text
}

func plural(n int64, word string) string {
	switch {
	case n == 1:
		return "1 " + word
	case strings.HasSuffix(word, "s"):
		return fmt.Sprintf("%d %ses", n, word)
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// duration is a time in seconds in the two largest units that matter.
func duration(seconds float64) string {
	switch {
	case seconds < 10:
		return fmt.Sprintf("%.1f s", seconds)
	case seconds < 120:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 2*3600:
		return fmt.Sprintf("%d min %d s", int(seconds)/60, int(seconds)%60)
	}
	return fmt.Sprintf("%d h %d min", int(seconds)/3600, int(seconds)/60%60)
}
