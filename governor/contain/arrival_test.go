package contain

import (
	"testing"
	"time"
)

// The process need not wait for the manager's word once it is where it should
// be, with its limit.
func TestInForceBeforeTheManagerSaysSo(t *testing.T) {
	f := newFakeMachine(t)
	const origin = "/user.slice/user-1000.slice/session-2.scope"
	x := f.process(500, 1, origin)
	b := f.buses[SystemManager]
	b.unit("session-2.scope", nil)
	s := f.systemd(t)
	o, err := s.Look(t.Context(), x)
	if err != nil || o.Refuse != "" {
		t.Fatalf("look: %+v, %v", o, err)
	}
	told := make(chan Scope, 2)
	early := false
	b.onMoved = func() {
		select {
		case sc := <-told:
			early = true
			told <- sc
		case <-time.After(5 * time.Second):
		}
	}
	spec := Spec{Unit: UnitName("npm"), Exec: x, Origin: o, Limits: Limits{MemoryMax: 100 << 20},
		InForce: func(sc Scope) { told <- sc }}
	sc, err := s.Place(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if !early {
		t.Error("it was not told before the manager's word")
	}
	if got := <-told; got.Cgroup != sc.Cgroup || got.CgroupID != sc.CgroupID || len(told) != 0 {
		t.Errorf("told %+v and %d more, placed %+v", got, len(told), sc)
	}
}

// A cgroup whose limit is not set yet is not the cap in force.
func TestNotInForceWithoutItsLimit(t *testing.T) {
	f := newFakeMachine(t)
	unit := UnitName("npm")
	x := f.process(500, 1, "/user.slice/user-1000.slice/"+unit)
	s := f.systemd(t)
	spec := Spec{Unit: unit, Exec: x, Limits: Limits{MemoryMax: 100 << 20}}
	if sc, ok := s.arrived(spec, unit, &arrival{}); ok {
		t.Errorf("in force without a limit: %+v", sc)
	}
	f.file("/user.slice/user-1000.slice/"+unit, "memory.max", "104857600\n")
	if _, ok := s.arrived(spec, unit, &arrival{}); !ok {
		t.Error("not in force with its limit")
	}
	if _, ok := s.arrived(spec, UnitName("npm"), &arrival{}); ok {
		t.Error("in force in another scope")
	}
}
