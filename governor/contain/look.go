package contain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// factsKept is how long a unit's static answers are reused. A script that
// runs 200 compilers asks pid 1 once; a limit that an administrator sets
// meanwhile is seen soon.
const factsKept = 5 * time.Second

// factKey names one incarnation of a unit: a restarted one has a new cgroup.
type factKey struct {
	manager, unit string
	inode         uint64
}

// unitFacts are what of a unit does not change while it runs.
type unitFacts struct {
	asked  time.Time
	boxed  string // why nothing may be moved out of it; "" if it may
	follow bool   // its end may be propagated to a job (KillMode control-group or mixed)
}

// Look says where x sits, where a scope for it would go, and whether it may be
// moved at all (Origin.Refuse). An error means that this could not be learned,
// and then it must not be moved either. A process that has ended is
// proc.ErrGone.
//
// It asks the manager four to six questions, fewer for a unit that was looked
// at a moment ago.
func (s *Systemd) Look(ctx context.Context, x proc.Exec) (Origin, error) {
	if x.ID.PID <= 1 {
		return Origin{Kind: "none", Refuse: "pid 1 and the kernel's own are never moved"}, nil
	}
	path := x.Cgroup
	if path == "" {
		var err error
		if path, err = s.fs.Cgroup(x.ID.PID); err != nil {
			return Origin{}, fmt.Errorf("look where pid %d sits: %w", x.ID.PID, err)
		}
	}
	o := ParseOrigin(path)
	if o.Refuse == "" && s.self != "" && o.Unit == s.self {
		o.Refuse = "it belongs to the governor itself"
	}
	if o.Refuse != "" || o.Kind == "job" {
		return o, nil
	}
	if s.user != nil {
		why, err := s.user.mayMove(o, x, s.fs)
		if err != nil {
			return o, fmt.Errorf("look at pid %d: %w", x.ID.PID, err)
		}
		if why != "" {
			o.Refuse, o.PartOf = why, ""
			return o, nil
		}
	}
	refuse, err := s.refusal(ctx, &o, x)
	if err != nil {
		return o, fmt.Errorf("look at %q: %w", o.Unit, err)
	}
	if o.Refuse = refuse; refuse != "" {
		o.PartOf = ""
	}
	if s.user != nil {
		o = s.user.placed(o)
	}
	return o, nil
}

// refusal is why x may not be moved out of o, "" if it may. It settles
// o.PartOf on the way. The fresh questions come last, next to the move.
func (s *Systemd) refusal(ctx context.Context, o *Origin, x proc.Exec) (string, error) {
	facts, err := s.unitFacts(ctx, *o)
	if err != nil || facts.boxed != "" {
		return facts.boxed, err
	}
	if !facts.follow {
		o.PartOf = ""
	}
	if o.Kind == "service" {
		_, notifies, err := s.fs.Environ(x.ID.PID, "NOTIFY_SOCKET")
		if err != nil {
			return "", err
		}
		if notifies {
			return fmt.Sprintf("it may report to %s (NOTIFY_SOCKET), which only its own processes can", o.Unit), nil
		}
	}
	// At once, because the process stands still meanwhile: on a slow machine
	// each question takes pid 1 some 10-40 ms to get to.
	type answer struct {
		why string
		err error
	}
	state := make(chan answer, 1)
	go func() {
		why, err := s.state(ctx, *o, x.ID.PID)
		state <- answer{why, err}
	}()
	why, err := s.stopping(ctx, *o)
	if of := <-state; of.err != nil || of.why != "" {
		return of.why, of.err
	}
	return why, err
}

// state asks what changes from one moment to the next: whether a service runs,
// and which of its processes it rests on. A scope with a process in it is
// running, or has a stop job, which stopping sees.
func (s *Systemd) state(ctx context.Context, o Origin, pid int) (string, error) {
	if o.Kind != "service" {
		return "", nil
	}
	m := s.manager(o.Manager)
	props, err := m.get(ctx, o.Unit, "Unit", "ActiveState", "SubState")
	if err != nil {
		return "", err
	}
	active, _ := props["ActiveState"].(string)
	sub, _ := props["SubState"].(string)
	if active != "active" || sub != "running" {
		return fmt.Sprintf("%s is %s (%s), not running", o.Unit, active, sub), nil
	}
	props, err = m.get(ctx, o.Unit, "Service", "MainPID", "ControlPID")
	if err != nil {
		return "", err
	}
	main, ok1 := props["MainPID"].(uint32)
	control, ok2 := props["ControlPID"].(uint32)
	switch {
	case !ok1 || !ok2:
		return "", fmt.Errorf("MainPID is %v, ControlPID is %v", props["MainPID"], props["ControlPID"])
	case int(main) == pid:
		return "it is the main process of " + o.Unit, nil
	case int(control) == pid:
		return "it is the control process of " + o.Unit, nil
	}
	return "", nil
}

// unitFacts asks for the static properties of a unit, and for a user's unit
// for those of user@UID.service as well.
func (s *Systemd) unitFacts(ctx context.Context, o Origin) (unitFacts, error) {
	inode, err := s.cg.id(o.Cgroup)
	if err != nil {
		if gone(err) {
			err = proc.ErrGone
		}
		return unitFacts{}, err
	}
	key := factKey{o.Manager, o.Unit, inode}
	now := time.Now()
	s.mu.Lock()
	f, ok := s.facts[key]
	s.mu.Unlock()
	if ok && now.Sub(f.asked) < factsKept {
		return f, nil
	}
	if f, err = s.askFacts(ctx, o); err != nil {
		return unitFacts{}, err
	}
	f.asked = now
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, old := range s.facts {
		if now.Sub(old.asked) >= factsKept {
			delete(s.facts, k)
		}
	}
	s.facts[key] = f
	return f, nil
}

func (s *Systemd) askFacts(ctx context.Context, o Origin) (unitFacts, error) {
	iface := "Scope"
	if o.Kind == "service" {
		iface = "Service"
	}
	m := s.manager(o.Manager)
	props, err := m.get(ctx, o.Unit, iface)
	if err != nil {
		return unitFacts{}, err
	}
	_, tasks, err := m.itself(ctx)
	if err != nil {
		return unitFacts{}, err
	}
	kill, _ := props["KillMode"].(string)
	f := unitFacts{
		boxed:  Boxed(o.Unit, props, tasks),
		follow: kill == "control-group" || kill == "mixed",
	}
	outer := o.outerUnits()
	if f.boxed != "" || len(outer) == 0 {
		return f, nil
	}
	sys := s.manager(SystemManager)
	if props, err = sys.get(ctx, outer[0], "Service"); err != nil {
		return unitFacts{}, err
	}
	if _, tasks, err = sys.itself(ctx); err != nil {
		return unitFacts{}, err
	}
	// user@ delegates to the user's manager, which is whom we ask.
	f.boxed = Boxed(outer[0], props, tasks, "Delegate")
	return f, nil
}

// stopping says what is being stopped of the unit, of the slices above it and
// of the manager that carries it; "" if nothing is.
func (s *Systemd) stopping(ctx context.Context, o Origin) (string, error) {
	sys := s.manager(SystemManager)
	names := append([]string{o.Unit}, o.Slices()...)
	if o.Manager != SystemManager {
		jobs, err := s.manager(o.Manager).jobs(ctx)
		if err != nil {
			return "", err
		}
		if why := stopJob(jobs, names); why != "" {
			return why, nil
		}
		names = o.outerUnits()
	}
	// Once shutdown.target is reached it has no job any more.
	down := make(chan error, 1)
	going := false
	go func() {
		props, err := sys.get(ctx, "", "Manager", "SystemState")
		going = err == nil && props["SystemState"] == "stopping"
		down <- err
	}()
	jobs, err := sys.jobs(ctx)
	if err = errors.Join(err, <-down); err != nil {
		return "", err
	}
	if why := stopJob(jobs, names); why != "" {
		return why, nil
	}
	if going {
		return "the machine is going down", nil
	}
	return "", nil
}

// stopJob looks for a job that stops one of the units, or the whole manager.
func stopJob(jobs []Job, units []string) string {
	for _, j := range jobs {
		switch j.Type {
		case "stop", "restart", "try-restart":
			if slices.Contains(units, j.Unit) {
				return fmt.Sprintf("%s is being stopped (%s job)", j.Unit, j.Type)
			}
		case "start":
			if j.Unit == "shutdown.target" || j.Unit == "exit.target" {
				return "its manager is going down"
			}
		}
	}
	return ""
}

// isGone reports whether err says that the process has ended.
func isGone(err error) bool { return errors.Is(err, proc.ErrGone) }
