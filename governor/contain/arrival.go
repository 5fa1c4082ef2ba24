package contain

import (
	"path"
	"time"
)

// arrivalEach is how often an arriving process is looked for: reading its
// cgroup takes some 10 us, and it arrives after 20-150 ms.
const arrivalEach = 2 * time.Millisecond

// arrival is what was seen of a process on its way into its scope.
type arrival struct {
	at     string // the scope's cgroup; "" while it is not there
	frozen bool
	err    error // of the freezing
}

// watchArrival looks for the process in its new scope while the manager is at
// work. The manager sets the limits of the cgroup first, moves the processes
// one by one (each move waits 8-50 ms for the kernel), ends its job and tells
// of it: for the process, all is done after the first move. The function
// returned ends the watch and waits for it.
func (s *Systemd) watchArrival(spec Spec, unit string) (settle func() arrival) {
	if spec.InForce == nil && !spec.Frozen {
		return func() arrival { return arrival{} }
	}
	var got arrival
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(arrivalEach)
		defer tick.Stop()
		for {
			if sc, ok := s.arrived(spec, unit, &got); ok {
				if spec.InForce != nil {
					spec.InForce(sc)
				}
				return
			}
			select {
			case <-tick.C:
			case <-quit:
				return
			}
		}
	}()
	return func() arrival {
		close(quit)
		<-done
		return got
	}
}

// arrived reports whether the process is in the scope with its limit in force.
// One that is to be held is frozen at the first sight of it: it stands in the
// tracer's stop still, and will go from there into the freezer without an
// instruction of its own.
func (s *Systemd) arrived(spec Spec, unit string, got *arrival) (Scope, bool) {
	at, err := s.fs.Cgroup(spec.Exec.ID.PID)
	if err != nil || path.Base(at) != unit {
		return Scope{}, false
	}
	if spec.Frozen && got.at == "" {
		got.err = s.cg.freeze(at, true)
		got.frozen = got.err == nil
	}
	got.at = at
	if max, err := s.cg.limit(at, "memory.max"); err == nil && spec.Limits.MemoryMax != 0 && max == Infinity {
		return Scope{}, false // not set yet; without the controller there is nothing to wait for
	}
	id, err := s.cg.id(at)
	return Scope{Unit: unit, Cgroup: at, CgroupID: id, Frozen: got.frozen}, err == nil
}
