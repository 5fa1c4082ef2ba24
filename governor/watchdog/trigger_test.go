//go:build linux

package watchdog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestOpenTriggerWithout(t *testing.T) {
	if _, err := OpenTrigger(filepath.Join(t.TempDir(), "memory")); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("no file: got %v, want it to be unsupported", err)
	}
	if _, err := OpenTrigger(t.TempDir()); err == nil || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a directory: got %v, want another error", err)
	}
}

// TestTrigger ends with its context whether or not there was a word. A kernel
// without PSI, or a user who gets none, is an answer.
func TestTrigger(t *testing.T) {
	tr, err := OpenTrigger(MachinePressure)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Logf("here: %v", err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- tr.Run(ctx, make(chan struct{}, 1)) }()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(MachinePressure); err != nil {
		t.Error(err)
	}
}

func TestCgroupPressure(t *testing.T) {
	if got, want := CgroupPressure("/sys/fs/cgroup", "/system.slice/ssh.service"), "/sys/fs/cgroup/system.slice/ssh.service/memory.pressure"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
