package contain

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/headroomd/headroomd/loader/proc"
)

// placed is a machine with a job: process 500 of a session.
func placed(t *testing.T) (*fakeMachine, *Systemd, Scope) {
	t.Helper()
	f, x, _, _ := inhabited(t)
	s := f.systemd(t)
	sc, err := s.Place(t.Context(), order(t, s, x))
	if err != nil {
		t.Fatal(err)
	}
	return f, s, sc
}

func TestUsage(t *testing.T) {
	f, s, sc := placed(t)
	f.process(550, 500, sc.Cgroup)
	got := s.Usage(sc)
	want := Usage{Current: 8192, Swap: 0, Peak: 16384, Working: 4096 + 1024 + 512, OOMKills: 2, CPUUsec: 1500, Procs: []int{500, 550}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	sc.CgroupID++
	if u := s.Usage(sc); !u.Gone || u.Current != -1 {
		t.Errorf("another scope of the name: %+v", u)
	}
	os.RemoveAll(filepath.Join(f.cgroup, sc.Cgroup))
	if u := s.Usage(sc); !u.Gone || u.OOMKills != -1 {
		t.Errorf("no scope: %+v", u)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(f *fakeMachine, sc Scope)
		escaped []int
		note    string
	}{
		{"as it was", func(*fakeMachine, Scope) {}, nil, ""},
		{"a child in the scope", func(f *fakeMachine, sc Scope) { f.process(550, 500, sc.Cgroup) }, nil, ""},
		{"a child that left", func(f *fakeMachine, sc Scope) { f.process(550, 500, inSession) }, []int{550}, ""},
		{"a grandchild of one that left", func(f *fakeMachine, sc Scope) {
			f.process(550, 500, inService)
			f.process(551, 550, inService)
		}, []int{550, 551}, ""},
		{"the main process left", func(f *fakeMachine, sc Scope) { f.place(500, inSession) }, []int{500}, ""},
		{"a child in a job of its own", func(f *fakeMachine, sc Scope) {
			f.process(550, 500, "/user.slice/user-1000.slice/headroom-make-11223344.scope")
		}, nil, ""},
		{"strangers", func(f *fakeMachine, sc Scope) { f.process(560, 1, inSession) }, nil, ""},
		{"a new cap", func(f *fakeMachine, sc Scope) { f.file(sc.Cgroup, "memory.max", "max\n") }, nil, "memory.max is max, it was 67108864"},
		{"no cap any more", func(f *fakeMachine, sc Scope) { os.Remove(filepath.Join(f.cgroup, sc.Cgroup, "memory.max")) }, nil, "cannot be read any more"},
		{"no scope any more", func(f *fakeMachine, sc Scope) { os.RemoveAll(filepath.Join(f.cgroup, sc.Cgroup)) }, nil, "the scope is gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, s, sc := placed(t)
			c.change(f, sc)
			escaped, note := s.Check(t.Context(), sc)
			if !slices.Equal(escaped, c.escaped) || (c.note == "") != (note == "") || !strings.Contains(note, c.note) {
				t.Errorf("got %v %q, want %v %q", escaped, note, c.escaped, c.note)
			}
		})
	}
}

func TestReadLimits(t *testing.T) {
	page := uint64(os.Getpagesize())
	for _, c := range []struct {
		name      string
		max, swap string // "-" = no such file
		want      Limits
		got       Scope
		notes     []string
	}{
		{"as asked", "8192000", "0", Limits{MemoryMax: 8192000}, Scope{MemoryMax: 8192000, MemoryController: true}, nil},
		{"rounded to pages", fmt.Sprint(7 * page), "0", Limits{MemoryMax: 7*page + 9}, Scope{MemoryMax: 7 * page, MemoryController: true}, nil},
		{"not enforced", "max", "max", Limits{MemoryMax: 5}, Scope{MemoryMax: Infinity, MemorySwapMax: Infinity, MemoryController: true},
			[]string{"memory.max is max, asked for 5", "memory.swap.max is max, asked for 0"}},
		{"no swap accounting", "8192000", "-", Limits{MemoryMax: 8192000}, Scope{MemoryMax: 8192000, MemorySwapMax: Infinity, MemoryController: true},
			[]string{"no memory.swap.max: the job may swap without limit"}},
		{"no controller", "-", "-", Limits{MemoryMax: 5}, Scope{}, []string{"no memory controller here: MemoryMax is not enforced"}},
		{"nothing asked", "max", "4096", Limits{}, Scope{MemoryMax: Infinity, MemorySwapMax: 4096, MemoryController: true}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &scopes{cg: cgroups{t.TempDir()}}
			for name, text := range map[string]string{"memory.max": c.max, "memory.swap.max": c.swap} {
				if text != "-" {
					os.WriteFile(filepath.Join(s.cg.root, name), []byte(text+"\n"), 0o644)
				}
			}
			var got Scope
			s.readLimits(&got, c.want)
			if got.MemoryMax != c.got.MemoryMax || got.MemorySwapMax != c.got.MemorySwapMax || got.MemoryController != c.got.MemoryController || !slices.Equal(got.Notes, c.notes) {
				t.Errorf("got %+v, want %+v %q", got, c.got, c.notes)
			}
		})
	}
}

func TestSetLimits(t *testing.T) {
	f, s, sc := placed(t)
	got, err := s.SetLimits(t.Context(), sc, Limits{MemoryMax: 1 << 30, MemorySwapMax: 1 << 20})
	if err != nil || got.MemoryMax != 1<<30 || got.MemorySwapMax != 1<<20 || len(got.Notes) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	set := f.buses[SystemManager].set
	if len(set) != 1 || set[0]["unit"] != sc.Unit || set[0]["MemoryMax"] != uint64(1<<30) || set[0]["TasksMax"] != nil {
		t.Errorf("set %v", set)
	}
	f.buses[SystemManager].broken = 9
	if got, err := s.SetLimits(t.Context(), sc, Limits{MemoryMax: 1}); err == nil || got.MemoryMax != sc.MemoryMax {
		t.Errorf("%+v, %v", got, err)
	}
	os.RemoveAll(filepath.Join(f.cgroup, sc.Cgroup))
	if _, err := s.SetLimits(t.Context(), sc, Limits{MemoryMax: 1}); err == nil {
		t.Error("limits of a scope that is gone")
	}
}

func TestReleaseThaws(t *testing.T) {
	f, s, sc := placed(t)
	if err := s.Freeze(sc); err != nil || !s.cg.frozen(sc.Cgroup) {
		t.Fatalf("Freeze = %v", err)
	}
	if err := s.Release(t.Context(), sc); err != nil || s.cg.frozen(sc.Cgroup) || f.holder.left() != 0 {
		t.Errorf("Release = %v, frozen %v, %d placeholders", err, s.cg.frozen(sc.Cgroup), f.holder.left())
	}
	if err := s.Release(t.Context(), sc); err != nil {
		t.Errorf("twice: %v", err)
	}
	os.RemoveAll(filepath.Join(f.cgroup, sc.Cgroup))
	if err := s.Release(t.Context(), sc); err != nil {
		t.Errorf("a scope that is gone: %v", err)
	}
	if err := s.Freeze(sc); err == nil {
		t.Error("froze a scope that is gone")
	}
	if err := s.Freeze(Scope{Cgroup: "/system.slice"}); err == nil {
		t.Error("froze what is no job")
	}
}

func TestReleaseOfNothing(t *testing.T) {
	f, s, sc := placed(t)
	// A placeholder that is not ours is not killed.
	s.Release(t.Context(), Scope{Cgroup: sc.Cgroup, Placeholder: proc.ID{PID: 500}})
	if _, err := f.fs().Stat(500); err != nil {
		t.Errorf("the job's own process: %v", err)
	}
}
