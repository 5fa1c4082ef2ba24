package governor

import (
	"errors"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/governor/watchdog"
)

// fakeRules know a handful of programs by name.
type fakeRules struct{}

func (fakeRules) Argv(c classifier.Command) classifier.Verdict {
	v := classifier.Verdict{Class: classifier.Heavy, Capture: true, Reason: "it is heavy", Remedy: "give it less to do"}
	switch name := path.Base(c.Argv[0]); name {
	case "npm", "make", "pytest":
		v.Family, v.Rule = name, name+".run"
	case "cc1", "ld":
		v.Family, v.Rule, v.Kind = "gcc", "gcc."+name, classifier.Compiler
	case "apt":
		v.Family, v.Rule, v.Kind = "apt", "apt.install", classifier.PackageManager
	case "claude":
		v.Family, v.Rule, v.Kind, v.Capture = "agent", "agent.claude", classifier.Supervisor, false
	default:
		return classifier.Verdict{Class: classifier.Light}
	}
	return v
}

// fakeMemory is what the machine is said to have.
type fakeMemory struct {
	mu      sync.Mutex
	reading watchdog.Reading
	live    *fakeProc // what its processes have is taken off; nil: it is as it was set
	dip     int64     // is told for the next dips readings
	dips    int
	err     error
}

// machineOf1GB has 960 MB, of which 700 are available, and no swap.
func machineOf1GB() *fakeMemory {
	return &fakeMemory{reading: watchdog.Reading{MemTotal: 960 << 20, MemAvailable: 700 << 20}}
}

func (m *fakeMemory) Read() (watchdog.Reading, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.reading
	if m.live != nil {
		r.MemAvailable = max(r.MemAvailable-m.live.bytes(), 0)
	}
	if m.dips > 0 {
		m.dips--
		r.MemAvailable = m.dip
	}
	return r, m.err
}

func (m *fakeMemory) fail() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = errors.New("no meminfo")
}

// fakeSight is a source that loses what it is told to.
type fakeSight struct {
	tell func(format string, args ...any)

	mu      sync.Mutex
	status  SourceStatus
	ignored map[uint64]string
	scanned []uint64
	err     error // of Ignore and Attend
}

func (s *fakeSight) Ignore(id uint64, cgroup string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell("ignore %s", path.Base(cgroup))
	s.ignored[id] = cgroup
	return s.err
}

func (s *fakeSight) Attend(id uint64) error {
	time.Sleep(time.Millisecond) // not at once with what another placer does
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell("attend %s", path.Base(s.ignored[id]))
	delete(s.ignored, id)
	return s.err
}

func (s *fakeSight) Scan(since uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell("scan")
	s.scanned = append(s.scanned, since)
}

func (s *fakeSight) Status() SourceStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// scans are the ticks that scans were ordered from.
func (s *fakeSight) scans() []uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]uint64(nil), s.scanned...)
}

func (s *fakeSight) lose(n uint64) { s.with(func(st *SourceStatus) { st.Lost += n }) }

func (s *fakeSight) with(do func(*SourceStatus)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(&s.status)
}

// fakeLedger keeps records, and puts them on the time line.
type fakeLedger struct {
	tellRecord func(journal.Record)
	mu         sync.Mutex
	all        []journal.Record
}

func (l *fakeLedger) Add(r journal.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, r)
	l.tellRecord(r)
}

// of are the records of one event.
func (l *fakeLedger) of(event string) []journal.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	var some []journal.Record
	for _, r := range l.all {
		if r.Event == event {
			some = append(some, r)
		}
	}
	return some
}

// events are the events told so far, in order.
func (l *fakeLedger) events() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var words []string
	for _, r := range l.all {
		words = append(words, r.Event)
	}
	return strings.Join(words, " ")
}

// fakeCatch is a process in the hands of a tracer that lets go after a bound.
type fakeCatch struct {
	pid   int
	tell  func(format string, args ...any)
	since time.Time
	bound *time.Timer
	done  chan struct{}

	mu       sync.Mutex
	stopped  bool
	late     bool
	released int
	lasted   time.Duration
}

// fakeBound is how long the fake tracer waits for a word, as the real one.
const fakeBound = 250 * time.Millisecond

// newFakeCatch stops a process; running says that it could not be stopped.
func newFakeCatch(pid int, running bool, tell func(string, ...any)) *fakeCatch {
	c := &fakeCatch{pid: pid, tell: tell, since: time.Now(), done: make(chan struct{}), stopped: !running}
	if running {
		close(c.done)
		return c
	}
	c.bound = time.AfterFunc(fakeBound, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.stopped {
			c.late = true
			c.end("late")
		}
	})
	return c
}

// end ends the stop; the caller holds the lock.
func (c *fakeCatch) end(how string) {
	c.stopped, c.lasted = false, time.Since(c.since)
	c.tell("%d runs on: %s", c.pid, how)
	close(c.done)
}

func (c *fakeCatch) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.released++
	if c.stopped {
		c.bound.Stop()
		c.end("let go")
	}
}

// Progress puts the bound off, to four bounds in all.
func (c *fakeCatch) Progress() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		c.bound.Reset(min(fakeBound, 4*fakeBound-time.Since(c.since)))
	}
}

func (c *fakeCatch) Stopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopped
}

func (c *fakeCatch) Late() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.late
}

func (c *fakeCatch) Done() <-chan struct{} { return c.done }

func (c *fakeCatch) StoppedFor() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lasted
}

func (c *fakeCatch) releases() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.released
}
