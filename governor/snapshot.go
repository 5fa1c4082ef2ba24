package governor

import "time"

// Snapshot is the whole state of the governor at one moment, as `status --json`
// and the control socket give it. Its words are a contract: a field may be
// added, none renamed. Sizes are in MB (2^20 bytes).
type Snapshot struct {
	Version string          `json:"version"`
	Time    time.Time       `json:"time"`
	PID     int             `json:"pid"`
	Since   time.Time       `json:"since"`
	Mode    string          `json:"mode"`  // enforce, observe, off
	Scope   string          `json:"scope"` // "machine" (root) or "user"
	Source  SourceStatus    `json:"source"`
	Contain ContainStatus   `json:"contain"`
	Memory  MemoryStatus    `json:"memory"`
	Limits  LimitsStatus    `json:"limits"`
	Jobs    []JobStatus     `json:"jobs"`
	Queue   []JobStatus     `json:"queue"`
	Recent  []JobStatus     `json:"recent"` // the last jobs that ended, newest last
	Largest []ProcessStatus `json:"largest"`
	Guards  []GuardStatus   `json:"guards"` // other programs that act on memory or cgroups here
	Watch   WatchStatus     `json:"watch"`
	Self    SelfStatus      `json:"self"`
}

// SourceStatus says how execs are seen, and why not in a better way.
type SourceStatus struct {
	Name      string `json:"name"`       // bpf, perf, poll
	Why       string `json:"why"`        // why not a better one; or that it is the best
	ReportAll bool   `json:"report_all"` // a pattern rule turned the kernel's name filter off
	// Which rules or patterns did; "" when none.
	ReportAllWhy string `json:"report_all_why,omitempty"`
	Names        int    `json:"names"` // names in the kernel's map
	Seen         uint64 `json:"seen"`
	Reported     uint64 `json:"reported"`
	Lost         uint64 `json:"lost"`
	Scans        uint64 `json:"scans"` // full scans of /proc after a loss or a start
}

// ContainStatus says where jobs are put.
type ContainStatus struct {
	Name             string `json:"name"` // systemd, cgroupfs, none
	Why              string `json:"why"`
	MemoryController bool   `json:"memory_controller"`
	SoftCaps         bool   `json:"soft_caps"` // the governor measures jobs and kills what outgrows its cap, since the kernel does not
	Catch            bool   `json:"catch"`     // processes are stopped (ptrace) while they are placed
	CatchWhy         string `json:"catch_why"` // why not, or how (priority)
}

// MemoryStatus is the machine's memory. A value that cannot be read is -1.
type MemoryStatus struct {
	TotalMB     int64   `json:"total_mb"`
	AvailableMB int64   `json:"available_mb"`
	SwapTotalMB int64   `json:"swap_total_mb"`
	SwapFreeMB  int64   `json:"swap_free_mb"`
	PSISome10   float64 `json:"psi_some_avg10"`
	PSIFull10   float64 `json:"psi_full_avg10"`
}

// GuardStatus is another program that acts on memory or on cgroups here.
type GuardStatus struct {
	Name     string `json:"name"`
	PID      int    `json:"pid"`
	ActsAtMB int64  `json:"acts_at_mb"` // available memory below which it kills; -1 it goes by something else, or it is not known
	Note     string `json:"note"`       // who acts first and what follows
}

// LimitsStatus are the settings in force, the automatic ones resolved.
type LimitsStatus struct {
	MaxHeavyJobs int   `json:"max_heavy_jobs"`
	ReserveMB    int64 `json:"reserve_mb"`
	MinStartMB   int64 `json:"min_start_mb"`
	CriticalMB   int64 `json:"critical_mb"`
	NextCapMB    int64 `json:"next_cap_mb"` // what a job started now would get
	SwapMB       int64 `json:"swap_mb"`
}

// JobStatus is one job.
type JobStatus struct {
	ID          string    `json:"id"`
	PID         int       `json:"pid"`
	UID         uint32    `json:"uid"`
	Command     string    `json:"command"`
	Family      string    `json:"family"`
	Rule        string    `json:"rule"`
	State       string    `json:"state"`
	Since       time.Time `json:"since"`
	Unit        string    `json:"unit"`
	Cgroup      string    `json:"cgroup"`
	MemoryCapMB int64     `json:"memory_cap_mb"`
	SwapCapMB   int64     `json:"swap_cap_mb"`
	MemoryMB    int64     `json:"memory_mb"`
	PeakMB      int64     `json:"peak_mb"`
	Isolated    bool      `json:"isolated"`
	CaughtRSSMB float64   `json:"caught_rss_mb"`
	OOMKills    int64     `json:"oom_kills"`
	Soft        bool      `json:"soft"` // its cap is kept by measuring
	Processes   int       `json:"processes"`
	Lightened   []string  `json:"lightened"`
	Note        string    `json:"note"`

	// Of what waits; zero otherwise.
	WaitS     float64 `json:"wait_s,omitempty"`     // since when it asked, in seconds
	PatienceS float64 `json:"patience_s,omitempty"` // how long it waits at most
	Position  int     `json:"position,omitempty"`   // 1 is next
	Behind    string  `json:"behind,omitempty"`     // the job that holds what it waits for
	MissingMB int64   `json:"missing_mb,omitempty"`
	Why       string  `json:"why,omitempty"`

	LearnedPeakMB int64 `json:"learned_peak_mb,omitempty"` // the largest of its last runs; 0 unknown
	LearnedRuns   int   `json:"learned_runs,omitempty"`
	Quiet         bool  `json:"quiet"` // slot and promise are given back

	Container string `json:"container,omitempty"` // that it stays in; then the cap is the container's
}

// ProcessStatus is one of the machine's largest processes.
type ProcessStatus struct {
	PID     int    `json:"pid"`
	UID     uint32 `json:"uid"`
	Command string `json:"command"`
	RSSMB   int64  `json:"rss_mb"`
	Job     string `json:"job,omitempty"`

	cgroup string
}

// SelfStatus is what the governor itself costs.
type SelfStatus struct {
	RSSMB      float64 `json:"rss_mb"`
	CPUS       float64 `json:"cpu_s"`
	LostEvents uint64  `json:"lost_events"`
}
