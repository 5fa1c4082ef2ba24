package main

import (
	"os"
	"testing"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/watchdog"
	"github.com/headroomd/headroomd/loader/proc"
)

func TestReadMemoryUnknown(t *testing.T) {
	for _, root := range []string{t.TempDir(), "/nonexistent"} {
		r := readMemory(root)
		if r.MemTotal != watchdog.Unknown || r.MemAvailable != watchdog.Unknown || r.SwapFree != watchdog.Unknown {
			t.Errorf("%s: %+v, want all unknown", root, r)
		}
		if s := governor.MemoryOf(r); s.TotalMB != -1 || s.AvailableMB != -1 || s.PSISome10 != -1 {
			t.Errorf("%s: shown as %+v, want -1", root, s)
		}
	}
}

func TestLargestProcesses(t *testing.T) {
	const n = 3
	got := largestProcesses(proc.NewFS("/proc"), n)
	if len(got) == 0 || len(got) > n {
		t.Fatalf("%d processes, want 1 to %d", len(got), n)
	}
	for i, p := range got {
		if i > 0 && p.RSSMB > got[i-1].RSSMB {
			t.Errorf("%d MB after %d MB", p.RSSMB, got[i-1].RSSMB)
		}
		if p.PID == 0 || p.Command == "" {
			t.Errorf("process without a name: %+v", p)
		}
	}
}

func TestLargestProcessesWithoutProc(t *testing.T) {
	if got := largestProcesses(proc.NewFS(t.TempDir()), 3); got == nil || len(got) != 0 {
		t.Errorf("got %v, want an empty list", got)
	}
	if got := largestProcesses(proc.NewFS(os.DevNull), 3); got == nil || len(got) != 0 {
		t.Errorf("got %v, want an empty list", got)
	}
}
