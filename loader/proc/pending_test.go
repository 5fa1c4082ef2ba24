package proc

import (
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestSignals(t *testing.T) {
	tests := []struct {
		name     string
		status   string
		want     Signals
		stopping bool
		nohup    bool
		bad      bool
	}{
		{"nothing", "SigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nSigCgt:\t0000000000000000\n",
			Signals{}, false, false, false},
		{"Ctrl-Z waits", "SigPnd:\t0000000000000000\nShdPnd:\t0000000000080000\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001000\nSigCgt:\t0000000000000002\n",
			Signals{Pending: SetOf(unix.SIGTSTP), Ignored: SetOf(unix.SIGPIPE), Caught: SetOf(unix.SIGINT)}, true, false, false},
		{"for the thread", "SigPnd:\t0000000000040000\nShdPnd:\t0000000000000001\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nSigCgt:\t0000000000000000\n",
			Signals{Pending: SetOf(unix.SIGSTOP, unix.SIGHUP)}, true, false, false},
		{"nohup", "SigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\nSigBlk:\t0000000000000004\nSigIgn:\t0000000000000001\nSigCgt:\t0000000000000000\n",
			Signals{Blocked: SetOf(unix.SIGQUIT), Ignored: SetOf(unix.SIGHUP)}, false, true, false},
		{"ignored and blocked, so it stays pending", "SigPnd:\t0000000000000000\nShdPnd:\t0000000000080000\nSigBlk:\t0000000000080000\nSigIgn:\t0000000000080000\nSigCgt:\t0000000000000000\n",
			Signals{Pending: SetOf(unix.SIGTSTP), Blocked: SetOf(unix.SIGTSTP), Ignored: SetOf(unix.SIGTSTP)}, false, false, false},
		{"no sets", "Name:\tx\n", Signals{}, false, false, true},
		{"not hexadecimal", "SigPnd:\tx\n", Signals{}, false, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			f.write("7/status", tt.status)
			got, err := f.Signals(7)
			if got != tt.want || (err != nil) != tt.bad || got.Stopping() != tt.stopping || got.HangupIgnored() != tt.nohup {
				t.Errorf("got %+v, %v, stopping %v, nohup %v, want %+v", got, err, got.Stopping(), got.HangupIgnored(), tt.want)
			}
		})
	}
	if _, err := newFake(t).Signals(7); !errors.Is(err, ErrGone) {
		t.Errorf("a process that is gone: %v", err)
	}
	if SetOf(unix.SIGHUP).Has(0) || SetOf(unix.SIGHUP).Has(65) || !SetOf(64).Has(64) {
		t.Error("a signal that is none is in a set, or the last is not")
	}
}

func TestSignalsNative(t *testing.T) {
	c := exec.Command("sh", "-c", `trap '' HUP TSTP; echo ready; exec sleep 60`)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	var fs FS
	s, err := fs.Signals(c.Process.Pid)
	if err != nil || !s.HangupIgnored() || !s.Ignored.Has(unix.SIGTSTP) || s.Ignored.Has(unix.SIGTERM) || s.Stopping() {
		t.Errorf("%+v, %v", s, err)
	}
	// This process has Go's handlers.
	if s, err := fs.Signals(os.Getpid()); err != nil || !s.Caught.Has(unix.SIGTERM) {
		t.Errorf("of this process: %+v, %v", s, err)
	}
	// A stop that is delivered at once is not seen waiting, but in the state.
	if err := c.Process.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if st, err := fs.Stat(c.Process.Pid); err != nil || st.State == 'T' {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if s, err := fs.Signals(c.Process.Pid); err != nil || s.Stopping() {
		t.Errorf("stopped: %+v, %v", s, err)
	}
}
