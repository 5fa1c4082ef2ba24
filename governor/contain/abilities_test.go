package contain

import (
	"strings"
	"testing"
)

func TestAbilities(t *testing.T) {
	all, none := abilities{true, true}, abilities{}
	for _, c := range []struct {
		version string
		want    abilities
	}{
		{"257.13-1~deb13u1", all}, {"252.38-1~deb12u1", all}, {"252-46.el9", all},
		{"251.4-1ubuntu7", abilities{propagation: true}}, {"249.11-0ubuntu3", abilities{propagation: true}}, {"247.3-7", none}, {"odd", all},
	} {
		f := newFakeMachine(t)
		f.buses[SystemManager].props["/Manager"]["Version"] = c.version
		m := &manager{name: SystemManager, turns: make(chan struct{}, callsInFlight), dial: f.dial}
		if got := m.knows(t.Context()); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.version, got, c.want)
		}
		m.learn(none)
		if got := m.knows(t.Context()); got != none {
			t.Errorf("%s: asked again for what was rejected: %+v", c.version, got)
		}
		m.drop(m.bus)
		if got := m.knows(t.Context()); got != c.want {
			t.Errorf("%s, connected anew: %+v, want %+v", c.version, got, c.want)
		}
	}
}

func TestAbilitiesLess(t *testing.T) {
	a := abilities{true, true}
	if a = a.less(); a != (abilities{propagation: true}) {
		t.Errorf("first %+v", a)
	}
	if a = a.less(); a != (abilities{}) {
		t.Errorf("then %+v", a)
	}
}

func TestAbilitiesLacks(t *testing.T) {
	service := Origin{Kind: "service", PartOf: "ci.service"}
	for _, c := range []struct {
		name string
		a    abilities
		o    Origin
		want int
	}{
		{"nothing", abilities{true, true}, service, 0},
		{"both", abilities{}, service, 2},
		{"propagation, which a session does not want", abilities{oomPolicy: true}, Origin{Kind: "session", PartOf: "session-2.scope"}, 0},
		{"propagation, which KillMode=process does not want", abilities{oomPolicy: true}, Origin{Kind: "service"}, 0},
	} {
		if got := c.a.lacks(c.o); len(got) != c.want {
			t.Errorf("%s: %s", c.name, strings.Join(got, "; "))
		}
	}
}
