package contain

import (
	"path"
	"time"
)

// arrivalEach is how often an arriving process is looked for: reading its
// cgroup takes some 10 us, and it arrives after 20-150 ms.
const arrivalEach = 2 * time.Millisecond

// watchArrival looks for the process in its new scope while the manager is at
// work. The manager sets the limits of the cgroup first, moves the processes
// one by one (each move waits 8-50 ms for the kernel), ends its job and tells
// of it: for the process, all is done after the first move. The function
// returned ends the watch and waits for it.
func (s *Systemd) watchArrival(spec Spec, unit string) (settle func()) {
	if spec.InForce == nil {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(arrivalEach)
		defer tick.Stop()
		for {
			if sc, ok := s.arrived(spec, unit); ok {
				spec.InForce(sc)
				return
			}
			select {
			case <-tick.C:
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// arrived reports whether the process is in the scope with its limit in force.
func (s *Systemd) arrived(spec Spec, unit string) (Scope, bool) {
	at, err := s.fs.Cgroup(spec.Exec.ID.PID)
	if err != nil || path.Base(at) != unit {
		return Scope{}, false
	}
	if max, err := s.cg.limit(at, "memory.max"); err == nil && spec.Limits.MemoryMax != 0 && max == Infinity {
		return Scope{}, false // not set yet; without the controller there is nothing to wait for
	}
	id, err := s.cg.id(at)
	return Scope{Unit: unit, Cgroup: at, CgroupID: id}, err == nil
}
