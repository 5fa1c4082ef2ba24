package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/watchdog"
	"github.com/headroomd/headroomd/loader/proc"
)

const (
	// selftestTime bounds the whole test; it takes a second or two on a Pi.
	selftestTime = 60 * time.Second
	// selftestMB is what the job asks for.
	selftestMB = 800
	// tidyTime is for what has to be given back after that.
	tidyTime = 10 * time.Second
)

func newSelftestCommand() *cobra.Command {
	var asJSON bool
	var want, socket string
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "Prove that a job that outgrows its cap is stopped, and nothing else hurt",
		Long: `Prove on this machine that a job that outgrows its memory cap is stopped, and
that nothing else is hurt.

A child of this command asks for 800 MB in a job of 64 MB. It is started only
where the cap was read back from the kernel, and stops itself while the machine
still has memory for others: it is safe to run on a machine that is in use,
with or without the governor running. A held start, a note to a caller and
what the watchdog would do are tried as well. It takes at most a minute.

Exits with 0 where all of it works, and with 1 where a step failed.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			c := governor.Default()
			if c.Contain = want; c.Check() != nil {
				return usagef("selftest: --contain is auto, systemd, cgroupfs or none, not %q", want)
			}
			return runSelftest(ctx, newSelftest(want, socket), cmd.OutOrStdout(), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "the result as one JSON object")
	cmd.Flags().StringVar(&want, "contain", "auto", "the `TIER` to test: auto, systemd, cgroupfs or none")
	socketFlag(cmd, &socket)
	return cmd
}

// selftest is one run. It touches nothing but its own children.
type selftest struct {
	want, socket string
	fs           proc.FS
	cgroupOf     func(pid int) (string, error)
	open         func(ctx context.Context, want string, fs proc.FS, log *slog.Logger) (tier, error)
	memory       func() watchdog.Reading
	asksMB       int64 // what the hog asks for
	floorMB      int64 // what it leaves to others, should nothing stop it
	tell         func(selfStep)

	report  selfReport
	machine admission.Machine
	limits  admission.Limits
	tier    tier
	mount   string // of the cgroup hierarchy; "" where there is none
	sibling *selfChild
	before  [2]witness // this process and the sibling, before the hog
	killed  int64      // kernel OOM kills on the whole machine, before it
}

func newSelftest(want, socket string) *selftest {
	fs := proc.NewFS("/proc")
	return &selftest{want: want, socket: socket, fs: fs, cgroupOf: fs.Cgroup, open: openTier, asksMB: selftestMB,
		memory: func() watchdog.Reading { return readMemory("/") }, tell: func(selfStep) {}}
}

func runSelftest(ctx context.Context, s *selftest, w io.Writer, asJSON bool) error {
	if !asJSON {
		fmt.Fprintf(w, "headroomd selftest: %d MB are asked for in a job that may have less\n", s.asksMB)
		s.tell = func(step selfStep) { io.WriteString(w, step.print()) }
	}
	s.run(ctx)
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s.report); err != nil {
			return fmt.Errorf("write the result: %w", err)
		}
	} else {
		io.WriteString(w, s.report.verdict())
	}
	if s.report.Verdict != "PASS" {
		return errSaid
	}
	return nil
}

// run takes all steps, each for itself: one that fails does not hide another.
func (s *selftest) run(ctx context.Context) {
	// The children die with this thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, selftestTime)
	defer cancel()
	s.report.Version, s.report.Steps = buildVersion(), []selfStep{}
	s.lookAround()
	if s.openTier(ctx) {
		defer s.tier.backend.Close()
		if s.tier.soft != nil {
			go s.tier.soft.Run(ctx) // until the test is over
		}
		s.tryCap(ctx)
		if s.sibling != nil {
			s.sibling.end()
		}
		s.tryHold(ctx)
	}
	s.tryNotes(ctx)
	s.dryRun(ctx)
	s.report.settle()
	s.report.TookS = float64(time.Since(began).Milliseconds()) / 1000
}

func (s *selftest) step(name, state, next, format string, args ...any) {
	step := selfStep{Name: name, State: state, Text: fmt.Sprintf(format, args...), Next: next}
	s.report.Steps = append(s.report.Steps, step)
	s.tell(step)
}

func (s *selftest) passed(name, format string, args ...any) {
	s.step(name, stepPassed, "", format, args...)
}

func (s *selftest) skipped(name, format string, args ...any) {
	s.step(name, stepSkipped, "", format, args...)
}

const askDoctor = "headroomd doctor says what this machine lacks and how to mend it"

func (s *selftest) failed(name, next, format string, args ...any) {
	s.step(name, stepFailed, next, format, args...)
}

// lookAround reads what the machine has.
func (s *selftest) lookAround() {
	r := s.memory()
	s.machine = governor.MachineOf(r)
	s.limits = governor.Default().Resolve(s.machine)
	s.floorMB = max(s.floorMB, s.limits.CriticalMB)
	m := &s.report.Memory
	m.TotalMB, m.AvailableMB, m.PSI = s.machine.TotalMB, s.machine.AvailableMB, r.PSI != nil
	s.report.Job = selfJob{MemoryCapMB: -1, AskedMB: s.asksMB, PeakMB: -1, OOMKills: -1, OverMB: -1}
	if m.AvailableMB < 0 {
		s.failed("memory", "a kernel of 3.14 or later tells it", "how much memory is available cannot be read from /proc/meminfo: nothing can be decided by it")
		return
	}
	pressure := "no figures of memory pressure (PSI)"
	if m.PSI {
		pressure = "with figures of memory pressure (PSI)"
	}
	s.passed("memory", "%d of %d MB available, %s, %s", m.AvailableMB, m.TotalMB, plural(runtime.NumCPU(), "CPU"), pressure)
}

// openTier opens what jobs are put in here, and tells what it says of itself.
func (s *selftest) openTier(ctx context.Context) bool {
	t, err := s.open(ctx, s.want, s.fs, slog.New(slog.DiscardHandler))
	if err != nil {
		s.report.Tier = selfTier{Name: s.want, Why: plainReason(err), Claims: capNone, Cap: capNone}
		s.failed("tier", askDoctor, "%s cannot be had here: %s", s.want, plainReason(err))
		return false
	}
	s.tier, s.mount = t, t.cgroups
	s.report.Tier = selfTier{Name: t.status.Name, Why: t.status.Why, Claims: capOf(t), Cap: capNone}
	s.passed("tier", "%s: %s; %s", t.status.Name, t.status.Why, map[string]string{
		capKernel: "it says that the kernel caps a job's memory",
		capSoft:   "the governor measures a job's memory itself, since the kernel does not cap it",
		capNone:   "it has no memory cap",
	}[s.report.Tier.Claims])
	return true
}

// capOf is the cap that a tier says it has.
func capOf(t tier) string {
	switch {
	case t.status.MemoryController:
		return capKernel
	case t.status.SoftCaps:
		return capSoft
	}
	return capNone
}

// tidy is a context for giving back what was taken, whatever became of the test.
func tidy(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), tidyTime)
}

func (s *selftest) cgroupFile(cgroup, name string) string {
	return filepath.Join(s.mount, cgroup, name)
}
