package governor

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/watchdog"
)

// contract are the words of `status --json` that scripts rely on.
var contract = map[string][]string{
	"": {"version", "mode", "source", "contain", "memory", "limits", "jobs", "queue", "largest", "self",
		"recent", "scope", "since", "time", "pid", "guards"},
	"source":  {"name", "why"},
	"contain": {"name", "why", "memory_controller"},
	"memory":  {"total_mb", "available_mb", "swap_free_mb", "psi_some_avg10"},
	"self":    {"rss_mb", "cpu_s", "lost_events"},
	"jobs": {"id", "pid", "uid", "command", "family", "rule", "state", "since", "unit", "memory_cap_mb",
		"swap_cap_mb", "memory_mb", "peak_mb", "isolated", "caught_rss_mb", "oom_kills", "lightened", "note"},
}

func TestStatusWords(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.caught(200, "npm", "test")
		w.after(time.Second)
		text, err := json.Marshal(w.snapshot())
		if err != nil {
			t.Fatal(err)
		}
		var all map[string]any
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		for part, words := range contract {
			object := all
			switch v := all[part].(type) {
			case map[string]any:
				object = v
			case []any:
				if len(v) == 0 {
					t.Fatalf("%s is empty", part)
				}
				object = v[0].(map[string]any)
			}
			for _, word := range words {
				if _, ok := object[word]; !ok {
					t.Errorf("%s has no %q", part, word)
				}
			}
		}
		for _, list := range []string{"jobs", "queue", "recent", "largest", "guards"} {
			if _, ok := all[list].([]any); !ok {
				t.Errorf("%s is %v, want an array also where it is empty", list, all[list])
			}
		}
	})
}

func TestSnapshotOfAJob(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.caught(200, "npm", "test", "--token=abc")
		w.after(10 * time.Millisecond)
		if j := w.job(); j.State != "placing" || j.Isolated || j.MemoryMB != -1 || j.MemoryCapMB != 460 {
			t.Errorf("while it is placed: %+v", j)
		}
		w.after(time.Second)
		w.proc.change(200, func(n *fakeProcess) { n.rssMB = 50 })
		w.after(time.Second)
		j := w.job()
		if j.State != "running" || !j.Isolated || j.PID != 200 || j.UID != 1000 || j.MemoryMB != 50 || j.PeakMB != 50 ||
			j.Processes != 1 || j.Unit != "headroom-"+j.ID+".scope" || j.Cgroup == "" || j.Lightened == nil {
			t.Errorf("running: %+v", j)
		}
		if s := w.snapshot(); len(s.Largest) != 3 || s.Largest[0].PID != 200 || s.Largest[0].Job != j.ID || s.Largest[0].RSSMB != 50 {
			t.Errorf("largest: %+v", s.Largest)
		}
		w.proc.exit(200)
		w.after(7 * time.Second)
		s := w.snapshot()
		if len(s.Jobs) != 0 || len(s.Recent) != 1 || s.Recent[0].ID != j.ID || s.Recent[0].State != "ended" || s.Recent[0].PeakMB != 50 {
			t.Errorf("ended: jobs %+v, recent %+v", s.Jobs, s.Recent)
		}
	})
}

func TestRecentIsBounded(t *testing.T) {
	inWorld(t, func(o *Options) { o.Backend.(*fakeBackend).noScopes = true }, func(w *world) {
		w.after(turn / 10)
		for i := range recentJobs + 3 {
			w.spawn(200+i, "make")
			w.found(200+i, false)
			w.after(turn / 2)
			w.proc.exit(200 + i)
			w.after(turn * 3 / 2)
		}
		var got []int
		for _, j := range w.snapshot().Recent {
			got = append(got, j.PID)
		}
		if len(got) != recentJobs || got[recentJobs-1] != 200+recentJobs+2 || !slices.IsSorted(got) {
			t.Errorf("got %v, want the last %d, newest last", got, recentJobs)
		}
	})
}

func TestSnapshotsWhileItRuns(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		var asking sync.WaitGroup
		for range 4 {
			asking.Go(func() {
				for range 20 {
					if _, err := w.gov.Snapshot(context.Background()); err != nil {
						t.Error(err)
					}
					time.Sleep(3 * time.Millisecond)
				}
			})
		}
		for i := range 4 {
			w.caught(200+i, "npm", "test")
			w.after(20 * time.Millisecond)
		}
		asking.Wait()
		s := w.snapshot()
		if jobs := append(s.Jobs, s.Queue...); len(jobs) != 4 || !slices.IsSortedFunc(jobs, func(a, b JobStatus) int { return a.Since.Compare(b.Since) }) {
			t.Errorf("got %+v, want four, oldest first", jobs)
		}
	})
}

func TestSnapshotWithoutMemory(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.memory.fail()
		unknown := MemoryStatus{TotalMB: -1, AvailableMB: -1, SwapTotalMB: -1, SwapFreeMB: -1, PSISome10: -1, PSIFull10: -1}
		if got := w.snapshot().Memory; got != unknown {
			t.Errorf("got %+v", got)
		}
	})
}

// TestSnapshotOfGuards: who else acts here is asked with the line below which
// this governor does.
func TestSnapshotOfGuards(t *testing.T) {
	var asked int64
	inWorld(t, func(o *Options) {
		o.Guards = func(criticalMB int64) []GuardStatus {
			asked = criticalMB
			return []GuardStatus{{Name: "earlyoom", PID: 9, ActsAtMB: 101, Note: "acts first"}}
		}
	}, func(w *world) {
		s := w.snapshot()
		if len(s.Guards) != 1 || s.Guards[0].ActsAtMB != 101 || asked != s.Limits.CriticalMB || asked <= 0 {
			t.Errorf("guards %+v, asked with %d MB of %+v", s.Guards, asked, s.Limits)
		}
		w.memory.fail()
		if w.snapshot(); asked != -1 {
			t.Errorf("asked with %d MB, want -1 for what is not known", asked)
		}
	})
}

func TestScopeOfTheGovernor(t *testing.T) {
	for machine, want := range map[bool]string{true: "machine", false: "user"} {
		inWorld(t, func(o *Options) { o.Machine = machine }, func(w *world) {
			if got := w.snapshot().Scope; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestMemoryOf(t *testing.T) {
	tests := []struct {
		name string
		in   watchdog.Reading
		want MemoryStatus
	}{
		{"all", watchdog.Reading{MemTotal: 4 << 20, MemAvailable: 3 << 20, SwapTotal: 2 << 20, SwapFree: 1 << 20,
			PSI: &watchdog.Pressure{Some: watchdog.Stall{Avg10: 1.5}, Full: watchdog.Stall{Avg10: 0.5}}},
			MemoryStatus{4, 3, 2, 1, 1.5, 0.5}},
		{"no PSI, available unknown", watchdog.Reading{MemTotal: 4 << 20, MemAvailable: -1}, MemoryStatus{4, -1, 0, 0, -1, -1}},
		{"nothing known", watchdog.Reading{MemTotal: -1, MemAvailable: -1, SwapTotal: -1, SwapFree: -1}, MemoryStatus{-1, -1, -1, -1, -1, -1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := MemoryOf(test.in); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestMachineOfZram(t *testing.T) {
	got := MachineOf(watchdog.Reading{Zram: watchdog.Zram{Total: 3 << 20, Stored: 2 << 20, Physical: 1 << 20}}).Zram
	if want := (admission.Zram{TotalMB: 3, StoredMB: 2, PhysicalMB: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
