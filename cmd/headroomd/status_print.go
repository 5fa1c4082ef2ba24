package main

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/governor/watchdog"
)

// printStatus is the status as its owner wants it at two in the morning: is it
// on, is there memory, what runs, what is large; reasons after that.
func printStatus(w io.Writer, s governor.Snapshot) {
	if s.Mode == modeNone {
		fmt.Fprintf(w, "headroomd %s is not running: nothing is watched or capped\n\n", journal.Escape(s.Version, 40))
		field(w, "why", s.Source.Why)
		field(w, "start it", "systemctl start headroomd, or make run")
		field(w, "see also", "headroomd doctor: what this machine lacks, and the remedy")
		printMemory(w, s)
	} else {
		fmt.Fprintf(w, "headroomd %s: %s, up %s, pid %d\n\n", journal.Escape(s.Version, 40), modeWords(s), age(s.Time.Sub(s.Since)), s.PID)
		printMemory(w, s)
		printWatch(w, s.Watch)
		printMeans(w, s)
	}
	printGuards(w, s)
	printJobs(w, s)
	printEnded(w, s)
	printLargest(w, s)
	if s.Mode != modeNone {
		fmt.Fprintln(w)
		field(w, "itself", fmt.Sprintf("%.1f MB, %.1f s of CPU; %d of %d execs looked at, %d lost",
			s.Self.RSSMB, s.Self.CPUS, s.Source.Reported, s.Source.Seen, s.Self.LostEvents))
	}
}

func modeWords(s governor.Snapshot) string {
	whose := "the whole machine"
	if s.Scope == "user" {
		whose = "one user's processes"
	}
	switch s.Mode {
	case "enforce":
		return "guards " + whose
	case "observe":
		return "only watches " + whose + " (mode observe)"
	case "off":
		return "switched off (mode off)"
	}
	return journal.Escape(s.Mode, 20) + ", " + whose
}

func printMemory(w io.Writer, s governor.Snapshot) {
	m, l := s.Memory, s.Limits
	if m.AvailableMB < 0 {
		field(w, "memory", "not known: /proc/meminfo does not tell what is available")
		return
	}
	memory := fmt.Sprintf("%s of %s MB available", megabytes(m.AvailableMB), megabytes(m.TotalMB))
	reading := watchdog.Reading{MemAvailable: m.AvailableMB << 20}
	memory += fmt.Sprintf(" (%s)", reading.Level(watchdog.Lines{ReserveMB: l.ReserveMB, CriticalMB: l.CriticalMB}))
	switch {
	case m.SwapTotalMB == 0:
		memory += ", no swap"
	case m.SwapTotalMB > 0:
		memory += fmt.Sprintf(", %s of %d MB swap free", megabytes(m.SwapFreeMB), m.SwapTotalMB)
	}
	field(w, "memory", memory)
	if m.PSISome10 >= 0 {
		field(w, "pressure", fmt.Sprintf("some %.1f %%, full %.1f %% of the last 10 s", m.PSISome10, max(m.PSIFull10, 0)))
	} else {
		field(w, "pressure", "not told by this kernel (psi=1 on its command line turns it on)")
	}
	field(w, "kept back", fmt.Sprintf("%s MB in reserve; critical below %s MB", megabytes(l.ReserveMB), megabytes(l.CriticalMB)))
	next := fmt.Sprintf("a heavy command now gets %s MB", megabytes(l.NextCapMB))
	field(w, "next cap", next+" and "+swapWords(l.SwapMB))
}

// printMeans says by what means it works here, and why not by better ones.
func printMeans(w io.Writer, s governor.Snapshot) {
	field(w, "sees by", s.Source.Name+because(s.Source.Why))
	if s.Source.ReportAll {
		field(w, "", "every exec is reported, which costs a little more: no program name is in "+cmp.Or(s.Source.ReportAllWhy, "a rule or pattern of yours"))
	}
	where := s.Contain.Name
	if !s.Contain.MemoryController && where != "none" {
		where += ", without the kernel's memory controller: the governor measures jobs and kills what outgrows its cap, some 20 MB late"
	}
	field(w, "caps by", where+because(s.Contain.Why))
	catch := "no, a command runs free until it is moved"
	if s.Contain.Catch {
		catch = "stopped while it is moved"
	}
	field(w, "catches", catch+because(s.Contain.CatchWhy))
}

// printGuards tells who else acts on memory here, and who first.
func printGuards(w io.Writer, s governor.Snapshot) {
	for _, g := range s.Guards {
		field(w, "beside", fmt.Sprintf("%s (pid %d): %s", g.Name, g.PID, g.Note))
	}
}

// swapWords is what a job may swap beyond its cap; -1 is no limit.
func swapWords(mb int64) string {
	if mb < 0 {
		return "any swap"
	}
	return fmt.Sprintf("%d MB of swap", mb)
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

func printJobs(w io.Writer, s governor.Snapshot) {
	if s.Mode == modeNone {
		return
	}
	running, quiet := 0, 0
	for _, j := range s.Jobs {
		if j.Quiet {
			quiet++
		} else if j.State == "running" || j.State == "placing" {
			running++
		}
	}
	head := fmt.Sprintf("%d running, %d waiting, slots for %d", running, len(s.Queue), s.Limits.MaxHeavyJobs)
	if quiet > 0 {
		head += fmt.Sprintf("; %d quiet, without a slot", quiet)
	}
	fmt.Fprintf(w, "\nHEAVY JOBS  %s\n", head)
	jobs := slices.Concat(s.Jobs, s.Queue)
	if len(jobs) == 0 {
		return
	}
	// What does nothing comes after what works, and what waits last, in its order.
	slices.SortStableFunc(jobs, func(a, b governor.JobStatus) int {
		if c := cmp.Compare(a.Position, b.Position); c != 0 {
			return c
		}
		return cmp.Compare(quietLast(a), quietLast(b))
	})
	fmt.Fprintf(w, "%-23s %-7s %-9s %11s  %s\n", "ID", "AGE", "STATE", "MB USED/CAP", "COMMAND")
	for _, j := range jobs {
		fmt.Fprintf(w, "%-23s %-7s %-9s %11s  %s\n", journal.Escape(j.ID, 23), age(s.Time.Sub(j.Since)), stateWords(j),
			megabytes(j.MemoryMB)+"/"+capWords(j), program(j.Command, columns-55))
		printRemarks(w, j, s.Contain)
	}
}

func quietLast(j governor.JobStatus) int {
	if j.Quiet {
		return 1
	}
	return 0
}

// stateWords is a job's state in nine columns; what waits has its number.
func stateWords(j governor.JobStatus) string {
	if j.Position > 0 {
		return fmt.Sprintf("waits #%d", j.Position)
	}
	return journal.Escape(j.State, 9)
}

// shownEnded is how many jobs that are over are shown: what one looks for is
// the one that died a moment ago.
const shownEnded = 5

func printEnded(w io.Writer, s governor.Snapshot) {
	if len(s.Recent) == 0 {
		return
	}
	fmt.Fprintf(w, "\nENDED LATELY\n%-23s %-7s %11s  %s\n", "ID", "BEGAN", "MB PEAK/CAP", "COMMAND")
	for _, j := range s.Recent[max(0, len(s.Recent)-shownEnded):] {
		fmt.Fprintf(w, "%-23s %-7s %11s  %s\n", journal.Escape(j.ID, 23), age(s.Time.Sub(j.Since)),
			megabytes(j.PeakMB)+"/"+capWords(j), program(j.Command, columns-45))
		printRemarks(w, j, s.Contain)
	}
}

// printRemarks are the lines below a job: a kill at its cap, and its note.
func printRemarks(w io.Writer, j governor.JobStatus, c governor.ContainStatus) {
	remark := func(text string) {
		for _, line := range wrap(text, columns-9) {
			fmt.Fprintf(w, "%9s%s\n", "", line)
		}
	}
	switch {
	case j.OOMKills == 1:
		remark("went over its cap: the kernel killed one of its processes")
	case j.OOMKills > 1:
		remark(fmt.Sprintf("went over its cap: the kernel killed %d of its processes", j.OOMKills))
	}
	if j.Position > 0 && j.Why != "" {
		remark(j.Why)
	}
	// What holds for every job is said once, above.
	if j.Note != "" && (c.Why == "" || !strings.Contains(j.Note, c.Why)) {
		remark(j.Note)
	}
}

// program is a command without the directory of its program, of which a long
// one would leave no room for the rest. What belongs to others is not told.
func program(command string, width int) string {
	if command == "" {
		return "(another user's)"
	}
	first, rest, more := strings.Cut(command, " ")
	if base := path.Base(first); strings.HasPrefix(first, "/") && base != "/" {
		command = base
		if more {
			command += " " + rest
		}
	}
	return journal.Escape(command, width)
}

// capWords is the cap in force; "none" where none is.
func capWords(j governor.JobStatus) string {
	if !j.Isolated || j.MemoryCapMB <= 0 {
		return "none"
	}
	return megabytes(j.MemoryCapMB)
}

func printLargest(w io.Writer, s governor.Snapshot) {
	if len(s.Largest) == 0 {
		return
	}
	fmt.Fprintf(w, "\nLARGEST PROCESSES\n%-8s %-7s %7s  %s\n", "PID", "UID", "MB", "COMMAND")
	for _, p := range s.Largest {
		job := ""
		if p.Job != "" {
			job = "[" + journal.Escape(p.Job, 23) + "] "
		}
		fmt.Fprintf(w, "%-8d %-7d %7s  %s\n", p.PID, p.UID, megabytes(p.RSSMB), job+program(p.Command, columns-26-len(job)))
	}
}
