package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/control"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/governor/note"
	"github.com/headroomd/headroomd/governor/watchdog"
	"github.com/headroomd/headroomd/loader"
	"github.com/headroomd/headroomd/loader/proc"
)

func newServeCommand() *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the governor, in the best mode that this machine allows",
		Long: `Run the governor in the foreground, in the best mode that this machine allows.

As root it guards the whole machine; as anybody else, that user's own
processes. What it can and cannot do here, and why, is said at the start and
by "headroomd status".`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return serve(ctx, flags)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.config, "config", "", "read the settings from `FILE`")
	f.StringVar(&flags.mode, "mode", "", "`MODE`: enforce, observe (only tell what would be done) or off")
	f.StringVar(&flags.source, "source", "", "how execs are seen: auto, bpf, perf or poll")
	f.StringVar(&flags.contain, "contain", "", "where jobs are put: auto, systemd, cgroupfs or none")
	f.BoolVar(&flags.verbose, "verbose", false, "log more")
	return cmd
}

type serveFlags struct {
	config, mode, source, contain string
	verbose                       bool
}

// settings are those of the file with the flags on top.
func (f serveFlags) settings(path string) (governor.Config, error) {
	explicit := f.config != ""
	if explicit {
		path = f.config
	}
	c, err := governor.Load(path)
	if err != nil && (explicit || !errors.Is(err, os.ErrNotExist)) {
		return c, err
	}
	for _, set := range []struct {
		flag string
		to   *string
	}{{f.mode, &c.Mode}, {f.source, &c.Source}, {f.contain, &c.Contain}} {
		if set.flag != "" {
			*set.to = set.flag
		}
	}
	if err := c.Check(); err != nil {
		return c, usagef("%v", err)
	}
	return c, nil
}

func serve(ctx context.Context, flags serveFlags) error {
	level := slog.LevelInfo
	if flags.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	places := placesOf(os.Geteuid() == 0)
	config, err := flags.settings(places.config)
	if err != nil {
		return err
	}
	if !places.machine {
		if err := guardedAlready(ctx, machineSocket); err != nil {
			return err
		}
	}
	if err := places.make(); err != nil {
		return err
	}
	stayResident(log)

	d, err := assemble(ctx, flags, config, places, log)
	if err != nil {
		return err
	}
	debug.FreeOSMemory() // what reading the rules took is not needed again
	return d.run(ctx)
}

// guardedAlready is an error where the machine's governor enforces: it guards
// this user too, and two with a book each would let twice as much in. The user's
// unit is not started again after this exit code.
func guardedAlready(ctx context.Context, socket string) error {
	s, err := askStatus(ctx, socket)
	if err != nil || s.Mode != governor.ModeEnforce {
		return nil
	}
	return exitError{exitRefused, fmt.Errorf("the machine's governor (pid %d) guards this user already; "+
		"there is nothing to do for a second one", s.PID)}
}

// boxes caps containers wherever the unified hierarchy is, whatever jobs are
// put in; nil where it is not.
func boxes(places places, log *slog.Logger) governor.Containers {
	root, err := contain.FindCgroupRoot("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	return contain.NewContainers(root, places.boxes, log)
}

// daemonParts is everything that runs.
type daemonParts struct {
	watch   *watch
	soft    *contain.SoftCaps
	backend interface{ Close() error }
	journal *journal.Journal
	gov     *governor.Governor
	control *control.Server
	reload  *reloader
	notes   *note.Writer
	stalls  chan<- struct{} // words of the kernel that tasks stand still for want of memory
	// Bound before READY=1, so that who waits for the unit can ask at once.
	listener net.Listener
	banner   func() string
	log      *slog.Logger
}

// assemble opens what the daemon needs, the best that is to be had of each.
func assemble(ctx context.Context, flags serveFlags, config governor.Config, places places, log *slog.Logger) (*daemonParts, error) {
	rules, faults := loadRules(places, config)
	memory, err := watchdog.NewReader("/")
	if err != nil {
		return nil, err
	}
	fs := proc.NewFS("/proc")
	ledger := journal.New(journal.Options{Path: places.events, Log: log})
	reportFaults(faults, log, ledger.Add)
	tier, err := openTier(ctx, config.Contain, fs, log)
	if err != nil {
		return nil, err
	}
	if !lookedAfter() {
		tier.backend = &guarded{backend: tier.backend}
	}
	names, all := rules.Names()
	judge := governor.NewJudge(fs, rules, os.Getpid())
	if uid := os.Geteuid(); uid != 0 {
		judge.Only(uint32(uid))
	}
	w := &watch{
		options: loader.Options{Want: config.Source, FS: fs, Names: names, All: all, Log: log}, nameless: rules.Nameless(),
		cgroups: tier.cgroups, tracer: contain.NewTracer(contain.Options{FS: fs, Log: log, Priority: tier.status.Catch}),
		judge: judge, can: tier.status.Catch, record: ledger.Add, log: log,
	}
	w.catch.Store(w.can && enforced(config))
	if err := w.open(); err != nil {
		return nil, errors.Join(err, tier.backend.Close())
	}
	notes := note.New(fs, note.Mode(config.Notes))
	beside := &besides{root: "/"}
	guards := beside.list(criticalNow(config, memory))
	stalls := make(chan struct{}, 1)
	exe, _ := fs.Exe(os.Getpid()) // unknown is known by its pid alone
	gov := governor.New(governor.Options{
		Version: buildVersion(), Config: config, Rules: rules, FS: fs, Memory: memory, Ledger: ledger,
		Sight: w, Backend: tier.backend, Contain: tier.status, Machine: places.machine, UID: uint32(os.Getuid()), Log: log,
		Alive: func() { notify(log, daemon.SdNotifyWatchdog) },
		Notes: notes, PeakFile: places.peaks, HeldFile: places.held, Judge: judge,
		KeepHeld: lookedAfter(), Guards: beside.list, Beside: besidesWords(guards),
		Containers: boxes(places, log),
		Trees:      contain.Trees{FS: fs}, Exe: exe, Cgroups: tier.cgroups, Stalls: stalls,
	})
	w.found = gov.Found
	reload := &reloader{flags: flags, places: places, gov: gov, judge: judge, watch: w, notes: notes,
		was: config, record: ledger.Add, log: log}
	server := control.NewServer(places.socket, gov, ledger, log)
	server.Serves(hand{gov, reload})
	listener, err := server.Listen()
	if err != nil {
		return nil, errors.Join(err, w.source.Close(), tier.backend.Close())
	}
	return &daemonParts{
		watch: w, backend: tier.backend, soft: tier.soft, journal: ledger, gov: gov, log: log,
		control: server, listener: listener, reload: reload, notes: notes, stalls: stalls,
		banner: func() string { return banner(config, w.Status(), tier.status, memory, places, guards) },
	}, nil
}

// run runs all parts until ctx ends or one of them fails, and ends them in
// order: the loop lets go what it holds while the tracer still works, the
// journal is closed last.
func (d *daemonParts) run(ctx context.Context) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var tracing, rest sync.WaitGroup
	traceCtx, stopTracing := context.WithCancel(context.WithoutCancel(ctx))
	journalCtx, stopJournal := context.WithCancel(context.WithoutCancel(ctx))
	defer stopTracing()
	defer stopJournal()

	ended := func(what string, err error) {
		if err != nil {
			fail(fmt.Errorf("%s: %w", what, err))
		}
	}
	rest.Go(func() { ended("journal", d.journal.Run(journalCtx)) })
	// As long as the loop: a job must not be without its cap while that ends.
	tracing.Go(func() { ended("soft caps", d.soft.Run(traceCtx)) })
	tracing.Go(func() { ended("source", d.watch.run(traceCtx)) })
	var serving sync.WaitGroup
	serving.Go(func() { ended("control", d.control.Serve(ctx, d.listener)) })
	serving.Go(func() { d.reload.onHangup(ctx) })
	serving.Go(func() { awaitStalls(ctx, d.stalls, d.log) })

	if interactive() {
		fmt.Fprint(os.Stderr, d.banner())
	}
	notify(d.log, daemon.SdNotifyReady)
	err := d.gov.Run(ctx)
	notify(d.log, daemon.SdNotifyStopping)
	stopTracing()
	tracing.Wait()
	serving.Wait()
	err = errors.Join(err, d.backend.Close())
	stopJournal()
	rest.Wait()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return errors.Join(cause, err)
	}
	return err
}

func notify(log *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Debug("tell systemd", "state", state, "err", err)
	}
}

// lookedAfter reports whether a service manager lets go what is held when this
// process ends (ExecStopPost=), or keeps it for the next.
func lookedAfter() bool { return !interactive() }

// interactive reports whether a person started this rather than the unit.
func interactive() bool { return os.Getenv("NOTIFY_SOCKET") == "" }

// stayResident keeps the daemon's pages in memory: a guard that has to be
// swapped in acts late. ONFAULT locks what is used and not what is mapped,
// which for a Go program is 42-67 MB. A small heap is worth a few collections.
func stayResident(log *slog.Logger) {
	debug.SetGCPercent(50)
	if os.Geteuid() != 0 {
		return
	}
	if err := unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE | unix.MCL_ONFAULT); err != nil {
		log.Warn("lock pages in memory", "err", err)
	}
}
