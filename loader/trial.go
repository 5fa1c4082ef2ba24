package loader

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// initialPIDNamespace is the inode of the namespace that the kernel starts
// with, PROC_PID_INIT_INO, the same since Linux 3.8.
const initialPIDNamespace = "pid:[4026531836]"

// trialProgram is run once to see whether a source reports it: it ends by
// itself, touches nothing and is everywhere.
const trialProgram = "true"

// Bounds of a trial. The program's exec is over when it has been waited for, so
// the report must be there then: no clock decides on a slow machine. Perf hands
// its record to the waiter through an interrupt: hence the grace.
const (
	trialRuns  = 10 * time.Second
	trialGrace = 500 * time.Millisecond
)

// trial runs a program of our own and looks for its pid in what the source
// reports. That shows at once that execs arrive and that pids mean here what
// they mean in the kernel: inside a pid namespace they do not, and every act on
// one would fail or hit a stranger. What else is reported is passed over.
func trial(s Source, fs proc.FS) error {
	path, err := exec.LookPath(trialProgram)
	if err != nil {
		return trialWithout(fs)
	}
	ctx, cancel := context.WithTimeout(context.Background(), trialRuns)
	defer cancel()
	program := exec.CommandContext(ctx, path)
	program.Env = []string{}
	program.Dir = "/"
	if err := program.Start(); err != nil {
		return trialWithout(fs)
	}
	pid := program.Process.Pid
	_ = program.Wait() // how it ended does not matter: it was executed

	comm := filepath.Base(path)
	var found bool
	var foreign int
	for deadline := time.Now().Add(trialGrace); ; time.Sleep(time.Millisecond) {
		err := s.Read(func(x *proc.Exec) {
			switch {
			case x.ID.PID == pid:
				found = true
			case x.Comm == comm:
				foreign = x.ID.PID
			}
		})
		switch {
		case err != nil:
			return fmt.Errorf("read the trial's report: %w", err)
		case found:
			return nil
		case time.Now().After(deadline):
			return notReported(s, fs, pid, foreign)
		}
	}
}

func notReported(s Source, fs proc.FS, pid, foreign int) error {
	if foreign != 0 {
		return &missing{what: fmt.Sprintf("this is a pid namespace: the kernel tells of pids of another (a program started here as %d was reported as %d)", pid, foreign)}
	}
	if err := trialWithout(fs); err != nil {
		return err
	}
	c := s.Counters()
	return fmt.Errorf("a program started here (pid %d) was not reported (seen %d, reported %d, lost %d)", pid, c.Seen, c.Reported, c.Lost)
}

// trialWithout judges by the namespace's name where no program can be run.
func trialWithout(fs proc.FS) error {
	namespace, err := os.Readlink(fs.Root() + "/self/ns/pid")
	if errors.Is(err, os.ErrNotExist) {
		return nil // a kernel without pid namespaces
	}
	if err != nil {
		return fmt.Errorf("find the pid namespace: %w", err)
	}
	if namespace != initialPIDNamespace {
		return &missing{what: fmt.Sprintf("this is a pid namespace (%s): the kernel tells of pids of another", namespace)}
	}
	return nil
}
