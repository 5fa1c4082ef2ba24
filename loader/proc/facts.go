package proc

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// ReadFacts fills the third group of x, and x.ID.Start. If that was set and is
// another process's, or the process has ended: ErrGone. Secure is false, Cwd
// and Cgroup are "" where they may not be read, LoginUID is NoLoginUID where
// the kernel has none.
//
// All files are opened below one descriptor of /proc/PID, so they are of one
// process even if the pid passes to another meanwhile: then they answer ESRCH.
func (fs FS) ReadFacts(x *Exec) error {
	path := fs.path(x.ID.PID, "")
	dir, err := open(unix.AT_FDCWD, path, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return gone(fmt.Errorf("open %s: %w", path, err))
	}
	defer unix.Close(dir)

	s, err := readStat(dir, "stat")
	if err != nil {
		return err
	}
	switch {
	case s.State == 'Z' || s.State == 'X':
		return fmt.Errorf("%w (pid %d is a zombie)", ErrGone, x.ID.PID)
	case x.ID.Start != 0 && x.ID.Start != s.ID.Start:
		return fmt.Errorf("%w (pid %d is another process's, started at %d)", ErrGone, x.ID.PID, s.ID.Start)
	}
	facts := Exec{LoginUID: NoLoginUID}
	err = withFile(dir, "status", smallFile, func(text []byte) (err error) {
		facts.UID, facts.EUID, err = parseUIDs(text)
		return err
	})
	if err != nil {
		return gone(err)
	}
	for _, f := range []struct {
		name  string
		parse func([]byte)
	}{
		{"loginuid", func(text []byte) { facts.LoginUID = parseLoginUID(text) }},
		{"auxv", func(text []byte) { facts.Secure = parseSecure(text) }},
		{"cgroup", func(text []byte) { facts.Cgroup = parseCgroup(text) }},
	} {
		err := withFile(dir, f.name, smallFile, func(text []byte) error { f.parse(text); return nil })
		if err := optional(dir, err); err != nil {
			return err
		}
	}
	facts.Cwd, err = readLink(dir, "cwd")
	if err := optional(dir, err); err != nil {
		return err
	}

	x.ID.Start = s.ID.Start
	x.PPID, x.PGID, x.SID, x.TTY, x.Threads = s.PPID, s.PGID, s.SID, s.TTY, s.Threads
	x.UID, x.EUID, x.LoginUID, x.Secure = facts.UID, facts.EUID, facts.LoginUID, facts.Secure
	x.Cwd, x.Cgroup = facts.Cwd, facts.Cgroup
	return nil
}

// optional forgives what the reader may not read, and a file that this kernel
// does not have (loginuid without audit, cgroup without cgroups): that the
// process itself is there still, stat says.
func optional(dir int, err error) error {
	if err == nil || denied(err) {
		return nil
	}
	if !errors.Is(gone(err), ErrGone) {
		return err
	}
	if _, gone := readStat(dir, "stat"); gone != nil {
		return gone
	}
	return nil
}
