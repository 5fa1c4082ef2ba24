package watchdog

// Level is how near the machine is to being hurt.
type Level int

// The levels, from the least known to the worst.
const (
	NotKnown Level = iota // available memory could not be read
	Calm                  // more is available than is kept in reserve
	Tight                 // the reserve is being used: no budget is left for a job
	Critical              // below the line at which a job has to be stopped
)

func (l Level) String() string {
	switch l {
	case Calm:
		return "calm"
	case Tight:
		return "tight"
	case Critical:
		return "critical"
	}
	return "unknown"
}

// Lines are the two sizes, in MB of available memory, that separate the levels.
type Lines struct {
	ReserveMB  int64
	CriticalMB int64
}

// Level judges one reading by available memory alone. Pressure confirms and
// does not decide: on zram it rises only when it is too late.
func (r Reading) Level(l Lines) Level {
	switch available := MB(r.MemAvailable); {
	case available < 0:
		return NotKnown
	case available < l.CriticalMB:
		return Critical
	case available < l.ReserveMB:
		return Tight
	}
	return Calm
}

// MB is bytes in units of 2^20, rounded down; Unknown stays Unknown.
func MB(bytes int64) int64 {
	if bytes < 0 {
		return Unknown
	}
	return bytes >> 20
}
