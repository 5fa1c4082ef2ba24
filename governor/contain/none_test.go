package contain

import (
	"strings"
	"testing"
)

func TestNone(t *testing.T) {
	f, _, x, _ := inhabited(t)
	n := NewNone(f.fs(), "no systemd")
	for _, path := range []string{inService, "/", "", "/docker/1"} {
		x.Cgroup = path
		o, err := n.Look(t.Context(), x)
		if err != nil || o.Refuse != "" || o.Cgroup != path {
			t.Errorf("Look(%q) = %+v, %v", path, o, err)
		}
	}
	sc, err := n.Place(t.Context(), Spec{Unit: "headroom-a-00000001.scope", Exec: x, Limits: Limits{MemoryMax: 1}})
	if err != nil || sc.Unit != "" || sc.Cgroup != "" || sc.MemoryController || sc.MemoryMax != 0 || sc.Moved != 0 || sc.Main != x.ID ||
		len(sc.Notes) != 1 || !strings.Contains(sc.Notes[0], "not contained") {
		t.Errorf("Place = %+v, %v", sc, err)
	}
	if u := n.Usage(sc); u.Gone || u.Current != -1 || len(u.Procs) != 1 {
		t.Errorf("usage %+v", u)
	}
	f.kill(x.ID.PID)
	if u := n.Usage(sc); !u.Gone {
		t.Errorf("usage after the end %+v", u)
	}
	if moved, err := n.Join(t.Context(), sc, x, true); moved != 0 || err != nil {
		t.Errorf("Join = %d, %v", moved, err)
	}
	if got, err := n.SetLimits(t.Context(), sc, Limits{MemoryMax: 1}); err != nil || got.MemoryMax != 0 {
		t.Errorf("SetLimits = %+v, %v", got, err)
	}
	if all, err := n.Adopt(t.Context(), false); len(all) != 0 || err != nil {
		t.Errorf("Adopt = %v, %v", all, err)
	}
	if escaped, note := n.Check(t.Context(), sc); len(escaped) != 0 || note != "" {
		t.Errorf("Check = %v, %q", escaped, note)
	}
	for _, err := range []error{n.Freeze(sc), n.Thaw(sc), n.Release(t.Context(), sc), n.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
	if n.MemoryController() || n.Describe() != "none: no systemd" {
		t.Errorf("%v %q", n.MemoryController(), n.Describe())
	}
}
