package proc

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// maxCmdline bounds an argv, in bytes: a linker's may have some 100 KB; the
// kernel allows 6 MB, of which the end says nothing about what is run.
const maxCmdline = 128 << 10

// Perf tells of an exec some microseconds before the kernel has set up the new
// argv, which reads as empty until then, and polling may look at that moment.
// (BPF's tracepoint comes after.) 20 looks, 50 µs apart, outlast it unless the
// process waits for a CPU. A system call sleeps here, and not the runtime: the
// caller may be a thread with a priority of its own.
const (
	unfinishedLooks = 20
	unfinishedPause = 50 * time.Microsecond
)

// ReadCommand fills x.Argv and x.Exe. Argv is the comm where the process shows
// no argv, in brackets if it is a kernel thread. ErrGone if the process has ended, even while its parent has not
// waited for it.
func (fs FS) ReadCommand(x *Exec) error {
	pid := x.ID.PID
	exe, noExe := fs.Exe(pid)
	if noExe != nil && !errors.Is(noExe, ErrGone) {
		return noExe
	}
	argv, err := fs.Cmdline(pid)
	for look := 0; err == nil && len(argv) == 0 && noExe == nil && x.Source != "bpf" && look < unfinishedLooks; look++ {
		pause := unix.NsecToTimespec(unfinishedPause.Nanoseconds())
		unix.Nanosleep(&pause, nil)
		argv, err = fs.Cmdline(pid)
	}
	if err != nil {
		return err
	}
	if len(argv) == 0 {
		// A kernel thread has no binary and no argv, a zombie has them no more.
		s, err := fs.Stat(pid)
		if err != nil {
			return err
		}
		if s.State == 'Z' || s.State == 'X' {
			return fmt.Errorf("%w (pid %d is a zombie)", ErrGone, pid)
		}
		argv = []string{s.Comm}
		if noExe != nil {
			argv[0] = "[" + s.Comm + "]"
		}
	}
	x.Argv, x.Exe = argv, exe
	return nil
}

// Cmdline is the argv as the process shows it, at most 128 KB of it; nil if it
// shows none. A process may have written anything over it.
func (fs FS) Cmdline(pid int) ([]string, error) {
	var argv []string
	err := withFile(unix.AT_FDCWD, fs.path(pid, "cmdline"), maxCmdline, func(text []byte) error {
		argv = parseCmdline(text)
		return nil
	})
	return argv, gone(err)
}

// Exe is the resolved path of the binary, also where it was replaced or
// removed meanwhile; "" where it may not be read. A kernel thread and a zombie
// have none: ErrGone.
func (fs FS) Exe(pid int) (string, error) {
	path, err := readLink(unix.AT_FDCWD, fs.path(pid, "exe"))
	return strings.TrimSuffix(path, " (deleted)"), gone(err)
}

// maxEnviron bounds an environment, in bytes: what one exec may pass on Linux
// with the usual stack limit of 8 MB is 2 MB, argv included.
const maxEnviron = 2 << 20

// Environ looks a variable up in the environment that the process was started
// with. An error wraps unix.EACCES where another user's may not be read: then
// it is unknown, not absent.
func (fs FS) Environ(pid int, key string) (value string, ok bool, err error) {
	err = withFile(unix.AT_FDCWD, fs.path(pid, "environ"), maxEnviron, func(text []byte) error {
		value, ok = findVariable(text, key)
		return nil
	})
	return value, ok, gone(err)
}

// findVariable looks for the first "key=value", as getenv does.
func findVariable(environ []byte, key string) (string, bool) {
	for len(environ) > 0 {
		var variable []byte
		variable, environ, _ = bytes.Cut(environ, []byte{0})
		if len(variable) > len(key) && variable[len(key)] == '=' && string(variable[:len(key)]) == key {
			return string(variable[len(key)+1:]), true
		}
	}
	return "", false
}
