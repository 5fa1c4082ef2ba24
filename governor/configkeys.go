package governor

import (
	"errors"
	"fmt"
	"regexp"
)

// setting is one key of the file: what it may be, and what its reader is told.
type setting struct {
	key   string
	field func(*Config) any // *string, *int, *int64, *bool or *[]string
	words []string          // the values that a *string may have
	least int64             // bounds of a number, both allowed
	most  int64
	item  func(string) error // checks one item of a list
	about []string           // lines of the comment in the documented file
}

// mostMB is 16 TB: more is a slip of the unit.
const mostMB = 16 << 20

// settings are all keys, in the order of the documented file.
var settings = []setting{
	{
		key: "mode", field: func(c *Config) any { return &c.Mode }, words: []string{ModeEnforce, ModeObserve, ModeOff},
		about: []string{
			"enforce: heavy commands are put into scopes with a memory cap.",
			"observe: nothing is touched; the journal says what would have been done.",
			"off:     nothing is done.",
		},
	},
	{
		key: "source", field: func(c *Config) any { return &c.Source }, words: []string{"auto", "bpf", "perf", "poll"},
		about: []string{
			"How started programs are seen. auto takes the best that works here:",
			"bpf (Linux 5.8, root), perf (root), poll (no privilege needed).",
		},
	},
	{
		key: "contain", field: func(c *Config) any { return &c.Contain }, words: []string{"auto", "systemd", "cgroupfs", "none"},
		about: []string{
			"What puts a job into a cgroup of its own. auto takes systemd where it runs,",
			"then cgroupfs, then none.",
		},
	},
	{
		key: "max_heavy_jobs", field: func(c *Config) any { return &c.MaxHeavyJobs }, most: 64,
		about: []string{
			"Heavy jobs at once on the whole machine.",
			"0 = auto: 1 below 4 GB of memory, 2 below 16 GB, else 4.",
		},
	},
	{
		key: "reserve_mb", field: func(c *Config) any { return &c.ReserveMB }, most: mostMB,
		about: []string{
			"Memory that is never promised to a job.",
			"0 = auto: 15 % of the memory, 256 to 2048 MB (below 1 GB: at most a quarter).",
		},
	},
	{
		key: "min_start_mb", field: func(c *Config) any { return &c.MinStartMB }, most: mostMB,
		about: []string{
			"The least that has to be free beyond the reserve for a job to start at once.",
			"0 = auto: 10 % of the memory, 192 to 1024 MB (below 1 GB: at most 15 %).",
		},
	},
	{
		key: "critical_mb", field: func(c *Config) any { return &c.CriticalMB }, most: mostMB,
		about: []string{
			"When less than this is available, a job is stopped.",
			"0 = auto: 5 % of the memory, 96 to 512 MB (below 1 GB: at most 10 %).",
		},
	},
	{
		key: "job_memory_max_mb", field: func(c *Config) any { return &c.JobMemoryMaxMB }, most: mostMB,
		about: []string{
			"The most that one job may have.",
			"0 = auto: what is available at its start, minus the reserve, minus what was",
			"promised to running jobs, divided by the free slots.",
		},
	},
	{
		key: "swap_mb", field: func(c *Config) any { return &c.SwapMB }, least: -1, most: mostMB,
		about: []string{
			"Swap that a job may use beyond its cap. -1 = unlimited.",
			"0 = auto: 256 MB, or half of the free swap for a job that runs alone.",
		},
	},
	{
		key: "queue_timeout_s", field: func(c *Config) any { return &c.QueueTimeoutS }, least: 1, most: 86400,
		about: []string{"The longest that a heavy command waits for its turn, in seconds."},
	},
	{
		key: "queue_timeout_action", field: func(c *Config) any { return &c.QueueTimeoutAction }, words: []string{"admit", "refuse"},
		about: []string{
			"What happens then. admit: it starts with a small cap. refuse: it is ended and",
			"told why.",
		},
	},
	{
		key: "lighten", field: func(c *Config) any { return &c.Lighten },
		about: []string{"Offer forms of a command that use fewer workers and smaller heaps."},
	},
	{
		key: "isolate", field: func(c *Config) any { return &c.Isolate },
		about: []string{"Give each job a scope of its own. false: jobs are only counted."},
	},
	{
		key: "watch", field: func(c *Config) any { return &c.Watch },
		about: []string{
			"When the machine runs out of memory, stop who brought it there: what grew and",
			"is no known command, a job over its promise, or else the newest job.",
		},
	},
	{
		key: "extra_heavy_patterns", field: func(c *Config) any { return &c.ExtraHeavyPatterns }, item: checkPattern,
		about: []string{
			"Regular expressions (RE2) for commands that are heavy here, for instance",
			`'^python3? train\.py'. Single quotes keep the backslashes.`,
		},
	},
	{
		key: "exclude_patterns", field: func(c *Config) any { return &c.ExcludePatterns }, item: checkPattern,
		about: []string{"Regular expressions for commands that are never heavy."},
	},
	{
		key: "protect", field: func(c *Config) any { return &c.Protect }, item: checkUnit,
		about: []string{
			"systemd units that must not be hurt: when one of them stalls for want of memory,",
			"a job is stopped.",
		},
	},
	{
		key: "notes", field: func(c *Config) any { return &c.Notes }, words: []string{"on", "terminal", "off"},
		about: []string{
			"One-line notes in the stderr of a command that waits, was stopped or reached its",
			"cap. terminal: only where stderr is a terminal.",
		},
	},
	{
		key: "orphans", field: func(c *Config) any { return &c.Orphans }, words: []string{"sweep", "keep"},
		about: []string{"What a job leaves running when its main process was killed: sweep ends it."},
	},
	{
		key: "contain_containers", field: func(c *Config) any { return &c.ContainContainers }, words: []string{"cap", "observe", "off"},
		about: []string{
			"Heavy commands inside containers are never moved, and never wait. cap: while one",
			"runs its container may take no more than it has and the command is granted.",
			"observe: they are only recorded. off: not even that.",
		},
	},
}

const maxPatternBytes = 1024

func checkPattern(pattern string) error {
	if len(pattern) > maxPatternBytes {
		return fmt.Errorf("pattern of %d bytes is longer than %d", len(pattern), maxPatternBytes)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return fmt.Errorf("pattern %q: %w", pattern, err)
	}
	if re.MatchString("") {
		return fmt.Errorf("pattern %q matches every command", pattern)
	}
	return nil
}

var unitName = regexp.MustCompile(`^[A-Za-z0-9:_.\\@-]{1,240}\.(service|scope|slice)$`)

func checkUnit(name string) error {
	if !unitName.MatchString(name) {
		return fmt.Errorf("%.80q is not the name of a unit such as ssh.service", name)
	}
	return nil
}

// check says what is wrong with the value that a setting has in c. For a list
// item is the index of what is wrong, else -1.
func (s setting) check(c *Config) (item int, err error) {
	switch value := s.field(c).(type) {
	case *string:
		for _, word := range s.words {
			if *value == word {
				return -1, nil
			}
		}
		return -1, fmt.Errorf("%s = %.80q is none of %s; the nearest is %q", s.key, *value, list(s.words), nearest(*value, s.words))
	case *int:
		return -1, s.checkNumber(int64(*value))
	case *int64:
		return -1, s.checkNumber(*value)
	case *[]string:
		for i, text := range *value {
			if err := s.item(text); err != nil {
				return i, fmt.Errorf("%s: %w", s.key, err)
			}
		}
	}
	return -1, nil
}

func (s setting) checkNumber(n int64) error {
	if n < s.least || n > s.most {
		return fmt.Errorf("%s = %d is not in the range of %d to %d", s.key, n, s.least, s.most)
	}
	return nil
}

// Check says what is wrong with the values, for those that no file gave: flags.
func (c Config) Check() error {
	var all []error
	for _, s := range settings {
		if _, err := s.check(&c); err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}
