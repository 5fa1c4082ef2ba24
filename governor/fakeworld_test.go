package governor

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/loader/proc"
)

// world is a governor with a machine around it. It lives in a synctest bubble,
// so its time is what the test says.
type world struct {
	t       *testing.T
	proc    *fakeProc
	backend *fakeBackend
	trees   *fakeTrees
	sight   *fakeSight
	ledger  *fakeLedger
	memory  *fakeMemory
	log     *logLines
	judge   *Judge
	gov     *Governor

	cancel context.CancelFunc
	ended  chan struct{}

	mu      sync.Mutex
	began   time.Time
	line    []string
	catches []*fakeCatch
	askers  map[int]func()    // ends of those who asked to run
	names   map[string]string // job ids as the time line has them
}

const session = "/user.slice/user-1000.slice/session-2.scope"

// shell is the pid of the interactive shell that every world has.
const shell = 100

// inWorld runs a test in a bubble: a machine of 1 GB with a login shell. At the
// end the governor is stopped and nothing may be held any more.
func inWorld(t *testing.T, set func(*Options), test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, set)
		w.start()
		test(w)
		w.stop()
	})
}

func newWorld(t *testing.T, set func(*Options)) *world {
	w := &world{t: t, proc: newFakeProc(t), memory: machineOf1GB(), log: &logLines{},
		began: time.Now(), names: make(map[string]string), askers: make(map[int]func())}
	w.backend = &fakeBackend{proc: w.proc, tell: w.act, placeTakes: 50 * time.Millisecond,
		joinTakes: 20 * time.Millisecond, stopTakes: 3 * time.Millisecond, scopes: make(map[string]*fakeScope)}
	w.trees = &fakeTrees{proc: w.proc, tell: w.act, takes: 109 * time.Millisecond}
	w.sight = &fakeSight{tell: w.act, ignored: make(map[uint64]string), status: SourceStatus{Name: "bpf", Why: "it is the best"}}
	w.ledger = &fakeLedger{tellRecord: w.recorded}
	w.proc.add(fakeProcess{pid: 1, comm: "systemd", argv: []string{"/sbin/init"}, exe: "/usr/lib/systemd/systemd"})
	w.proc.add(fakeProcess{pid: shell, ppid: 1, pgid: shell, argv: []string{"bash"}, exe: "/usr/bin/bash", uid: 1000, login: 1000, cgroup: session})
	o := Options{
		Version: "test", Config: Default(), Rules: fakeRules{}, FS: w.proc.fs(), Memory: w.memory,
		Ledger: w.ledger, Sight: w.sight, Backend: w.backend, Machine: true,
		Contain: ContainStatus{Name: "systemd", Why: "fake", MemoryController: true, Catch: true},
		Log:     newLog(w.log),
	}
	if set != nil {
		set(&o)
	}
	w.judge = NewJudge(o.FS, o.Rules, 99)
	o.Judge = w.judge
	o.Notes = fakeNotes{w.act}
	o.Trees = w.trees
	w.gov = New(o)
	return w
}

func (w *world) start() {
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel, w.ended = cancel, make(chan struct{})
	go func() {
		defer close(w.ended)
		if err := w.gov.Run(ctx); err != nil {
			w.t.Errorf("Run: %v", err)
		}
	}()
	synctest.Wait()
}

// stop ends the governor and sees to it that it left nothing behind.
func (w *world) stop() {
	w.t.Helper()
	w.cancel()
	<-w.ended
	w.mu.Lock()
	catches := w.catches
	w.mu.Unlock()
	for _, c := range catches {
		if c.releases() == 0 {
			w.t.Errorf("the catch of %d was never released", c.pid)
		}
		if c.Stopped() {
			w.t.Errorf("%d stands still for ever", c.pid)
		}
	}
	if left := w.backend.stranded(); len(left) > 0 && !w.gov.o.KeepHeld {
		w.t.Errorf("frozen for ever: %v", left)
	}
	if s := w.log.String(); strings.Contains(s, "level=ERROR") {
		w.t.Errorf("errors were logged:\n%s", s)
	}
	if w.t.Failed() {
		w.t.Logf("time line:\n%s", w.timeline())
	}
}

// spawn makes a process below the shell, in a group of its own as a shell does.
func (w *world) spawn(pid int, argv ...string) { w.fork(pid, shell, pid, argv...) }

// fork makes a process that has yet to exec.
func (w *world) fork(pid, ppid, pgid int, argv ...string) {
	w.t.Helper()
	w.proc.add(fakeProcess{pid: pid, ppid: ppid, pgid: pgid, argv: argv, exe: "/usr/bin/" + argv[0]})
}

// caught spawns a command and has it stopped by the tracer.
func (w *world) caught(pid int, argv ...string) *fakeCatch {
	w.t.Helper()
	w.spawn(pid, argv...)
	return w.tracer(pid, false)
}

// caughtOf is caught for a command of another login.
func (w *world) caughtOf(uid uint32, pid int, argv ...string) *fakeCatch {
	w.t.Helper()
	w.proc.add(fakeProcess{pid: pid, ppid: 1, pgid: pid, argv: argv, exe: "/usr/bin/" + argv[0], uid: uid, login: uid, cgroup: session})
	return w.tracer(pid, false)
}

// reload puts other settings in force while the governor runs.
func (w *world) reload(s statement) {
	w.t.Helper()
	if w.ended == nil {
		return // before the start
	}
	c := w.gov.o.Config
	c.Mode = s.word("mode", c.Mode)
	s.configure(&c)
	if err := w.gov.Reload(w.t.Context(), c, w.gov.o.Rules); err != nil {
		w.t.Error(err)
	}
}

// tracer does what the tracer's thread does at an exec. Nil: it is no finding.
func (w *world) tracer(pid int, running bool) *fakeCatch {
	w.t.Helper()
	x := proc.Exec{ID: proc.ID{PID: pid}, Source: "bpf", Seen: time.Now()}
	f, ok := w.judge.Look(&x)
	if !ok {
		return nil
	}
	if f.Leave != "" {
		w.gov.Found(f, nil)
		return nil
	}
	c := newFakeCatch(pid, running, w.act)
	w.mu.Lock()
	w.catches = append(w.catches, c)
	w.mu.Unlock()
	w.gov.Found(f, c)
	return c
}

// found tells of an exec that nobody could stop.
func (w *world) found(pid int, late bool) {
	w.t.Helper()
	x := proc.Exec{ID: proc.ID{PID: pid}, Source: "poll", Seen: time.Now(), Late: late}
	if f, ok := w.judge.Look(&x); ok {
		w.gov.Found(f, nil)
	}
}

// after lets time pass.
func (w *world) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) act(format string, args ...any) { w.write("  " + fmt.Sprintf(format, args...)) }

func (w *world) recorded(r journal.Record) { w.write(recordLine(r)) }

var jobIDs = regexp.MustCompile(`\b([a-z]+)-[0-9a-f]{8}\b`)

// write adds a line to the time line. Jobs are numbered there: their ids are
// made by chance.
func (w *world) write(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text = jobIDs.ReplaceAllStringFunc(text, func(id string) string {
		if w.names[id] == "" {
			family, _, _ := cutLast(id, "-")
			w.names[id] = fmt.Sprintf("%s#%d", family, len(w.names)+1)
		}
		return w.names[id]
	})
	w.line = append(w.line, fmt.Sprintf("%7.3f %s", time.Since(w.began).Seconds(), text))
}

func (w *world) timeline() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.line, "\n") + "\n"
}

// job is the only job that there is.
func (w *world) job() JobStatus {
	w.t.Helper()
	s := w.snapshot()
	if len(s.Jobs) != 1 {
		w.t.Fatalf("%d jobs, want one:\n%s", len(s.Jobs), w.timeline())
	}
	return s.Jobs[0]
}

func (w *world) snapshot() Snapshot {
	w.t.Helper()
	s, err := w.gov.Snapshot(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// wantEvents compares the events told so far; the started one is left out.
func (w *world) wantEvents(want string) {
	w.t.Helper()
	if got := strings.TrimPrefix(w.ledger.events(), "started"); strings.TrimSpace(got) != want {
		w.t.Errorf("events:\n got %s\nwant %s", strings.TrimSpace(got), want)
	}
}

func newLog(l *logLines) *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// slots is how many slots are in use.
func (w *world) slots() (n int) {
	w.t.Helper()
	if err := w.gov.do(w.t.Context(), func() { n = w.gov.book.Slots() }); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// machineOf is the memory of the machine as admission has it.
func machineOf(t *testing.T, w *world) admission.Machine {
	t.Helper()
	r, err := w.memory.Read()
	if err != nil {
		t.Fatal(err)
	}
	return MachineOf(r)
}

// logLines are what the governor logged.
type logLines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
