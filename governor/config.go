package governor

import (
	"cmp"

	"github.com/headroomd/headroomd/governor/admission"
)

// The modes.
const (
	ModeEnforce = "enforce"
	ModeObserve = "observe" // nothing is touched, the journal says what would have been done
	ModeOff     = "off"
)

// Config are the settings. Sizes are in MB (2^20 bytes), and 0 means auto: it
// is resolved against the machine when a job starts, so that one file serves a
// 512 MB board and a 64 GB workstation. The file and the flags of the command
// line fill this one struct.
type Config struct {
	Mode    string `toml:"mode"`    // enforce, observe, off
	Source  string `toml:"source"`  // auto, bpf, perf, poll
	Contain string `toml:"contain"` // auto, systemd, cgroupfs, none

	MaxHeavyJobs   int   `toml:"max_heavy_jobs"`
	ReserveMB      int64 `toml:"reserve_mb"`
	MinStartMB     int64 `toml:"min_start_mb"`
	CriticalMB     int64 `toml:"critical_mb"`
	JobMemoryMaxMB int64 `toml:"job_memory_max_mb"`
	SwapMB         int64 `toml:"swap_mb"` // -1 unlimited

	QueueTimeoutS      int    `toml:"queue_timeout_s"`
	QueueTimeoutAction string `toml:"queue_timeout_action"` // admit, refuse

	Lighten bool `toml:"lighten"`
	Isolate bool `toml:"isolate"`
	Watch   bool `toml:"watch"`

	ExtraHeavyPatterns []string `toml:"extra_heavy_patterns"` // Go regular expressions over the command
	ExcludePatterns    []string `toml:"exclude_patterns"`

	Protect           []string `toml:"protect"`            // unit names
	Notes             string   `toml:"notes"`              // on, terminal, off
	Orphans           string   `toml:"orphans"`            // sweep, keep
	ContainContainers string   `toml:"contain_containers"` // cap, observe, off
}

// Default is the configuration of a machine nobody described.
func Default() Config {
	return Config{
		Mode:               ModeEnforce,
		Source:             "auto",
		Contain:            "auto",
		QueueTimeoutS:      300,
		QueueTimeoutAction: "admit",
		Lighten:            true,
		Isolate:            true,
		Watch:              true,
		ExtraHeavyPatterns: []string{},
		ExcludePatterns:    []string{},
		Protect:            []string{"ssh.service", "sshd.service"},
		Notes:              "on",
		Orphans:            "sweep",
		ContainContainers:  "observe",
	}
}

// Resolve turns the settings into the limits for the machine as it is now.
// What was set is taken as it is; what was left at 0 follows from MemTotal.
func (c Config) Resolve(m admission.Machine) admission.Limits {
	a := autoLimits(m.TotalMB)
	return admission.Limits{
		MaxHeavyJobs:   cmp.Or(c.MaxHeavyJobs, a.MaxHeavyJobs),
		ReserveMB:      cmp.Or(c.ReserveMB, a.ReserveMB),
		MinStartMB:     cmp.Or(c.MinStartMB, a.MinStartMB),
		CriticalMB:     cmp.Or(c.CriticalMB, a.CriticalMB),
		JobMemoryMaxMB: c.JobMemoryMaxMB,
		SwapMB:         c.SwapMB,
	}
}
