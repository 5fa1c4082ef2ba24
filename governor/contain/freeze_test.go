package contain

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

const placedAt = "/user.slice/user-1000.slice/headroom-npm-0011aabb.scope"

// A job that is to wait is frozen before anybody lets its process go.
func TestPlaceFrozen(t *testing.T) {
	for _, early := range []bool{true, false} {
		name := map[bool]string{true: "seen on its way", false: "seen when the manager is done"}[early]
		t.Run(name, func(t *testing.T) {
			f, x, _, _ := inhabited(t)
			s := f.systemd(t)
			told := make(chan bool, 1)
			spec := order(t, s, x)
			spec.Frozen = true
			if early {
				spec.InForce = func(sc Scope) { told <- sc.Frozen && s.cg.frozen(sc.Cgroup) }
				f.buses[SystemManager].onMoved = func() {
					select {
					case frozen := <-told:
						told <- frozen
					case <-time.After(10 * time.Second):
					}
				}
			}
			sc, err := s.Place(t.Context(), spec)
			if err != nil || !sc.Frozen || !s.cg.frozen(placedAt) || len(sc.Notes) != 0 {
				t.Fatalf("Place = %+v, %v", sc, err)
			}
			if early && !<-told {
				t.Error("it was let go before it was frozen")
			}
			if err := s.Release(t.Context(), sc); err != nil || s.cg.frozen(placedAt) {
				t.Errorf("after Release: %v, frozen %v", err, s.cg.frozen(placedAt))
			}
		})
	}
}

// What cannot be held runs.
func TestPlaceWhatCannotBeFrozen(t *testing.T) {
	f, x, _, _ := inhabited(t)
	s := f.systemd(t)
	told := make(chan Scope, 1)
	f.mkcgroup(placedAt)
	os.Remove(filepath.Join(f.cgroup, placedAt, "cgroup.freeze"))
	b := f.buses[SystemManager]
	b.onMoved = func() {
		select {
		case sc := <-told:
			told <- sc
		case <-time.After(10 * time.Second):
		}
	}
	spec := order(t, s, x)
	spec.Frozen, spec.InForce = true, func(sc Scope) { told <- sc }
	sc, err := s.Place(t.Context(), spec)
	if err != nil || sc.Frozen || len(sc.Notes) != 1 || !strings.Contains(sc.Notes[0], "not held") || !strings.Contains(sc.Notes[0], "5.2") {
		t.Errorf("Place = %+v, %v", sc, err)
	}
	if got := <-told; got.Frozen {
		t.Errorf("told %+v", got)
	}
}

// A placing that fails leaves nothing frozen.
func TestPlaceFrozenFails(t *testing.T) {
	for _, c := range []struct {
		name string
		fail func(f *fakeMachine, b *fakeBus)
	}{
		{"the manager moves it elsewhere and gives up", func(f *fakeMachine, b *fakeBus) {
			// Out of the scope again by the time that the error is looked at.
			b.onMoved = func() {
				waitFrozen(f, placedAt)
				f.mu.Lock()
				f.place(500, inSession)
				f.mu.Unlock()
			}
			b.after = errSome
			b.refuse = func(p props) error {
				if len(b.started) > 1 {
					return errRefused
				}
				return nil
			}
		}},
		{"the process ends", func(f *fakeMachine, b *fakeBus) {
			b.onMoved = func() {
				waitFrozen(f, placedAt)
				f.mu.Lock()
				f.kill(500)
				f.mu.Unlock()
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, x, _, _ := inhabited(t)
			s := f.systemd(t)
			c.fail(f, f.buses[SystemManager])
			spec := order(t, s, x)
			spec.Frozen = true
			sc, err := s.Place(t.Context(), spec)
			if err == nil || sc.Frozen || f.holder.left() != 0 {
				t.Errorf("Place = %+v, %v, %d placeholders", sc, err, f.holder.left())
			}
			if left, err := FrozenScopes(f.cgroup); err != nil || len(left) != 0 {
				t.Errorf("still frozen: %q, %v", left, err)
			}
		})
	}
}

func waitFrozen(f *fakeMachine, cgroup string) {
	c := cgroups{f.cgroup}
	for end := time.Now().Add(10 * time.Second); !c.frozen(cgroup) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// A child that ends while its tree is placed does not keep the tree from it.
func TestPlaceTreeThatLosesAChild(t *testing.T) {
	f, x, _, _ := inhabited(t)
	for pid := 501; pid <= 503; pid++ {
		f.process(pid, 500, inSession)
	}
	s := f.systemd(t)
	b := f.buses[SystemManager]
	b.refuse = func(p props) error {
		if len(b.started) == 1 {
			f.kill(503)
		}
		for _, pid := range p["PIDs"].([]uint32) {
			if _, err := f.fs().Stat(int(pid)); err != nil {
				return dbus.NewError("org.freedesktop.DBus.Error.UnixProcessIdUnknown", nil)
			}
		}
		return nil
	}
	spec := order(t, s, x)
	spec.Tree, spec.Frozen = true, true
	sc, err := s.Place(t.Context(), spec)
	if err != nil || len(b.started) != 2 || !sc.Frozen {
		t.Fatalf("Place = %+v, %v after %d starts", sc, err, len(b.started))
	}
	for pid := 500; pid <= 502; pid++ {
		if at, _ := f.fs().Cgroup(pid); at != sc.Cgroup {
			t.Errorf("%d is in %q", pid, at)
		}
	}
}

// A process may join a job that waits: it waits as well.
func TestJoinFrozen(t *testing.T) {
	f, x, y, _ := inhabited(t)
	s := f.systemd(t)
	spec := order(t, s, x)
	spec.Frozen = true
	sc, err := s.Place(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.Join(t.Context(), sc, y, false); n != 1 || err != nil || !s.cg.frozen(sc.Cgroup) {
		t.Errorf("Join = %d, %v", n, err)
	}
}

func TestFreezeAndThaw(t *testing.T) {
	f, x, _, _ := inhabited(t)
	s := f.systemd(t)
	sc, err := s.Place(t.Context(), order(t, s, x))
	if err != nil || sc.Frozen {
		t.Fatalf("%+v, %v", sc, err)
	}
	if err := s.Freeze(sc); err != nil || !s.cg.frozen(sc.Cgroup) {
		t.Errorf("Freeze = %v", err)
	}
	if err := s.Thaw(sc); err != nil || s.cg.frozen(sc.Cgroup) {
		t.Errorf("Thaw = %v", err)
	}
	other := sc
	other.CgroupID++
	if err := s.Freeze(other); !errors.Is(err, ErrNoScope) || s.cg.frozen(sc.Cgroup) {
		t.Errorf("Freeze of one that was replaced = %v", err)
	}
	os.RemoveAll(filepath.Join(f.cgroup, sc.Cgroup))
	if err := s.Freeze(sc); !errors.Is(err, ErrNoScope) {
		t.Errorf("Freeze of none = %v", err)
	}
	if err := s.Thaw(sc); err != nil {
		t.Errorf("Thaw of none = %v", err)
	}
	// A path that is not a job's is never frozen.
	if err := s.Freeze(Scope{Unit: "x", Cgroup: inService}); err == nil || s.cg.frozen(inService) {
		t.Errorf("Freeze of a service = %v", err)
	}
}
