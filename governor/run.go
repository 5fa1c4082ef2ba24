package governor

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/loader/proc"
)

// RunRequest is a command that asks before it runs (`headroomd run`), as the
// control socket takes it. Its process is there already, as a child of the
// asker, and waits on a pipe until it may exec: so it can be put in its scope
// while it has touched nothing.
type RunRequest struct {
	PID       int      `json:"pid"`                 // the child
	Start     uint64   `json:"start"`               // its start in clock ticks after the boot, field 22 of /proc/PID/stat
	Argv      []string `json:"argv"`                // as it will be executed
	Line      string   `json:"line,omitempty"`      // the shell line, where it was one
	Cwd       string   `json:"cwd,omitempty"`       // where it will run
	Family    string   `json:"family"`              // by the asker's own classification: words to show, nothing more
	Rule      string   `json:"rule,omitempty"`      // likewise
	Remedy    string   `json:"remedy,omitempty"`    // likewise
	Lightened []string `json:"lightened,omitempty"` // what was changed in the command, in words
	Slotless  bool     `json:"slotless,omitempty"`  // a supervisor: it waits for memory, and takes neither slot nor scope
	WaitS     float64  `json:"wait_s,omitempty"`    // how long it would wait at most, in seconds; 0 as the settings say

	Asker int    `json:"-"` // pid of the one that asks, as the socket has it
	UID   uint32 `json:"-"` // likewise
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
	BehindFamily string  `json:"behind_family,omitempty"` // this and the pid is all that is told of it: it may be another user's
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

// What a governor refuses to do for those who ask it to.
var (
	ErrNotChild = errors.New("the process is not a waiting child of the one that asks")
	ErrNoJob    = errors.New("there is no such job")
	ErrNotYours = errors.New("it is another user's job")
)

// shownWord is what a family or a rule may look like: other users see them.
var shownWord = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// check tells what the kernel says of the child, and refuses a request that
// does not fit: a user can ask for a child of his own, and for nothing else.
func (r RunRequest) check(fs proc.FS) (proc.Exec, error) {
	switch {
	case len(r.Argv) == 0 || r.Argv[0] == "":
		return proc.Exec{}, errors.New("run: argv is empty")
	case !shownWord.MatchString(r.Family):
		return proc.Exec{}, fmt.Errorf("run: %.40q is no family", r.Family)
	case r.Rule != "" && !shownWord.MatchString(r.Rule):
		return proc.Exec{}, fmt.Errorf("run: %.40q is no rule's id", r.Rule)
	case r.PID <= 1 || r.PID == r.Asker:
		return proc.Exec{}, ErrNotChild
	}
	x := proc.Exec{ID: proc.ID{PID: r.PID, Start: r.Start}, Source: "run"}
	if err := fs.ReadFacts(&x); err != nil {
		return proc.Exec{}, fmt.Errorf("%w: %w", ErrNotChild, err)
	}
	if x.ID.Start != r.Start || x.PPID != r.Asker || x.UID != r.UID || x.EUID != r.UID || x.Secure {
		return proc.Exec{}, ErrNotChild
	}
	x.Argv = r.Argv
	return x, nil
}

// verdict is the request's own classification.
func (r RunRequest) verdict() classifier.Verdict {
	return classifier.Verdict{Class: classifier.Heavy, Capture: true, Family: r.Family, Rule: r.Rule, Remedy: r.Remedy,
		Reason: "it was started with headroomd run"}
}

// LimitsFor is a cap as a scope is given it.
func LimitsFor(c admission.Cap) contain.Limits { return limitsOf(c) }
