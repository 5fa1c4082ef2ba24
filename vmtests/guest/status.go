package guest

import "time"

// Status is what the tests read of `headroomd status --json`. Sizes are in MB.
type Status struct {
	Version string `json:"version"`
	Mode    string `json:"mode"`
	Source  struct {
		Name     string `json:"name"`
		Why      string `json:"why"`
		Seen     uint64 `json:"seen"`
		Reported uint64 `json:"reported"`
		Lost     uint64 `json:"lost"`
		Scans    uint64 `json:"scans"`
	} `json:"source"`
	Contain struct {
		Name             string `json:"name"`
		Why              string `json:"why"`
		MemoryController bool   `json:"memory_controller"`
		SoftCaps         bool   `json:"soft_caps"`
		Catch            bool   `json:"catch"`
	} `json:"contain"`
	Memory struct {
		TotalMB     int64 `json:"total_mb"`
		AvailableMB int64 `json:"available_mb"`
	} `json:"memory"`
	Jobs   []Job `json:"jobs"`
	Queue  []Job `json:"queue"`
	Recent []Job `json:"recent"` // ended not long ago, newest last
	Self   struct {
		RSSMB      float64 `json:"rss_mb"`
		CPUS       float64 `json:"cpu_s"`
		LostEvents uint64  `json:"lost_events"`
	} `json:"self"`
}

// Job is one job of the status.
type Job struct {
	ID          string  `json:"id"`
	PID         int     `json:"pid"`
	UID         uint32  `json:"uid"`
	Command     string  `json:"command"`
	Family      string  `json:"family"`
	State       string  `json:"state"`
	Unit        string  `json:"unit"`
	MemoryCapMB int64   `json:"memory_cap_mb"`
	PeakMB      int64   `json:"peak_mb"`
	Isolated    bool    `json:"isolated"`
	CaughtRSSMB float64 `json:"caught_rss_mb"`
	OOMKills    int64   `json:"oom_kills"`
	Soft        bool    `json:"soft"`
	Position    int     `json:"position"` // in the queue; 1 is next
	Behind      string  `json:"behind"`   // the job that it waits for
	Why         string  `json:"why"`      // it waits
	Container   string  `json:"container"`
}

// Find returns the job of that id, running or ended.
func (s Status) Find(id string) (Job, bool) {
	for _, jobs := range [][]Job{s.Jobs, s.Queue, s.Recent} {
		for _, j := range jobs {
			if j.ID == id {
				return j, true
			}
		}
	}
	return Job{}, false
}

// Event is what the tests read of a line of events.jsonl. Sizes are in MB.
type Event struct {
	Time        time.Time `json:"time"`
	Event       string    `json:"event"`
	Job         string    `json:"job,omitempty"`
	PID         int       `json:"pid,omitempty"`
	UID         *uint32   `json:"uid,omitempty"`
	Command     string    `json:"command,omitempty"`
	Rule        string    `json:"rule,omitempty"`
	Unit        string    `json:"unit,omitempty"`
	Origin      string    `json:"origin,omitempty"`
	Reason      string    `json:"reason,omitempty"`
	ExitReason  string    `json:"exit_reason,omitempty"`
	AvailableMB int64     `json:"available_mb,omitempty"`
	MemoryMB    int64     `json:"memory_mb,omitempty"`
	Container   string    `json:"container,omitempty"`
	MemoryCapMB int64     `json:"memory_cap_mb,omitempty"`
	PeakMB      int64     `json:"peak_mb,omitempty"`
	CaughtRSSMB *float64  `json:"caught_rss_mb,omitempty"`
	OOMKills    int64     `json:"oom_kills,omitempty"`
	Soft        bool      `json:"soft,omitempty"`
	Isolated    *bool     `json:"isolated,omitempty"`
	Moved       int       `json:"moved,omitempty"`
	TookMS      float64   `json:"took_ms,omitempty"`
	StoppedMS   float64   `json:"stopped_ms,omitempty"`
	Late        bool      `json:"late,omitempty"`
	LostEvents  uint64    `json:"lost_events,omitempty"`
	Notes       []string  `json:"notes,omitempty"`
}

// Of returns the events of one kind.
func Of(events []Event, kind string) []Event {
	var some []Event
	for _, e := range events {
		if e.Event == kind {
			some = append(some, e)
		}
	}
	return some
}

// Tally counts events by kind, for a log line.
func Tally(events []Event) map[string]int {
	n := map[string]int{}
	for _, e := range events {
		n[e.Event]++
	}
	return n
}
