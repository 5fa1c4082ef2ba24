package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/control"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/loader/proc"
)

const (
	// successorTime is what a restarted governor has to take over what the
	// former one held.
	successorTime = 15 * time.Second

	// askTime bounds each question to systemd and to a governor: the unit's
	// TimeoutStopSec= is 20 s.
	askTime = 4 * time.Second
)

func newReleaseCommand() *cobra.Command {
	var (
		flags releaseFlags
		r     = release{uid: os.Geteuid()}
	)
	cmd := &cobra.Command{
		Use:    "release",
		Short:  "Let all held commands go",
		Hidden: true,
		Long: `Let all held commands go: thaw every frozen scope of a job, of the whole
machine as root, else of this user's own service manager. The service runs
this when the governor ends, so that nothing is left standing. By hand, beside
a governor that works, it starts at once all that waits.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r.out = cmd.OutOrStdout()
			if flags.guard {
				// What ends the governor may be sent to its session or its unit as
				// a whole; the guard has to outlive it.
				signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM)
			}
			return r.run(cmd.Context(), flags)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.afterStop, "after-stop", "", "the service `UNIT` has just ended: keep what is held if it is being started again")
	f.BoolVar(&flags.unlessRunning, "unless-running", false, "do nothing if a governor answers")
	f.BoolVar(&flags.guard, "guard", false, "wait until the standard input ends, which is when the governor did")
	cmd.MarkFlagsMutuallyExclusive("after-stop", "unless-running", "guard")
	return cmd
}

type releaseFlags struct {
	afterStop            string
	unlessRunning, guard bool
}

// ending is the governor's unit while it comes down.
type ending interface {
	Ending(ctx context.Context, result string) (contain.Ending, error)
	Later(ctx context.Context, after time.Duration, argv []string) (timer string, err error)
	Close() error
}

// release lets go what a governor held. The zero value of what is a function
// is the running machine.
type release struct {
	uid    int
	root   string // of the cgroup hierarchy; "" = the one mounted
	boxes  string // file of what containers had; "" = the governor's
	out    io.Writer
	in     io.Reader                                              // nil = standard input
	open   func(ctx context.Context, unit string) (ending, error) // nil = the service manager
	answer func(ctx context.Context) error                        // nil = ask the governor's socket
}

func (r release) run(ctx context.Context, flags releaseFlags) error {
	switch {
	case flags.guard:
		if r.in == nil {
			r.in = os.Stdin
		}
		if !contain.AwaitDeath(r.in) {
			return nil
		}
	case flags.unlessRunning:
		if err := r.running(ctx); err == nil {
			return nil
		}
	}
	boxes := r.restoreBoxes()
	dir, err := r.tree()
	if dir == "" {
		return errors.Join(boxes, err)
	}
	if flags.afterStop != "" && r.keep(ctx, flags.afterStop, dir) {
		return boxes
	}
	thawed, err := contain.ThawAll(dir)
	for _, p := range thawed {
		fmt.Fprintf(r.out, "let go: %s\n", journal.Escape(filepath.Base(p), 200))
	}
	if err != nil {
		err = fmt.Errorf("let held commands go: %s; echo 0 to the cgroup.freeze of each lets it go by hand", journal.Escape(err.Error(), 1000))
	}
	return errors.Join(boxes, err)
}

// restoreBoxes gives containers back the limits that they had before the
// governor lowered them: a next one would have to lower them anew in any case.
func (r release) restoreBoxes() error {
	if r.boxes == "" {
		r.boxes = placesOf(r.uid == 0).boxes
	}
	if r.root == "" {
		root, err := contain.FindCgroupRoot("/proc/self/mountinfo")
		if err != nil {
			return nil // tree says what is wrong
		}
		r.root = root
	}
	restored, err := contain.RestoreContainers(r.root, r.boxes)
	for _, p := range restored {
		fmt.Fprintf(r.out, "its limits are what they were: %s\n", journal.Escape(p, 200))
	}
	if err != nil {
		return fmt.Errorf("limits of containers: %s; %s says what they were", journal.Escape(err.Error(), 1000), r.boxes)
	}
	return nil
}

// tree is the part of the hierarchy that is this user's to thaw; "" where
// there is none, in which nothing can be frozen.
func (r release) tree() (string, error) {
	if r.root == "" {
		root, err := contain.FindCgroupRoot("/proc/self/mountinfo")
		if errors.Is(err, errors.ErrUnsupported) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		r.root = root
	}
	dir := contain.OwnTree(r.root, r.uid)
	if own, err := proc.NewFS("/proc").Cgroup(os.Getpid()); err == nil && r.uid != 0 {
		dir = cmp.Or(contain.DelegatedTree(r.root, own), dir)
	}
	if _, err := os.Stat(dir); err != nil {
		if os.IsNotExist(err) {
			err = nil
		}
		return "", err
	}
	return dir, nil
}

// running is nil if a governor answers.
func (r release) running(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if r.answer != nil {
		return r.answer(ctx)
	}
	c, err := control.Dial(placesOf(r.uid == 0).socket)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Status(ctx)
	return err
}

// keep leaves what is held to the next governor if one is about to start, with
// a timer that lets it go if that one does not take over. In doubt it keeps
// nothing.
func (r release) keep(ctx context.Context, unit, dir string) bool {
	held, err := contain.FrozenScopes(dir)
	if len(held) == 0 || err != nil {
		return false
	}
	why, err := r.await(ctx, unit)
	if err != nil {
		fmt.Fprintf(r.out, "not kept: %s\n", journal.Escape(err.Error(), 400))
		return false
	}
	fmt.Fprintf(r.out, "%s: %d held for the next governor\n", why, len(held))
	return true
}

func (r release) await(ctx context.Context, unit string) (why string, err error) {
	open := r.open
	if open == nil {
		open = func(ctx context.Context, unit string) (ending, error) {
			return contain.OpenOwnUnit(ctx, unit, r.uid)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*askTime)
	defer cancel()
	u, err := open(ctx, unit)
	if err != nil {
		return "", err
	}
	defer u.Close()
	e, err := u.Ending(ctx, os.Getenv("SERVICE_RESULT"))
	if err != nil {
		return "", err
	}
	coming, why := e.Successor()
	if !coming {
		return "", errors.New(why)
	}
	timer, err := u.Later(ctx, successorTime, []string{exe, "release", "--unless-running"})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s; %s lets go in %d s if it is not back", why, timer, int(successorTime.Seconds())), nil
}
