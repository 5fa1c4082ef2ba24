package proc

import (
	"errors"
	"fmt"
	"time"
)

// ErrGone says that the process asked about has ended, or that its pid is
// another process's by now. A process that is gone is an answer, not a fault.
var ErrGone = errors.New("process is gone")

// NoLoginUID is the login uid of a process that no login started, as
// /proc/PID/loginuid shows it (also where the kernel has no audit support).
const NoLoginUID = ^uint32(0)

// ID names one process for as long as the machine runs. A pid alone is reused;
// together with the start time (field 22 of /proc/PID/stat, in clock ticks
// since boot) it is not.
type ID struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

func (id ID) String() string { return fmt.Sprintf("%d@%d", id.PID, id.Start) }

// Exec is one successful exec, as every source delivers it. A source fills the
// first group; FS.ReadCommand and FS.ReadFacts fill the others, so that the
// many light execs cost no more than the reading of their argv.
type Exec struct {
	// Of the source.
	ID     ID        // Start is 0 until ReadFacts
	Comm   string    // at most 15 bytes; for a script the script's name
	Tag    uint32    // of the name map in the kernel; 0 where nothing filtered by name
	Source string    // "bpf", "perf", "poll"
	Seen   time.Time // when the kernel told of it; when found, if Late
	Late   bool      // the exec was found, not reported: the process and its descendants may have run for long

	// Of ReadCommand.
	Argv []string // whole, as the process shows it; a process may have overwritten it
	Exe  string   // resolved path of the binary; "" where it may not be read

	// Of ReadFacts.
	PPID     int
	PGID     int // process group
	SID      int // session
	TTY      int // controlling terminal's device number, 0 for none
	Threads  int
	UID      uint32 // real
	EUID     uint32 // effective
	LoginUID uint32 // NoLoginUID for none
	Secure   bool   // AT_SECURE: started with more rights than its caller has
	Cwd      string
	Cgroup   string // path in the unified hierarchy ("/user.slice/…"); "" unknown
}
