package contain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

const (
	// callsInFlight bounds what one manager is asked at once. pid 1 serves
	// everybody else with the same single thread.
	callsInFlight = 2

	// callTimeout bounds one question to a manager, jobTimeout a start with
	// its job. systemd's own patience with a start job is 90 s, which is
	// longer than anybody should be kept waiting by us.
	callTimeout = 5 * time.Second
	jobTimeout  = 5 * time.Second
)

// SystemdOptions say where Systemd finds the kernel's files and the managers.
// The zero value is the running machine.
type SystemdOptions struct {
	FS         proc.FS
	CgroupRoot string // "" = the cgroup2 mount named in /proc/self/mountinfo
	Log        *slog.Logger
	Dial       func(ctx context.Context, manager string) (Bus, error) // nil = the private sockets

	uid int // who this governor is; set by NewSystemd, so that a test is root
}

// Systemd places jobs in transient scopes. Its methods may be called from
// several goroutines; those with a context may wait for a manager.
//
// Its placeholders live until Release or Close; a Systemd that is not closed
// keeps one thread.
type Systemd struct {
	scopes
	dial func(ctx context.Context, manager string) (Bus, error)
	self string  // the unit that the governor runs in
	user *ofUser // nil: root, who asks pid 1

	mu       sync.Mutex
	managers map[string]*manager
	facts    map[factKey]unitFacts
	memory   bool
}

// NewSystemd connects to the system manager. The error wraps
// errors.ErrUnsupported, with what is missing, where this tier cannot be had.
func NewSystemd(ctx context.Context, o SystemdOptions) (*Systemd, error) {
	o.uid = os.Geteuid()
	if o.Dial == nil {
		p := Probe(o.CgroupRoot)
		if err := errors.Join(p.Systemd, p.Unified); err != nil {
			return nil, err
		}
		o.CgroupRoot = p.CgroupRoot
	}
	k, err := newKeeper(o.FS)
	if err != nil {
		return nil, err
	}
	s, err := newSystemd(ctx, o, k)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func newSystemd(ctx context.Context, o SystemdOptions, hold placeholders) (*Systemd, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Systemd{
		scopes: newScopes(o.FS, o.CgroupRoot, o.Log, hold), dial: o.Dial,
		managers: make(map[string]*manager),
		facts:    make(map[factKey]unitFacts),
		memory:   memoryController(cgroups{o.CgroupRoot}) == nil,
		user:     userOf(o.uid),
	}
	s.move = s.moveAs
	if s.dial == nil {
		s.dial = s.dialPrivate
	}
	if own, err := o.FS.Cgroup(os.Getpid()); err == nil {
		// A governor that was started by hand shares its session's scope with
		// what else is started there.
		if at := ParseOrigin(own); at.Kind == "service" {
			s.self = at.Unit
		}
	}
	if _, err := s.manager(s.home()).version(ctx); err != nil {
		return nil, fmt.Errorf("ask systemd for its version: %w", err)
	}
	return s, nil
}

// manager returns the one of that name. It is connected at its first call.
func (s *Systemd) manager(name string) *manager {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.managers[name]
	if m == nil {
		m = &manager{name: name, dial: s.dial, turns: make(chan struct{}, callsInFlight)}
		s.managers[name] = m
	}
	return m
}

// dialPrivate connects to a manager's private socket. A user's must be
// listened on by the process that pid 1 started as that user's manager.
func (s *Systemd) dialPrivate(ctx context.Context, name string) (Bus, error) {
	if name == SystemManager {
		return dialManager(ctx, name, 0)
	}
	uid, ok := managerUID(name)
	if !ok {
		return nil, fmt.Errorf("connect to manager %q: no such kind of manager", name)
	}
	if s.user != nil {
		return dialManager(ctx, name, 0) // its owner is checked, and it is ours
	}
	unit := "user@" + strconv.FormatUint(uint64(uid), 10) + ".service"
	props, err := s.manager(SystemManager).get(ctx, unit, "Service", "MainPID")
	if err != nil {
		return nil, fmt.Errorf("ask for the manager of uid %d: %w", uid, err)
	}
	pid, _ := props["MainPID"].(uint32)
	if pid == 0 {
		return nil, fmt.Errorf("%s is not running", unit)
	}
	return dialManager(ctx, name, int(pid))
}

// Describe says in one line what jobs are put in.
func (s *Systemd) Describe() string {
	v, err := s.manager(s.home()).version(context.Background())
	if err != nil {
		v = "?"
	}
	line := "systemd " + v
	if s.user != nil {
		line += fmt.Sprintf(", the service manager of uid %d (its own processes alone)", s.user.uid)
		if !s.user.lingers() {
			line += "; without lingering it ends with the last session (loginctl enable-linger)"
		}
	}
	line += ", scopes in the unified hierarchy at " + s.cg.root
	if !s.memory {
		line += ", no memory controller: caps are not enforced by the kernel"
	}
	return line
}

// MemoryController reports whether the kernel enforces memory.max here.
func (s *Systemd) MemoryController() bool { return s.memory }

// Close ends all placeholders and connections. Scopes in which something
// still runs stay, with their limits.
func (s *Systemd) Close() error {
	s.hold.close()
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.managers))
	s.mu.Unlock()
	// Without the lock: a manager that is being connected asks for another.
	for _, m := range all {
		m.close()
	}
	return nil
}
