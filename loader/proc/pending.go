package proc

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// SignalSet has a bit for each signal, the first for signal 1.
type SignalSet uint64

// SetOf is the set of the given signals.
func SetOf(signals ...unix.Signal) SignalSet {
	var s SignalSet
	for _, sig := range signals {
		s |= 1 << (sig - 1)
	}
	return s
}

// Has reports whether the signal is in the set.
func (s SignalSet) Has(sig unix.Signal) bool {
	return sig >= 1 && sig <= 64 && s&(1<<(sig-1)) != 0
}

// StopSignals are what job control stops a process with.
var StopSignals = SetOf(unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU)

// Signals is what becomes of the signals of a process, from /proc/PID/status.
type Signals struct {
	Pending SignalSet // for the process or its first thread, not delivered yet
	Blocked SignalSet // by the first thread
	Ignored SignalSet
	Caught  SignalSet
}

// Stopping reports whether a stop signal waits that will stop the process when
// it is delivered. A frozen process does not take signals (but those that end
// it), so Ctrl-Z shows as one; a shell waits for the stop.
func (s Signals) Stopping() bool {
	return s.Pending&^s.Ignored&StopSignals != 0
}

// HangupIgnored reports whether the process outlives its terminal, as nohup
// makes it. Shells that disown a job leave no such trace.
func (s Signals) HangupIgnored() bool { return s.Ignored.Has(unix.SIGHUP) }

// Signals reads the sets. A zombie has them, too.
func (fs FS) Signals(pid int) (Signals, error) {
	var s Signals
	err := withFile(unix.AT_FDCWD, fs.path(pid, "status"), smallFile, func(text []byte) (err error) {
		s, err = parseSignals(text)
		return err
	})
	return s, gone(err)
}

func parseSignals(status []byte) (Signals, error) {
	var s Signals
	for _, set := range []struct {
		name string
		to   *SignalSet
	}{
		{"SigPnd", &s.Pending}, // of the thread
		{"ShdPnd", &s.Pending}, // of the process
		{"SigBlk", &s.Blocked},
		{"SigIgn", &s.Ignored},
		{"SigCgt", &s.Caught},
	} {
		rest, ok := line(status, set.name)
		if !ok {
			return Signals{}, fmt.Errorf("no %s in status", set.name)
		}
		f, _ := field(rest)
		n, err := strconv.ParseUint(string(f), 16, 64)
		if err != nil {
			return Signals{}, fmt.Errorf("not a set of signals in status: %q", clip(f))
		}
		*set.to |= SignalSet(n)
	}
	return s, nil
}
