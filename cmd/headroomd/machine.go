package main

import (
	"cmp"
	"slices"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/governor/watchdog"
	"github.com/headroomd/headroomd/loader/proc"
)

// readMemory is the machine's memory for the commands that work without the
// governor, read below root ("/" outside tests). What cannot be read is
// watchdog.Unknown: a command about something else must not fail for it.
func readMemory(root string) watchdog.Reading {
	unknown := watchdog.Reading{MemTotal: watchdog.Unknown, MemAvailable: watchdog.Unknown, SwapTotal: watchdog.Unknown, SwapFree: watchdog.Unknown}
	reader, err := watchdog.NewReader(root)
	if err != nil {
		return unknown
	}
	reading, err := reader.Read()
	if err != nil {
		return unknown
	}
	return reading
}

// largestProcesses are the n that take most memory, the largest first. What
// may not be read, or ends meanwhile, is left out.
func largestProcesses(fs proc.FS, n int) []governor.ProcessStatus {
	shown := []governor.ProcessStatus{}
	pids, err := fs.List()
	if err != nil {
		return shown
	}
	all := make([]governor.ProcessStatus, 0, len(pids))
	for _, pid := range pids {
		if m, err := fs.Memory(pid); err == nil && m.RssAnon >= 0 {
			all = append(all, governor.ProcessStatus{PID: pid, RSSMB: (m.RssAnon + max(m.RssFile, 0) + max(m.RssShmem, 0)) >> 20})
		}
	}
	slices.SortFunc(all, func(a, b governor.ProcessStatus) int {
		return cmp.Or(cmp.Compare(b.RSSMB, a.RSSMB), cmp.Compare(a.PID, b.PID))
	})
	for _, p := range all[:min(n, len(all))] {
		x := proc.Exec{ID: proc.ID{PID: p.PID}}
		if fs.ReadCommand(&x) != nil || fs.ReadFacts(&x) != nil {
			continue
		}
		p.UID, p.Command = x.UID, journal.Command(x.Argv)
		shown = append(shown, p)
	}
	return shown
}
