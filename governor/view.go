package governor

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/governor/watchdog"
	"github.com/headroomd/headroomd/loader/proc"
)

// freshFor is how long a reading of the memory serves for admissions: a burst
// of commands must not read it for each, and no job grows by much meanwhile.
const freshFor = 50 * time.Millisecond

// machine is the memory that admission reckons with.
func (g *Governor) machine() (admission.Machine, error) {
	if now := time.Now(); now.Sub(g.readAt) >= freshFor {
		r, err := g.o.Memory.Read()
		if err != nil {
			return admission.Machine{}, err
		}
		g.reading, g.readAt = r, now
	}
	return MachineOf(g.reading), nil
}

// MachineOf is a reading in the unit of the settings. What is unknown stays -1.
func MachineOf(r watchdog.Reading) admission.Machine {
	mb := func(bytes int64) int64 {
		if bytes < 0 {
			return -1
		}
		return bytes >> 20
	}
	return admission.Machine{
		TotalMB: mb(r.MemTotal), AvailableMB: mb(r.MemAvailable),
		SwapTotalMB: mb(r.SwapTotal), SwapFreeMB: mb(r.SwapFree),
		Zram: admission.Zram{TotalMB: mb(r.Zram.Total), StoredMB: mb(r.Zram.Stored), PhysicalMB: mb(r.Zram.Physical)},
	}
}

// ErrStopped says that the governor has stopped, or is about to.
var ErrStopped = errors.New("the governor has stopped")

// Snapshot is the whole state at one moment. It may be called from any
// goroutine, and waits for Run to begin; after Run it answers ErrStopped.
func (g *Governor) Snapshot(ctx context.Context) (Snapshot, error) {
	var s Snapshot
	done := make(chan struct{})
	ask := func() {
		s = g.view()
		close(done)
	}
	select {
	case g.asks <- ask:
		<-done
	case <-g.over:
		return Snapshot{}, ErrStopped
	case <-ctx.Done():
		return Snapshot{}, ctx.Err()
	}
	s.Largest = g.largest(s.Jobs)
	s.Guards = g.guards(s)
	return s, nil
}

// guards are the other programs that act on memory here.
func (g *Governor) guards(s Snapshot) []GuardStatus {
	if g.o.Guards == nil {
		return []GuardStatus{}
	}
	if s.Memory.TotalMB < 0 {
		return g.o.Guards(-1)
	}
	return g.o.Guards(s.Limits.CriticalMB)
}

// view is the loop's part of a snapshot.
func (g *Governor) view() Snapshot {
	s := Snapshot{
		Version: g.o.Version, Time: time.Now(), PID: syscall.Getpid(), Since: g.since,
		Mode: g.o.Config.Mode, Scope: "user", Source: g.o.Sight.Status(), Contain: g.o.Contain,
		Jobs: []JobStatus{}, Queue: []JobStatus{}, Recent: append([]JobStatus{}, g.recent...), Self: g.self(), Watch: g.watchStatus(),
	}
	if g.o.Machine {
		s.Scope = "machine"
	}
	s.Source.Scans = g.scans
	s.Self.LostEvents = s.Source.Lost + g.overflow.Load()
	if r, err := g.o.Memory.Read(); err == nil {
		s.Memory = MemoryOf(r)
		m := MachineOf(r)
		l := g.o.Config.Resolve(m)
		s.Limits = LimitsOf(l, admission.Grant(m, l, g.book.Holders()))
	} else {
		s.Memory = MemoryStatus{TotalMB: -1, AvailableMB: -1, SwapTotalMB: -1, SwapFreeMB: -1, PSISome10: -1, PSIFull10: -1}
	}
	for _, j := range g.jobs {
		if !j.queued() {
			s.Jobs = append(s.Jobs, g.status(j))
		}
	}
	s.Queue = g.queue()
	slices.SortFunc(s.Jobs, func(a, b JobStatus) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
	})
	return s
}

// MemoryOf is a reading as status shows it.
func MemoryOf(r watchdog.Reading) MemoryStatus {
	m := MachineOf(r)
	s := MemoryStatus{TotalMB: m.TotalMB, AvailableMB: m.AvailableMB, SwapTotalMB: m.SwapTotalMB,
		SwapFreeMB: m.SwapFreeMB, PSISome10: -1, PSIFull10: -1}
	if r.PSI != nil {
		s.PSISome10, s.PSIFull10 = r.PSI.Some.Avg10, r.PSI.Full.Avg10
	}
	return s
}

// LimitsOf are limits and the cap of the next job as status shows them.
func LimitsOf(l admission.Limits, next admission.Cap) LimitsStatus {
	return LimitsStatus{MaxHeavyJobs: l.MaxHeavyJobs, ReserveMB: l.ReserveMB, MinStartMB: l.MinStartMB,
		CriticalMB: l.CriticalMB, NextCapMB: next.MemoryMB, SwapMB: next.SwapMB}
}

func (g *Governor) status(j *job) JobStatus {
	box, cgroup := "", j.scope.Cgroup
	if j.box != nil {
		box, cgroup = j.box.container.String(), j.box.container.Cgroup
	}
	return JobStatus{
		ID: j.id, PID: j.root.PID, UID: j.uid, Command: j.command, Family: j.family, Rule: j.rule,
		State: string(j.state), Since: j.since, Unit: j.scope.Unit, Cgroup: cgroup, Container: box,
		MemoryCapMB: j.capMB, SwapCapMB: j.swapMB, MemoryMB: j.memoryMB, PeakMB: j.peakMB,
		Isolated: j.isolated, CaughtRSSMB: j.caught, OOMKills: j.oomKills, Soft: j.scope.SoftCap, Processes: j.processes,
		Lightened: append([]string{}, j.lightened...), Note: j.note,
		LearnedPeakMB: max(j.peak.mb, 0), LearnedRuns: j.peak.runs, Quiet: j.state == Quiet,
	}
}

// queue is what waits, in the order of its turn; what was stopped with Ctrl-Z
// while it waited is at the end.
func (g *Governor) queue() []JobStatus {
	m, l := g.room()
	now := time.Now()
	all := []JobStatus{}
	for _, at := range g.book.Standings(now, m, l) {
		if j := g.jobs[at.Job]; j != nil && j.queued() {
			s := g.waitStatus(j, now)
			s.Position, s.Behind, s.MissingMB, s.Why = at.Position, at.Behind, at.MissingMB, at.Why
			if at.Never != "" {
				s.Note = at.Never
			}
			all = append(all, s)
		}
	}
	rest := len(all)
	for _, j := range g.jobs {
		switch {
		case !j.queued() || slices.ContainsFunc(all, func(s JobStatus) bool { return s.ID == j.id }):
		case j.state == Suspended:
			s := g.waitStatus(j, now)
			s.Why = "it was stopped (Ctrl-Z) and is out of the queue until it goes on"
			all = append(all, s)
		default:
			s := g.waitStatus(j, now)
			s.Why = "it starts"
			all = append(all, s)
		}
	}
	slices.SortFunc(all[rest:], func(a, b JobStatus) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
	})
	return all
}

func (g *Governor) waitStatus(j *job, now time.Time) JobStatus {
	s := g.status(j)
	s.WaitS, s.PatienceS = now.Sub(j.waits.since).Seconds(), j.waits.patience.Seconds()
	return s
}

// self is what the governor costs.
func (g *Governor) self() SelfStatus {
	s := SelfStatus{RSSMB: -1}
	if m, err := g.o.FS.Memory(syscall.Getpid()); err == nil {
		s.RSSMB = megabytes(max(m.RssAnon, 0) + max(m.RssFile, 0) + max(m.RssShmem, 0))
	}
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) == nil {
		s.CPUS = time.Duration(ru.Utime.Nano() + ru.Stime.Nano()).Seconds()
	}
	return s
}

// shownLargest is how many of the machine's processes a snapshot names.
const shownLargest = 8

// largest are the machine's largest processes, with the jobs they belong to.
func (g *Governor) largest(jobs []JobStatus) []ProcessStatus {
	all := Largest(g.o.FS, shownLargest)
	for i := range all {
		for _, j := range jobs {
			if j.Cgroup != "" && (all[i].cgroup == j.Cgroup || strings.HasPrefix(all[i].cgroup, j.Cgroup+"/")) {
				all[i].Job = j.ID
			}
		}
	}
	return all
}

// Largest are the n processes that take most memory, the largest first. What
// may not be read, or ends meanwhile, is left out.
func Largest(fs proc.FS, n int) []ProcessStatus {
	shown := []ProcessStatus{}
	pids, err := fs.List()
	if err != nil {
		return shown
	}
	all := make([]ProcessStatus, 0, len(pids))
	for _, pid := range pids {
		if m, err := fs.Memory(pid); err == nil && m.RssAnon >= 0 {
			all = append(all, ProcessStatus{PID: pid, RSSMB: (m.RssAnon + max(m.RssFile, 0) + max(m.RssShmem, 0)) >> 20})
		}
	}
	slices.SortFunc(all, func(a, b ProcessStatus) int {
		return cmp.Or(cmp.Compare(b.RSSMB, a.RSSMB), cmp.Compare(a.PID, b.PID))
	})
	for _, p := range all[:min(n, len(all))] {
		x := proc.Exec{ID: proc.ID{PID: p.PID}}
		if fs.ReadCommand(&x) != nil || fs.ReadFacts(&x) != nil {
			continue
		}
		p.UID, p.Command, p.cgroup = x.UID, journal.Command(x.Argv), x.Cgroup
		shown = append(shown, p)
	}
	return shown
}
