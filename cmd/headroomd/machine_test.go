package main

import (
	"testing"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/watchdog"
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
