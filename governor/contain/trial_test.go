package contain

import (
	"strings"
	"testing"
)

func TestTrialRenamed(t *testing.T) {
	a := trialUnit()
	if b := renamed(a); b == a || !strings.HasPrefix(b, trialPrefix) || IsScopeName(b) {
		t.Errorf("renamed from %q to %q", a, b)
	}
}

func TestTrial(t *testing.T) {
	tests := []struct {
		name   string
		edit   func(*fakeMachine)
		memory bool
		err    string
	}{
		{"a cap is enforced", func(*fakeMachine) {}, true, ""},
		{"the manager will not have it", func(f *fakeMachine) { f.buses[SystemManager].result = "failed" }, false, "failed"},
		{"the process is not where it should be", func(f *fakeMachine) {
			f.buses[SystemManager].put = "/system.slice/elsewhere.scope"
		}, false, "elsewhere"},
		{"the machine goes down", func(f *fakeMachine) {
			f.buses[SystemManager].props["/Manager"]["SystemState"] = "stopping"
		}, true, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFakeMachine(t)
			s := f.systemd(t)
			test.edit(f)
			err := s.Trial(t.Context())
			switch {
			case test.err == "" && err != nil, test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
				t.Fatalf("got %v, want %q", err, test.err)
			case err == nil && s.MemoryController() != test.memory:
				t.Errorf("memory controller %v, want %v", s.MemoryController(), test.memory)
			}
			if n := len(f.holder.alive); n != 0 {
				t.Errorf("%d placeholders are left", n)
			}
			for _, p := range f.buses[SystemManager].started {
				if unit := p["unit"]; unit != nil && !strings.HasPrefix(unit.(string), trialPrefix) {
					t.Errorf("started %v", unit)
				}
			}
			if jobs, err := s.Adopt(t.Context(), false); err != nil || len(jobs) != 0 {
				t.Errorf("the trial is taken for a job: %v, %v", jobs, err)
			}
		})
	}
}
