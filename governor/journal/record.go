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
	// Container is that of a command that stays in one: engine and short id or name.
	Container string `json:"container,omitempty"`

	MemoryCapMB int64    `json:"memory_cap_mb,omitempty"`
	SwapCapMB   int64    `json:"swap_cap_mb,omitempty"`
	AvailableMB int64    `json:"available_mb,omitempty"`
	ReserveMB   int64    `json:"reserve_mb,omitempty"`
	CriticalMB  int64    `json:"critical_mb,omitempty"`
	PeakMB      int64    `json:"peak_mb,omitempty"`
	MemoryMB    int64    `json:"memory_mb,omitempty"`     // what it had
	GrownMB     int64    `json:"grown_mb,omitempty"`      // of it, since the machine was last calm
	GraceS      float64  `json:"grace_s,omitempty"`       // between SIGTERM and SIGKILL
	CaughtRSSMB *float64 `json:"caught_rss_mb,omitempty"` // anon + shmem touched before the cap was in force
	OOMKills    int64    `json:"oom_kills,omitempty"`
	Soft        bool     `json:"soft,omitempty"` // of an oom-kill: by the governor, which measures where the kernel enforces no cap
	Isolated    *bool    `json:"isolated,omitempty"`
	Moved       int      `json:"moved,omitempty"`
	TookMS      float64  `json:"took_ms,omitempty"`    // exec seen → cap in force
	StoppedMS   float64  `json:"stopped_ms,omitempty"` // how long the ptrace stop lasted
	Late        bool     `json:"late,omitempty"`       // let go at the bound, before it was in place
	AgeS        float64  `json:"age_s,omitempty"`
	Behind      string   `json:"behind,omitempty"`     // the job that holds what it waits for
	Position    int      `json:"position,omitempty"`   // in the queue; 1 is next
	MissingMB   int64    `json:"missing_mb,omitempty"` // memory that is missing for its start
	WaitedS     float64  `json:"waited_s,omitempty"`   // how long it waited to start
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

	Held      = "held"       // it waits, frozen in its scope: for whom, and why
	Admitted  = "admitted"   // it starts after a wait
	TimedOut  = "timed-out"  // its patience is over
	Refused   = "refused"    // it waited too long and is ended for it
	Suspended = "suspended"  // Ctrl-Z while it waited: let go, out of the queue
	Quiet     = "quiet"      // it does nothing: slot and promise are given back
	Busy      = "busy"       // a quiet job works again
	Swept     = "swept"      // nobody is left who waits for it: it is ended
	WouldHold = "would-hold" // observe mode: it would have had to wait
	Reloaded  = "reloaded"   // settings and rules were read anew
	Rules     = "rules"      // a file of rules is left out, and why

	Alarm        = "alarm"         // memory is short and nothing is done: why not
	CapturedLate = "captured-late" // processes that no rule knows grew, and are put into a scope
	WatchStop    = "watchdog-stop" // it is ended for the machine's sake
	WouldStop    = "would-stop"    // observe mode: it would have been
	Freed        = "freed"         // the alarm is over

	Gap = "gap" // records that the file lacks, since it could not be written
)
