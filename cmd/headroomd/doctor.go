package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/doctor"
	"github.com/headroomd/headroomd/loader"
	"github.com/headroomd/headroomd/loader/proc"
)

type doctorFlags struct {
	json, fix, yes bool
	socket, config string
	root           string // for tests: another machine's files
	uid            int
}

func newDoctorCommand() *cobra.Command {
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine lacks to be guarded, and the exact remedy",
		Long: `Say what this machine lacks to be guarded, what follows from it, and the exact
remedy: one check a line, for the user who asks.

  ok       as it should be
  warn     it works, less well than it could
  fail     something that the guard rests on is missing or broken
  unknown  it could not be learned
  n/a      it says nothing about this machine or this user

--json gives an array of objects with name, state (as above; n/a is spelled
not-applicable), found, and where there is something to do means, remedy,
commands (to be typed in this order) and fix (the edit that --fix makes: path,
kind, add, remove, after).

--fix makes the edits of the kernel's words that the checks name, in cmdline.txt
or /etc/default/grub: it shows them, asks (or takes --yes for the answer), keeps
the file as it was beside it as FILE.headroom-backup-DATE, and says what is left
to do. It changes nothing else and never reboots.

The exit status is 0 if nothing fails, 1 if a check fails.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.yes && !f.fix {
				return usagef("doctor: --yes goes with --fix")
			}
			if f.fix && f.json {
				return usagef("doctor: either --json or --fix")
			}
			return runDoctor(cmd, f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "the checks as a JSON array")
	flags.BoolVar(&f.fix, "fix", false, "make the edits of the kernel's words that the checks name")
	flags.BoolVar(&f.yes, "yes", false, "with --fix: do not ask")
	flags.StringVar(&f.config, "config", "", "check the settings in `FILE`")
	socketFlag(cmd, &f.socket)
	// Another machine's files, with nobody asked and nothing tried: the tests
	// show how each kind of machine is answered.
	flags.StringVar(&f.root, "root", "", "look at the files below `DIR` alone")
	flags.IntVar(&f.uid, "uid", 0, "with --root: whom the answers are for")
	_ = flags.MarkHidden("root")
	_ = flags.MarkHidden("uid")
	return cmd
}

func runDoctor(cmd *cobra.Command, f doctorFlags) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), 2*askFor)
	defer cancel()
	options := f.otherMachine()
	if f.root == "" {
		options = f.thisMachine(ctx)
	}
	checks := doctor.Examine(options)
	w := cmd.OutOrStdout()
	if f.json {
		if err := writeChecks(w, checks); err != nil {
			return err
		}
	} else {
		printChecks(w, checks)
	}
	if f.fix {
		return fixMachine(cmd, f, checks)
	}
	if doctor.Failed(checks) {
		return errSaid
	}
	return nil
}

func writeChecks(w io.Writer, checks []doctor.Check) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(checks); err != nil {
		return fmt.Errorf("write the checks: %w", err)
	}
	return nil
}

// otherMachine looks at files below a directory and asks nobody.
func (f doctorFlags) otherMachine() doctor.Options {
	o := doctor.Options{Root: f.root, UID: f.uid}
	if f.uid != 0 {
		o.User = "pi"
	}
	o.Limits = limitsFor(governor.Default(), f.root)
	return o
}

// thisMachine asks and tries what files do not tell.
func (f doctorFlags) thisMachine(ctx context.Context) doctor.Options {
	o := doctor.Options{Root: "/", UID: os.Geteuid(), Systemd: systemdVersion(ctx)}
	if u, err := user.LookupId(strconv.Itoa(o.UID)); err == nil {
		o.User = u.Username
	}
	o.Sources = trySources()
	o.Governor = f.askGovernor(ctx)

	p := placesInForce(f.socket)
	path := p.config
	if f.config != "" {
		path = f.config
	}
	config, err := governor.Load(path)
	o.Settings = doctor.File{Path: path, Found: true}
	switch {
	case f.config == "" && errors.Is(err, fs.ErrNotExist):
		o.Settings.Found, config = false, governor.Default()
	case err != nil:
		o.Settings.Faults = faultsOf(err)
	}
	o.Limits = limitsFor(config, "/")
	_, faults := loadRules(p, config)
	_, statErr := os.Stat(p.rulesDir())
	o.Rules = doctor.File{Path: p.rulesDir(), Found: statErr == nil, Faults: faults}
	return o
}

// faultsOf are the errors that were joined.
func faultsOf(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// limitsFor resolves settings against the memory below root.
func limitsFor(c governor.Config, root string) *doctor.Limits {
	m := governor.MachineOf(readMemory(root))
	if m.TotalMB < 0 {
		return nil
	}
	l := c.Resolve(m)
	return &doctor.Limits{ReserveMB: l.ReserveMB, MinStartMB: l.MinStartMB, CriticalMB: l.CriticalMB}
}

// trySources opens each source once: only an opening tells whether the kernel
// lets it. Those of a running governor are not touched by it.
func trySources() []doctor.Attempt {
	var all []doctor.Attempt
	for _, name := range []string{"bpf", "perf", "poll"} {
		source, choice, err := loader.Open(loader.Options{Want: name, FS: proc.NewFS("/proc")})
		if err == nil {
			source.Close()
		} else if n := len(choice.Tried); n > 0 {
			err = choice.Tried[n-1].Err
		}
		all = append(all, doctor.Attempt{Name: name, Err: err})
	}
	return all
}

// systemdVersion asks systemctl, which says more than the number in a file's
// name: "systemd 252 (252.39-1~deb12u1)".
func systemdVersion(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "systemctl", "--version")
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return parseSystemctl(string(out))
}

// parseSystemctl takes the exact version of the brackets where it is one of the
// number before them: Fedora has "255.4-1.fc40" there, openSUSE a commit.
func parseSystemctl(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	_, exact, _ := strings.Cut(line, "(")
	words := strings.Fields(line)
	switch {
	case len(words) < 2 || words[0] != "systemd":
		return ""
	case strings.HasPrefix(exact, words[1]+"."):
		return strings.TrimSuffix(exact, ")")
	}
	return words[1]
}

func (f doctorFlags) askGovernor(ctx context.Context) doctor.Governor {
	g := doctor.Governor{Asked: true, Socket: f.socket}
	s, err := askStatus(ctx, f.socket)
	if err != nil {
		g.Err = err
		return g
	}
	g.Machine, g.Mode = s.Scope == "machine", s.Mode
	g.Source, g.Why, g.Contain = s.Source.Name, s.Source.Why, s.Contain.Name
	if s.Contain.Name == "none" || !s.Contain.MemoryController {
		g.NoCaps = cmp.Or(s.Contain.Why, "it has nowhere to put jobs")
	}
	return g
}
