//go:build linux

package control

import (
	"slices"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/journal"
)

// view is what one asker may see.
type view struct {
	all bool
	uid uint32
}

func (v view) sees(uid uint32) bool { return v.all || v.uid == uid }

// snapshot is the asker's copy. Lists are never null in it.
func (v view) snapshot(s governor.Snapshot) governor.Snapshot {
	s.Jobs, s.Queue, s.Recent = v.jobs(s.Jobs), v.jobs(s.Queue), v.jobs(s.Recent)
	largest := make([]governor.ProcessStatus, 0, len(s.Largest))
	for _, p := range s.Largest {
		if !v.sees(p.UID) {
			p.Command = ""
		}
		largest = append(largest, p)
	}
	s.Largest = largest
	return s
}

func (v view) jobs(jobs []governor.JobStatus) []governor.JobStatus {
	seen := make([]governor.JobStatus, 0, len(jobs))
	for _, j := range jobs {
		if !v.sees(j.UID) {
			// Named one by one: what is added to a job later is hidden until
			// somebody decides that it may be shown.
			j = governor.JobStatus{
				ID: j.ID, PID: j.PID, UID: j.UID, Family: j.Family, State: j.State, Since: j.Since,
				MemoryCapMB: j.MemoryCapMB, SwapCapMB: j.SwapCapMB, MemoryMB: j.MemoryMB, PeakMB: j.PeakMB,
				Isolated: j.Isolated, CaughtRSSMB: j.CaughtRSSMB, OOMKills: j.OOMKills, Processes: j.Processes,
			}
		}
		if j.Lightened == nil {
			j.Lightened = []string{}
		}
		seen = append(seen, j)
	}
	return seen
}

// ofGovernor are the events that tell of the governor itself and of nobody's
// processes.
var ofGovernor = []string{journal.Started, journal.Stopped, journal.Source, journal.Lost, journal.Dropped, journal.Gap}

// record is the asker's copy. A record that names no user is shown whole only
// if it is one of the governor's own.
func (v view) record(r journal.Record) journal.Record {
	switch {
	case v.all:
		return r
	case r.UID != nil && v.sees(*r.UID):
		return r
	case r.UID == nil && r.PID == 0 && r.Job == "" && slices.Contains(ofGovernor, r.Event):
		return r
	}
	return journal.Record{
		Time: r.Time, Event: r.Event, Job: r.Job, PID: r.PID, UID: r.UID, Family: r.Family,
		MemoryCapMB: r.MemoryCapMB, SwapCapMB: r.SwapCapMB, AvailableMB: r.AvailableMB, ReserveMB: r.ReserveMB,
		PeakMB: r.PeakMB, CaughtRSSMB: r.CaughtRSSMB, OOMKills: r.OOMKills, Isolated: r.Isolated, Moved: r.Moved,
		TookMS: r.TookMS, StoppedMS: r.StoppedMS, Late: r.Late, AgeS: r.AgeS,
	}
}
