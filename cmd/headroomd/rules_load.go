package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/journal"
)

// rulesDir is where the owner's files of rules lie.
func (p places) rulesDir() string { return filepath.Join(filepath.Dir(p.config), "rules.d") }

// loadRules gives the rules in force at p with the patterns of the settings.
// The set can always be used: what is wrong with the owner's files is in the
// errors, and such a file is left out.
func loadRules(p places, c governor.Config) (*classifier.Set, []error) {
	return loadRulesFrom(p.rulesDir(), trustOf(p), c)
}

func loadRulesFrom(dir string, t trust, c governor.Config) (*classifier.Set, []error) {
	files, faults := readRuleFiles(dir, t)
	set, wrong := classifier.New(classifier.Options{Files: files, ExtraHeavy: c.ExtraHeavyPatterns, Exclude: c.ExcludePatterns})
	return set, append(faults, wrong...)
}

// maxFaultsTold is how many faults a governor logs; "rules check" tells all.
const maxFaultsTold = 20

// reportFaults logs and journals what of the owner's rules is not in force: a
// mistake in a file of rules must not leave the machine unguarded.
func reportFaults(faults []error, log *slog.Logger, record func(journal.Record)) {
	tell := func(reason string) {
		log.Warn("mistake in the rules", "err", reason)
		record(journal.Record{Event: journal.Rules, Reason: "mistake in the rules: " + reason})
	}
	for i, err := range faults {
		if i == maxFaultsTold {
			tell(fmt.Sprintf("%d more; headroomd rules check tells all", len(faults)-i))
			return
		}
		tell(journal.Escape(err.Error(), 500))
	}
}

// trust says whose files are believed: rules decide what is moved and capped,
// and what is left alone.
type trust struct {
	anybody bool // files that were named by hand
	uid     int  // root's and this user's
	group   bool // the owner's group may write: its members are one user's most often
}

// trustOf: to the machine's governor root's word counts, and to a user's
// that user's.
func trustOf(p places) trust {
	if p.machine {
		return trust{}
	}
	return trust{uid: os.Geteuid(), group: true}
}

// check refuses what others could have written.
func (t trust) check(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if t.anybody || !ok {
		return nil
	}
	others := os.FileMode(0o002)
	if !t.group && st.Gid != 0 {
		others |= 0o020
	}
	switch {
	case st.Uid != 0 && int(st.Uid) != t.uid:
		return fmt.Errorf("%s belongs to uid %d, whose rules do not count here: chown it to %s", path, st.Uid, t.owner())
	case info.Mode().Perm()&others != 0:
		return fmt.Errorf("%s may be written to by others (mode %04o): chmod go-w it", path, info.Mode().Perm())
	}
	return nil
}

func (t trust) owner() string {
	if t.uid == 0 {
		return "root"
	}
	return fmt.Sprintf("uid %d", t.uid)
}

// maxRuleFiles is how many files are read: enough for a file a program.
const maxRuleFiles = 256

// readRuleFiles reads the files *.toml of a directory, which may be missing, in
// the order of their names. Hidden ones are what editors leave behind.
func readRuleFiles(dir string, t trust) (files []classifier.File, faults []error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && info.IsDir() {
		err = t.check(dir, info)
	}
	if err != nil {
		return nil, []error{fmt.Errorf("read the rules of %s: %w", dir, plainCause(err))}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, []error{fmt.Errorf("read the rules of %s: %w", dir, plainCause(err))}
	}
	n := 0
	for _, entry := range entries {
		name := entry.Name()
		if filepath.Ext(name) != ".toml" || strings.HasPrefix(name, ".") {
			continue
		}
		if n++; n > maxRuleFiles {
			faults = append(faults, fmt.Errorf("%s has more than %d files: %s and what follows is left out", dir, maxRuleFiles, name))
			break
		}
		file, err := readRuleFile(filepath.Join(dir, name), t)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		files = append(files, file)
	}
	return files, faults
}

// readRuleFile reads one file. It does not open what is no ordinary one: a FIFO
// would be waited on, and a device may act at the opening alone.
func readRuleFile(path string, t trust) (classifier.File, error) {
	fault := func(err error) (classifier.File, error) {
		return classifier.File{}, &classifier.FileError{File: path, Err: plainCause(err)}
	}
	info, err := os.Stat(path)
	if err != nil {
		return fault(err)
	}
	if !info.Mode().IsRegular() {
		return fault(fmt.Errorf("%s, not an ordinary file", kindOfFile(info.Mode())))
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fault(err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return fault(err)
	}
	if !info.Mode().IsRegular() {
		return fault(fmt.Errorf("%s, not an ordinary file", kindOfFile(info.Mode())))
	}
	if err := t.check("the file", info); err != nil {
		return fault(err)
	}
	// One byte more than is allowed: the classifier says that it is too large.
	data, err := io.ReadAll(io.LimitReader(f, classifier.MaxFileBytes+1))
	if err != nil {
		return fault(err)
	}
	return classifier.File{Name: path, Data: data}, nil
}

// plainCause takes off the path that the os package puts before an error:
// ours stands before it already.
func plainCause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

func kindOfFile(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}
