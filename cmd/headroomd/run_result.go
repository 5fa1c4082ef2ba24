package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/governor"
)

// runResult is what became of a command. Its words are a contract: programs
// read it. Sizes are in MB (2^20 bytes).
type runResult struct {
	MemoryCapMB int64    `json:"memory_cap_mb"` // 0: no cap was in force
	SwapCapMB   int64    `json:"swap_cap_mb"`   // beyond it; -1 unlimited
	Isolated    bool     `json:"isolated"`      // it ran in a scope of its own
	PeakMB      int64    `json:"peak_mb"`       // 0: not known
	Lightened   []string `json:"lightened"`     // what was changed in it
	OOMKilled   bool     `json:"oom_killed"`    // something of it was killed at its cap, by the kernel or by who measures
	WaitedS     float64  `json:"waited_s"`
	ExitCode    int      `json:"exit_code"`
	Note        string   `json:"note"` // what to know, and to try; "" when all went well
	Class       string   `json:"class"`
	Command     string   `json:"command"` // as it was run
	Job         string   `json:"job,omitempty"`

	program, remedy string
}

func newResult(t *task) runResult {
	r := runResult{SwapCapMB: -1, Lightened: t.lightened, Class: string(t.verdict.Class), program: t.shown, remedy: t.verdict.Remedy}
	if r.Lightened == nil {
		r.Lightened = []string{}
	}
	if r.Command = t.line; r.Command == "" {
		r.Command = strings.Join(t.argv, " ")
	}
	return r
}

// take notes what the governor says of the run.
func (r *runResult) take(u governor.RunUpdate) {
	r.Job, r.Isolated = u.Job, u.Isolated
	r.MemoryCapMB, r.SwapCapMB = u.MemoryCapMB, u.SwapCapMB
	r.PeakMB = max(r.PeakMB, u.PeakMB)
	r.OOMKilled = r.OOMKilled || u.OOMKills > 0
	if u.State != governor.RunWaiting {
		r.WaitedS = max(r.WaitedS, u.WaitedS)
	}
	if u.Note != "" {
		r.Note = u.Note
	}
}

// conclude writes the note of a command that was killed at its cap.
func (r *runResult) conclude(err error) {
	r.ExitCode = exitStatus(err)
	r.WaitedS = float64(time.Duration(r.WaitedS*float64(time.Second)).Round(10*time.Millisecond)) / float64(time.Second)
	if !r.OOMKilled {
		return
	}
	r.Note = fmt.Sprintf("%s went over its cap of %d MB, and its largest process was killed there (exit code 137, \"Killed\"). Nothing else was hurt.", r.program, r.MemoryCapMB)
	if r.remedy != "" {
		r.Note += " To try: " + r.remedy
	} else {
		r.Note += " To try: fewer workers, or a part of it at a time."
	}
}

// resultFD is where --json writes.
const resultFD = 3

// openResult opens where the result goes, before anything runs: a result that
// cannot be written must not be found out after an hour. It is nil where none
// is wanted.
func openResult(o runOptions) (*os.File, error) {
	if o.json && o.result != "" {
		return nil, usagef("run: --json writes to descriptor 3 and --result to a file: one of them")
	}
	if o.json {
		// One that closes on exec is the runtime's own: it was not inherited.
		if flags, err := unix.FcntlInt(resultFD, unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC != 0 {
			return nil, usagef("run: --json writes the result to file descriptor 3, which is not open: add 3>result.json, or use --result FILE")
		}
		// Not for the command: whoever reads the other end waits for its end.
		unix.CloseOnExec(resultFD)
		return os.NewFile(resultFD, "descriptor 3"), nil
	}
	if o.result == "" {
		return nil, nil
	}
	f, err := os.OpenFile(o.result, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return nil, fmt.Errorf("run: --result: %w", err)
	}
	return f, nil
}

// finish leaves the result and hands on the error, which carries the status.
func finish(out *os.File, r *runResult, err error) error {
	r.conclude(err)
	if r.OOMKilled {
		fmt.Fprintln(os.Stderr, "headroomd:", r.Note)
	}
	if out == nil {
		return err
	}
	data, jsonErr := json.Marshal(r)
	if jsonErr == nil {
		_, jsonErr = out.Write(append(data, '\n'))
	}
	if closeErr := out.Close(); jsonErr == nil {
		jsonErr = closeErr
	}
	if jsonErr != nil {
		// The command's own status is worth more than ours.
		fmt.Fprintln(os.Stderr, "headroomd: the result could not be written:", jsonErr)
	}
	return err
}
