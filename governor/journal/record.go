package journal

import "time"

// Record is one decision or one fact, with the numbers it rested on. The
// record of a decision precedes the act. Zero fields are left out of the JSON.
type Record struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // one of the Event constants
	Job     string    `json:"job,omitempty"`
	PID     int       `json:"pid,omitempty"`
	UID     *uint32   `json:"uid,omitempty"`
	Command string    `json:"command,omitempty"` // escaped, bounded, secrets masked
	Family  string    `json:"family,omitempty"`
	Rule    string    `json:"rule,omitempty"`
	Unit    string    `json:"unit,omitempty"`
	Origin  string    `json:"origin,omitempty"` // the cgroup it was caught in
	Reason  string    `json:"reason,omitempty"` // why, in plain words

	MemoryCapMB int64    `json:"memory_cap_mb,omitempty"`
	SwapCapMB   int64    `json:"swap_cap_mb,omitempty"`
	AvailableMB int64    `json:"available_mb,omitempty"`
	ReserveMB   int64    `json:"reserve_mb,omitempty"`
	PeakMB      int64    `json:"peak_mb,omitempty"`
	CaughtRSSMB *float64 `json:"caught_rss_mb,omitempty"` // anon + shmem touched before the cap was in force
	OOMKills    int64    `json:"oom_kills,omitempty"`
	Isolated    *bool    `json:"isolated,omitempty"`
	Moved       int      `json:"moved,omitempty"`
	TookMS      float64  `json:"took_ms,omitempty"`    // exec seen → cap in force
	StoppedMS   float64  `json:"stopped_ms,omitempty"` // how long the ptrace stop lasted
	Late        bool     `json:"late,omitempty"`       // let go at the bound, before it was in place
	AgeS        float64  `json:"age_s,omitempty"`
	ExitReason  string   `json:"exit_reason,omitempty"`
	Source      string   `json:"source,omitempty"`
	LostEvents  uint64   `json:"lost_events,omitempty"`
	Notes       []string `json:"notes,omitempty"`
}

// The events.
const (
	Started  = "started"  // the governor is up: source, tier, mode
	Stopped  = "stopped"  // the governor goes down
	Source   = "source"   // a source was chosen or ended, and why
	Captured = "captured" // a heavy command was caught and will be placed
	Placed   = "placed"   // it is in its scope, limits read back
	Joined   = "joined"   // a process was moved into a running job
	Left     = "left"     // a heavy command was left where it is, and why
	Failed   = "failed"   // placing failed, the command runs uncapped
	OOMKill  = "oom-kill" // the kernel killed inside the scope
	Ended    = "ended"    // the job is over
	Adopted  = "adopted"  // found running at a start
	Lost     = "lost"     // events were lost, a full scan follows
	Observed = "observed" // observe mode: what would have been done
	Changed  = "changed"  // what was set for a job is no longer so, or what was in it left
	Dropped  = "dropped"  // this follower read too slowly and gets no more
	Gap      = "gap"      // records that the file lacks, since it could not be written
)
