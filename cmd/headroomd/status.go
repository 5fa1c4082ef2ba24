package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/loader/proc"
)

func newStatusCommand() *cobra.Command {
	var socket string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what the governor sees, holds to limits, and may do here",
		Long: `Show what the governor sees, holds to limits, and may do on this machine.

With no governor running it says so, shows the machine's memory all the same,
and exits with 1.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runStatus(cmd.Context(), cmd.OutOrStdout(), socket, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "the whole state as one JSON object")
	socketFlag(cmd, &socket)
	return cmd
}

// askFor bounds how long a question may take. A governor that does not answer
// for this long on a machine in trouble is worth knowing about.
const askFor = 10 * time.Second

func runStatus(ctx context.Context, w io.Writer, socket string, asJSON bool) error {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	snapshot, err := askStatus(ctx, socket)
	absent := notRunning(err)
	if err != nil && !absent {
		return err
	}
	if absent {
		snapshot = withoutGovernor(err)
	}
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		if err := enc.Encode(snapshot); err != nil {
			return fmt.Errorf("write the status: %w", err)
		}
	} else {
		printStatus(w, snapshot)
	}
	if absent {
		return errSaid
	}
	return nil
}

// modeNone is the mode of the status when no governor runs.
const modeNone = "not running"

// withoutGovernor is the status of a machine on which no governor runs: what
// can be read without one.
func withoutGovernor(why error) governor.Snapshot {
	memory, now := readMemory("/"), time.Now()
	m := governor.MachineOf(memory)
	l := governor.Default().Resolve(m)
	return governor.Snapshot{
		Version: buildVersion(),
		Time:    now,
		Since:   now,
		Mode:    modeNone,
		Source:  governor.SourceStatus{Name: "none", Why: why.Error()},
		Contain: governor.ContainStatus{Name: "none", Why: why.Error(), CatchWhy: why.Error()},
		Memory:  governor.MemoryOf(memory),
		Limits:  governor.LimitsOf(l, admission.Grant(m, l, nil)),
		Jobs:    []governor.JobStatus{},
		Queue:   []governor.JobStatus{},
		Recent:  []governor.JobStatus{},
		Largest: governor.Largest(proc.NewFS("/proc"), 5),
		Guards:  guardsAt("/", l.CriticalMB),
	}
}
