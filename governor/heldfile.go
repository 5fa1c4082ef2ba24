package governor

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/loader/proc"
)

// heldJob is a job that waits, as it is written to the run directory: a
// governor that takes over a frozen scope has to know whose turn it is.
type heldJob struct {
	Job      string    `json:"job"`
	Unit     string    `json:"unit"`
	Cgroup   string    `json:"cgroup"`
	Root     proc.ID   `json:"root"`
	Since    time.Time `json:"since"` // when it asked first
	User     uint32    `json:"user"`  // whose turn it counts as
	UID      uint32    `json:"uid"`
	Patience float64   `json:"patience_s"`
	Command  string    `json:"command"` // escaped, bounded, secrets masked
	Family   string    `json:"family"`
	Rule     string    `json:"rule"`
	Cwd      string    `json:"cwd"`
}

// patience is for how long after Since it waits at most.
func (h heldJob) patience() time.Duration { return time.Duration(h.Patience * float64(time.Second)) }

type heldJobs struct {
	Version int       `json:"version"`
	Jobs    []heldJob `json:"jobs"`
}

const (
	heldVersion = 1
	// maxHeldJobs is more than can wait: 8 for each user.
	maxHeldJobs = 512
	// maxHeldText bounds each of a job's texts, in bytes.
	maxHeldText = 1024
)

// heldText is what is written. The loop calls it whenever a job begins or ends
// to wait, and has it written by replaceFile. A file that is not written costs
// no more than that those who wait begin to wait anew. A job without a scope is
// left out: the child of a `run` is asked for again by that.
func heldText(jobs []heldJob) ([]byte, error) {
	all := heldJobs{Version: heldVersion, Jobs: []heldJob{}}
	for _, h := range jobs {
		if h.Unit != "" && len(all.Jobs) < maxHeldJobs {
			all.Jobs = append(all.Jobs, h)
		}
	}
	for {
		text, err := json.Marshal(all)
		if err != nil {
			return nil, fmt.Errorf("write down the jobs that wait: %w", err)
		}
		if len(text) <= maxKeptFile || len(all.Jobs) == 0 {
			return text, nil
		}
		all.Jobs = all.Jobs[:len(all.Jobs)/2]
	}
}

// loadHeld reads the jobs that waited, by their unit. A governor calls it at
// its start, before it adopts scopes; a scope that is frozen and not among them
// begins to wait anew, an entry without a scope is of a job that ended. A
// damaged file is renamed to NAME.broken and counts as empty.
func loadHeld(file string, log *slog.Logger, now time.Time) map[string]heldJob {
	text, err := readKept(file)
	if err == nil && text == nil {
		return nil
	}
	var held map[string]heldJob
	var odd []error
	if err == nil {
		held, odd, err = parseHeld(text, now)
	}
	if err != nil {
		log.Warn("which jobs were waiting cannot be read: they wait anew", "file", file, "err", err, "kept", setAside(file))
		return nil
	}
	for _, err := range odd {
		log.Warn("a job that was waiting is not known any more: it waits anew", "file", file, "err", err)
	}
	return held
}

// parseHeld reads what heldText wrote; odd is what is wrong with the entries
// that were left out.
func parseHeld(text []byte, now time.Time) (held map[string]heldJob, odd []error, err error) {
	var all heldJobs
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, nil, err
	}
	if all.Version != heldVersion {
		return nil, nil, fmt.Errorf("version %d is not %d", all.Version, heldVersion)
	}
	held = make(map[string]heldJob)
	for _, h := range all.Jobs[:min(len(all.Jobs), maxHeldJobs)] {
		if err := h.check(); err != nil {
			odd = append(odd, fmt.Errorf("unit %.80q: %w", h.Unit, err))
			continue
		}
		if h.Since.After(now) {
			h.Since = now // the clock was put back
		}
		held[h.Unit] = h
	}
	return held, odd, nil
}

// check says what of an entry cannot be true.
func (h heldJob) check() error {
	switch {
	case h.Job == "" || !contain.IsScopeName(h.Unit):
		return errors.New("it names no job's unit")
	case !path.IsAbs(h.Cgroup) || path.Clean(h.Cgroup) != h.Cgroup || path.Base(h.Cgroup) != h.Unit:
		return errors.New("its cgroup is not its unit's")
	case h.Root.PID <= 1 || h.Root.Start == 0:
		return errors.New("it names no process")
	case h.Since.IsZero() || !(h.Patience >= 0) || h.Patience > mostPatience.Seconds():
		return errors.New("since when and for how long it waits is not said")
	}
	for _, text := range []string{h.Job, h.Command, h.Family, h.Rule} {
		if len(text) > maxHeldText {
			return errors.New("a text of it is too long")
		}
	}
	if len(h.Cwd) > 4*maxHeldText {
		return errors.New("its directory is too long")
	}
	return nil
}

// mostPatience is the most that queue_timeout_s may say.
const mostPatience = 24 * time.Hour
