package governor

import (
	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/loader/proc"
)

// RunRequest is a command that asks before it runs (`headroomd run`). Its
// process is there already, as a child of the asker, and waits on a pipe until
// it may exec: so it can be put in its scope while it has touched nothing.
type RunRequest struct {
	Child     proc.ID
	Asker     int    // pid of the one that asked, as the socket has it
	UID       uint32 // of the asker, as the socket has it
	LoginUID  uint32
	Argv      []string // as it will be executed; a hostile caller's own words
	Line      string   // the shell line, where it was one
	Cwd       string
	Verdict   classifier.Verdict // by the asker's own classification: family and rule are words to show, nothing more
	Lightened []string           // changes, in words
	Slotless  bool               // a supervisor: it waits for memory, and takes neither slot nor scope
}

// The states of a run, in their order.
const (
	RunWaiting = "waiting" // told again when what it waits for changes, and every second
	RunPlaced  = "placed"  // the child may exec
	RunRefused = "refused"
	RunEnded   = "ended" // with the last reading of its counters
)

// RunUpdate is what the asker of a run is told. Sizes are in MB (2^20 bytes).
type RunUpdate struct {
	State        string  `json:"state"`
	Job          string  `json:"job"`
	Unit         string  `json:"unit,omitempty"`
	Position     int     `json:"position,omitempty"`      // in the queue; 1 is next
	Behind       string  `json:"behind,omitempty"`        // the job that holds what it waits for
	BehindFamily string  `json:"behind_family,omitempty"` // of another user's job this and the pid is all that is told
	BehindPID    int     `json:"behind_pid,omitempty"`
	BehindAgeS   float64 `json:"behind_age_s,omitempty"`
	MissingMB    int64   `json:"missing_mb,omitempty"`
	WaitedS      float64 `json:"waited_s"`
	Why          string  `json:"why,omitempty"`
	MemoryCapMB  int64   `json:"memory_cap_mb"` // 0: none in force
	SwapCapMB    int64   `json:"swap_cap_mb"`   // -1 unlimited
	PeakMB       int64   `json:"peak_mb"`
	OOMKills     int64   `json:"oom_kills"`
	Isolated     bool    `json:"isolated"`
	Note         string  `json:"note,omitempty"`
}
