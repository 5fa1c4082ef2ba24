package governor

import (
	"os"
	"testing"

	"github.com/headroomd/headroomd/loader/proc"
)

func TestLargestProcesses(t *testing.T) {
	const n = 3
	got := Largest(proc.NewFS("/proc"), n)
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
	if got := Largest(proc.NewFS(t.TempDir()), 3); got == nil || len(got) != 0 {
		t.Errorf("got %v, want an empty list", got)
	}
	if got := Largest(proc.NewFS(os.DevNull), 3); got == nil || len(got) != 0 {
		t.Errorf("got %v, want an empty list", got)
	}
}
