package main

import (
	"fmt"
	"strings"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/watchdog"
)

// banner says in one screen what the governor can and cannot do here, and why.
func banner(c governor.Config, src governor.SourceStatus, tier governor.ContainStatus, memory *watchdog.Reader, p places, guards []governor.GuardStatus) string {
	var b strings.Builder
	line := func(mark, what, why string) { fmt.Fprint(&b, wrapped(fmt.Sprintf("  %s %-9s", mark, what), why)) }
	whom := "this user's processes"
	if p.machine {
		whom = "the whole machine"
	}
	fmt.Fprintf(&b, "headroomd %s guards %s (mode %s)\n", buildVersion(), whom, c.Mode)

	mark := "ok"
	if src.Name == "poll" {
		mark = "--"
	}
	line(mark, "sees", src.Name+": "+src.Why)
	if src.ReportAll {
		line("--", "", "every exec is reported, which costs a little more: no program name is in "+src.ReportAllWhy)
	}
	if tier.Catch {
		line("ok", "stops", tier.CatchWhy)
	} else {
		line("--", "stops", "nothing: "+tier.CatchWhy)
	}
	switch {
	case tier.Name == "none":
		line("--", "contains", "nothing: heavy commands stay where they are, and are measured and killed over their cap; "+tier.Why)
	case !tier.MemoryController:
		line("--", "contains", tier.Name+", caps kept by measuring (some 20 MB late), since the kernel enforces none: "+tier.Why)
	default:
		line("ok", "contains", tier.Name+": "+tier.Why)
	}
	if r, err := memory.Read(); err == nil {
		m := governor.MachineOf(r)
		l := c.Resolve(m)
		line("  ", "memory", fmt.Sprintf("%d of %d MB available; reserve %d MB, critical %d MB; a job now would get %d MB",
			m.AvailableMB, m.TotalMB, l.ReserveMB, l.CriticalMB, admission.Grant(m, l, nil).MemoryMB))
	}
	for _, g := range guards {
		line("--", "beside", fmt.Sprintf("%s (pid %d): %s", g.Name, g.PID, g.Note))
	}
	fmt.Fprintf(&b, "  events %s\n  socket %s\n", p.events, p.socket)
	fmt.Fprintln(&b, "Type something heavy elsewhere, then: headroomd status, headroomd events")
	fmt.Fprintln(&b, "What this machine lacks, and the remedy: headroomd doctor")
	return b.String()
}

// wrapped is text behind a lead, folded at 80 columns.
func wrapped(lead, text string) string {
	lines := wrap(text, 80-len(lead)-1)
	return lead + " " + strings.Join(lines, fmt.Sprintf("\n%*s", len(lead)+1, "")) + "\n"
}
