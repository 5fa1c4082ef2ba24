package contain

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	sd "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"

	"github.com/headroomd/headroomd/governor/contain/fault"
	"github.com/headroomd/headroomd/loader/proc"
)

// stopTimeout is how long a job has between SIGTERM and SIGKILL when its scope
// is stopped. systemd's default of 90 s is longer than a shutdown should wait
// for a compiler.
const stopTimeout = 8 * time.Second

var unitName = regexp.MustCompile(`^headroom-[A-Za-z0-9_.-]{1,64}-[0-9a-f]{8}\.scope$`)

// UnitName makes a new unit name for a job of a family:
// "headroom-FAMILY-XXXXXXXX.scope".
func UnitName(family string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.', r == '-':
			return r
		}
		return '_'
	}, family)
	if clean = clean[:min(len(clean), 40)]; clean == "" {
		clean = "job"
	}
	var b [4]byte
	rand.Read(b[:])
	return scopePrefix + clean + "-" + hex.EncodeToString(b[:]) + scopeSuffix
}

// renamed is a unit name with other digits. A name whose start was refused may
// be taken for a moment by the unit that never came to be.
func renamed(unit string) string {
	if strings.HasPrefix(unit, trialPrefix) {
		return trialUnit()
	}
	family := strings.TrimSuffix(strings.TrimPrefix(unit, scopePrefix), scopeSuffix)
	return UnitName(family[:max(0, len(family)-9)])
}

// RefusedError says that a process may not be moved, which was learned only
// when it was to be placed.
type RefusedError struct{ Origin Origin }

func (e *RefusedError) Error() string { return "not moved: " + e.Origin.Refuse }

// Place puts a process, and with spec.Tree its descendants, into a new scope,
// and returns what the kernel then says. After an error the process is where
// it was, and nothing of the scope is left; *RefusedError and proc.ErrGone
// tell why it was for the process's own sake.
//
// It waits for the manager: some 20-150 ms, at most about 10 s.
func (s *Systemd) Place(ctx context.Context, spec Spec) (sc Scope, err error) {
	begin := time.Now()
	if err := s.checkSpec(spec); err != nil {
		return Scope{}, err
	}
	sc = Scope{Unit: spec.Unit, Manager: spec.Origin.Manager, Main: spec.Exec.ID}
	pids := []int{spec.Exec.ID.PID}
	if spec.Tree {
		more, err := s.below(spec.Exec.ID.PID, spec.Origin.Cgroup)
		if err != nil {
			return Scope{}, err
		}
		pids = append(pids, more...)
	}
	for _, pid := range pids {
		if err := s.adjust(pid); err != nil && !gone(err) {
			sc.Notes = append(sc.Notes, fmt.Sprintf("oom_score_adj of %d: %v", pid, err))
		}
	}
	if sc.Placeholder, err = s.hold.start(spec.Exec.UID, nil); err != nil {
		sc.Notes = append(sc.Notes, "no placeholder, the counters may go with the last process: "+err.Error())
	}
	fault.At("placeholder", spec.Exec.ID.PID)
	holder := s.holdOrigin(spec.Origin, spec.Exec.UID)
	var seen arrival
	defer func() {
		if sc.OriginHolder, _ = holder(); err != nil {
			s.letGo(seen)
			s.hold.stop(sc.Placeholder)
			s.hold.stop(sc.OriginHolder)
			sc = Scope{}
		}
		sc.Took = time.Since(begin)
	}()
	if spec.Progress != nil {
		spec.Progress()
	}
	moved := pids
	if sc.Placeholder.PID > 0 {
		moved = append(moved[:len(moved):len(moved)], sc.Placeholder.PID)
	}
	if seen, err = s.start(ctx, spec, &sc, moved); err != nil {
		return sc, err
	}
	fault.At("placed", spec.Exec.ID.PID)
	if err := s.findScope(&sc); err != nil {
		return sc, err
	}
	if spec.Frozen {
		seen = s.freezePlaced(&sc, seen)
	}
	if spec.Tree {
		if _, err := s.moveBelow(sc, spec.Exec.ID.PID, spec.Origin.Cgroup); err != nil {
			sc.Notes = append(sc.Notes, err.Error())
		}
	}
	if err := s.readPlaces(&sc, spec.Origin); err != nil {
		return sc, err
	}
	s.readLimits(&sc, spec.Limits)
	fault.At("read-back", spec.Exec.ID.PID)
	if _, why := holder(); why != nil {
		sc.Notes = append(sc.Notes, "nothing left in "+spec.Origin.Unit+": "+why.Error())
	}
	return sc, nil
}

func (s *Systemd) checkSpec(spec Spec) error {
	id := spec.Exec.ID
	switch {
	case id.PID <= 1:
		// The manager would take 0 for the caller itself.
		return fmt.Errorf("place pid %d: not a process to be moved", id.PID)
	case !unitName.MatchString(spec.Unit):
		return fmt.Errorf("place pid %d: %q is no unit name of a job", id.PID, spec.Unit)
	case spec.Origin.Refuse != "":
		return &RefusedError{spec.Origin}
	case spec.Origin.Kind == "job":
		return fmt.Errorf("place pid %d: it is in %q already", id.PID, spec.Origin.Unit)
	case spec.Origin.Manager == "" || spec.Origin.Slice == "" || spec.Origin.Cgroup == "":
		return fmt.Errorf("place pid %d: its origin was not looked at", id.PID)
	}
	return s.same(id)
}

// same checks that a pid is still the process that was meant.
func (s *scopes) same(id proc.ID) error {
	st, err := s.fs.Stat(id.PID)
	if err != nil {
		return fmt.Errorf("place pid %d: %w", id.PID, err)
	}
	if st.ID != id {
		return fmt.Errorf("place pid %d: it is another process by now: %w", id.PID, proc.ErrGone)
	}
	return nil
}

// start starts the scope, once more if the first try failed and a fresh look
// at the origin finds nothing against it. It sets sc.Unit and sc.OOMPolicy to
// what was accepted. What was frozen for a try that failed is let go.
func (s *Systemd) start(ctx context.Context, spec Spec, sc *Scope, pids []int) (arrival, error) {
	m := s.manager(spec.Origin.Manager)
	know := m.knows(ctx)
	origin, retried := spec.Origin, false
	for {
		settle := s.watchArrival(spec, sc.Unit)
		err := m.start(ctx, sc.Unit, properties(spec, origin, pids, know), spec.Progress)
		seen := settle()
		if err == nil {
			m.learn(know)
			sc.OOMPolicy = know.oomPolicy
			sc.Notes = append(sc.Notes, know.lacks(origin)...)
			return seen, nil
		}
		if s.inScope(spec.Exec.ID.PID, sc.Unit) {
			// The connection or our patience ended, the start did not.
			sc.OOMPolicy = know.oomPolicy
			sc.Notes = append(sc.Notes, "placed, but the manager's word did not arrive: "+err.Error())
			return seen, nil
		}
		s.letGo(seen)
		switch {
		case know != (abilities{}) && busErrorName(err) == "org.freedesktop.DBus.Error.PropertyReadOnly":
			// What systemd says of a property it does not know. The process
			// has not been touched, so this is no second try.
			know = know.less()
			sc.Unit = renamed(sc.Unit)
			continue
		case retried || ctx.Err() != nil:
			return arrival{}, fmt.Errorf("place pid %d: %w", spec.Exec.ID.PID, err)
		}
		retried = true
		x := spec.Exec
		x.Cgroup = ""
		fresh, lookErr := s.Look(ctx, x)
		switch {
		case lookErr != nil:
			return arrival{}, fmt.Errorf("place pid %d: %w, and then: %w", x.ID.PID, err, lookErr)
		case fresh.Refuse != "" || fresh.Kind == "job":
			return arrival{}, fmt.Errorf("%w (at first the manager said: %w)", &RefusedError{fresh}, err)
		case fresh.Manager != origin.Manager:
			return arrival{}, fmt.Errorf("place pid %d: it went from %q to %q meanwhile: %w", x.ID.PID, origin.Cgroup, fresh.Cgroup, err)
		}
		s.log.Debug("scope refused, once more", "unit", sc.Unit, "err", err)
		origin = fresh
		// systemd refuses a scope if a single one of its processes has ended, and
		// a tree that works loses some all the time: the others are moved after.
		pids = slices.DeleteFunc(slices.Clone(pids), func(pid int) bool {
			return pid != spec.Exec.ID.PID && pid != sc.Placeholder.PID
		})
		sc.Unit = renamed(sc.Unit)
	}
}

func (s *Systemd) inScope(pid int, unit string) bool {
	p, err := s.fs.Cgroup(pid)
	return err == nil && path.Base(p) == unit
}

// properties are what a scope is asked for.
func properties(spec Spec, o Origin, pids []int, know abilities) []sd.Property {
	list := make([]uint32, 0, len(pids))
	for _, pid := range pids {
		list = append(list, uint32(pid))
	}
	props := []sd.Property{
		sd.PropDescription(spec.Description),
		sd.PropSlice(o.Slice),
		sd.PropPids(list...),
		// Units that ended, well or not, are to go by themselves.
		property("CollectMode", "inactive-or-failed"),
		property("TimeoutStopUSec", uint64(stopTimeout/time.Microsecond)),
	}
	if o.PartOf != "" {
		// PartOf= has a later stop of the origin stop the job. An earlier one
		// is what Requisite= with After= is for: while the origin is being
		// stopped, or has a stop job, the start fails and the process stays
		// where the stop will find it. Never BindsTo= or Requires=, which pull
		// the origin in: that restarted a service that was being stopped.
		unit := []string{o.PartOf}
		props = append(props, property("PartOf", unit), property("Requisite", unit), property("After", unit))
		if know.propagation && o.Kind == "service" {
			// PartOf= alone is deaf to a restart (a scope cannot be restarted,
			// so systemd skips it) and to a service that ends by itself, which
			// takes its children along. Only for services: a scope ends once
			// it is empty, which moving its last process may bring about.
			props = append(props, property("StopPropagatedFrom", unit))
		}
	}
	if know.oomPolicy {
		// "continue": the kernel kills one process of the job, and the job's
		// own make or shell decides what that means.
		props = append(props, property("OOMPolicy", "continue"))
	}
	l := spec.Limits
	if l.TasksMax == 0 && o.Kind == "session" {
		// A session has no limit of its own; the manager's default would be
		// one that the job did not have where it was.
		l.TasksMax = Infinity
	}
	return append(props, limitProperties(l)...)
}

// limitProperties are those of Limits that are asked for.
func limitProperties(l Limits) []sd.Property {
	var props []sd.Property
	if l.MemoryMax != 0 {
		props = append(props, property("MemoryMax", l.MemoryMax), property("MemorySwapMax", l.MemorySwapMax))
	}
	if l.TasksMax != 0 {
		props = append(props, property("TasksMax", l.TasksMax))
	}
	return props
}

func property(name string, v any) sd.Property {
	return sd.Property{Name: name, Value: dbus.MakeVariant(v)}
}

// holdOrigin leaves a placeholder in a login session, while the start is on
// its way. Without a process in it a closing session ends, and takes
// /run/user/UID from under a job that was started with nohup. It returns a
// function that waits for the outcome. Only a session's cgroup is entered by
// the fork itself: nobody but root can freeze it.
func (s *Systemd) holdOrigin(o Origin, uid uint32) func() (proc.ID, error) {
	if o.Kind != "session" || s.user != nil {
		return func() (proc.ID, error) { return proc.ID{}, nil }
	}
	type outcome struct {
		id  proc.ID
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		id, err := s.born(o.Cgroup, uid)
		done <- outcome{id, err}
	}()
	var got *outcome
	return func() (proc.ID, error) {
		if got == nil {
			v := <-done
			got = &v
		}
		return got.id, got.err
	}
}

// born starts a placeholder inside a cgroup.
func (s *Systemd) born(cgroup string, uid uint32) (proc.ID, error) {
	if s.cg.frozen(cgroup) {
		return proc.ID{}, fmt.Errorf("%q is frozen", cgroup)
	}
	dir, err := os.OpenFile(s.cg.dir(cgroup), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return proc.ID{}, err
	}
	defer dir.Close()
	return s.hold.start(uid, dir)
}
