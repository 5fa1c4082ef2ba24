package governor

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/governor/watchdog"
	"github.com/headroomd/headroomd/loader/proc"
)

// Options are what a governor is made of. All are required but those that say
// otherwise.
type Options struct {
	Version string
	Config  Config
	Rules   Rules
	FS      proc.FS
	Memory  Memory
	Ledger  Ledger
	Sight   Sight
	Backend Backend
	Contain ContainStatus // as the probes found it
	Machine bool          // guards the whole machine, not one user
	UID     uint32        // whose, where it is not the machine
	Log     *slog.Logger
	Alive   func() // called at each turn of the loop's clock; nil: nobody asks

	// Notes speak to the callers; nil: nobody does.
	Notes Notes
	// PeakFile keeps the learned peaks over a restart; "": they are lost.
	PeakFile string
	// HeldFile keeps since when jobs wait; "": after a restart they wait anew.
	HeldFile string
	// KeepHeld leaves what waits frozen when the governor stops: somebody else
	// takes it over or lets it go (a service manager's ExecStopPost).
	KeepHeld bool
	// Containers caps the containers that jobs run in; nil: they are only recorded.
	Containers Containers
	// Trees ends what grew and has no scope; nil: nobody does.
	Trees Trees
	// Cgroups is the mount of the unified hierarchy; "" for none.
	Cgroups string
	// Stalls has a word for each time that the kernel tells of a stall for want
	// of memory; nil: nobody asked it to.
	Stalls <-chan struct{}
	// Exe is the governor's own binary, as /proc/PID/exe has it; "" unknown.
	Exe string
	// Judge is told which jobs are quiet, so that it finds what is heavy in
	// them; nil: what runs in a quiet job is that job.
	Judge *Judge
	// Guards finds the other programs that act on memory here, for status and
	// the first record; criticalMB is the line below which this one acts, -1 not
	// known. It is called outside the loop; nil: nobody looks.
	Guards func(criticalMB int64) []GuardStatus
	// Beside names them in a few words, as they were at the start.
	Beside string
}

// Governor is the one loop that owns jobs and budget. Everything that can
// block (the bus, cgroup writes, sampling, the process table's walk for
// status) is done elsewhere and comes back as a message.
type Governor struct {
	o     Options
	since time.Time

	found    chan caughtFinding
	outcomes chan outcome
	samples  chan []sample
	asks     chan func()
	orders   chan order
	// Placings that a user's own manager carries out. A user can make his hang;
	// then it is his jobs that wait for it, and nobody else's.
	userOrders chan order
	// Ends of jobs, each of which may last its grace.
	stopOrders chan order
	over       chan struct{} // closed when the loop takes no more
	overflow   atomic.Uint64 // findings dropped because the loop was behind

	// Of the loop alone.
	jobs      map[string]*job
	recent    []JobStatus // the last jobs that ended, newest last
	book      admission.Book
	peaks     *admission.Peaks
	crowd     crowd
	fast      *time.Timer // the second clock
	capped    time.Time   // when the caps were last looked at
	hurrying  bool        // it goes
	keeper    *keeper
	peaksNew  bool
	peaksKept time.Time
	lost      uint64 // of the source, as of the last turn
	dropped   uint64 // of overflow, as of the last turn
	scans     uint64
	lastTurn  uint64           // clock tick of the last turn: a loss happened after it
	reading   watchdog.Reading // of readAt
	readAt    time.Time
	told      *told
	sampler   *sampler
	sampling  bool // a sampling is under way
	stopping  bool // no more orders are taken
	guard     guard
}

type caughtFinding struct {
	Finding
	catch Catch
	why   string // it joins the job that it waits for
}

// maxFound is how many findings may wait for the loop: 100 ms of them, at some
// 100 µs each. What comes beyond is let go, counted and found by a scan.
const maxFound = 1024

// turn is the period of the loop's clock: counters, samples, endings. One
// wake-up a second keeps an idle daemon far below 0.1 % of a core.
const turn = time.Second

// recentJobs is how many ended jobs status still tells of.
const recentJobs = 8

// New makes a governor; Run starts it.
func New(o Options) *Governor {
	return &Governor{
		o:          o,
		since:      time.Now(),
		found:      make(chan caughtFinding, maxFound),
		outcomes:   make(chan outcome, 2*placers),
		samples:    make(chan []sample, 1),
		asks:       make(chan func()),
		orders:     make(chan order, maxOrders),
		userOrders: make(chan order, maxOrders),
		stopOrders: make(chan order, maxOrders),
		over:       make(chan struct{}),
		keeper:     newKeeper(replaceFile),
		jobs:       make(map[string]*job),
		peaks:      new(admission.Peaks),
		told:       newTold(),
		sampler:    &sampler{backend: o.Backend, fs: o.FS, boxes: o.Containers},
		guard:      guard{looks: make(chan tableLook, 1)},
	}
}

// Found takes a finding from the tracer's thread; it never blocks. When the
// loop is too far behind the process is let go at once, and a scan follows.
func (g *Governor) Found(f Finding, c Catch) {
	select {
	case g.found <- caughtFinding{Finding: f, catch: c}:
	default:
		letGo(c)
		g.overflow.Add(1)
	}
	select {
	case <-g.over: // the source outlives the loop
		g.clear()
	default:
	}
}

// clear lets go of what waits to be taken.
func (g *Governor) clear() {
	for {
		select {
		case f := <-g.found:
			letGo(f.catch)
		default:
			return
		}
	}
}

// Run is the loop. It returns when ctx has ended and everything held is let go.
func (g *Governor) Run(ctx context.Context) error {
	work := &placer{backend: g.o.Backend, sight: g.o.Sight, fs: g.o.FS, log: g.o.Log, now: time.Now, trees: g.o.Trees,
		boxes: g.o.Containers, prefer: func(id proc.ID) error { return contain.RaiseTree(g.o.FS, id) }}
	var wg sync.WaitGroup
	for range placers {
		wg.Go(func() { work.run(ctx, g.orders, g.outcomes) })
		wg.Go(func() { work.run(ctx, g.userOrders, g.outcomes) })
		wg.Go(func() { work.run(ctx, g.stopOrders, g.outcomes) })
	}
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		g.keeper.run(g.o.Log)
	}()
	g.fast = time.NewTimer(time.Hour)
	g.fast.Stop()
	g.start(ctx)
	g.startGuard()

	clock := time.NewTicker(turn)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			g.stop(&wg, kept)
			return nil
		case f := <-g.found:
			g.take(f)
		case out := <-g.outcomes:
			g.settle(out)
		case all := <-g.samples:
			g.measure(all)
		case ask := <-g.asks:
			ask()
		case <-g.fast.C:
			g.fastTick(ctx)
		case <-g.guard.clock.C:
			g.guardTurn(ctx)
		case <-g.o.Stalls:
			g.guardTurn(ctx)
		case l := <-g.guard.looks:
			g.looked(l)
		case <-clock.C:
			g.tick(ctx)
		}
	}
}

// start tells what the governor begins with and takes over the jobs that an
// earlier one left.
func (g *Governor) start(ctx context.Context) {
	src := g.o.Sight.Status()
	reason := fmt.Sprintf("%s: source %s (%s); containment %s (%s)", g.o.Config.Mode, src.Name, src.Why,
		g.o.Contain.Name, g.o.Contain.Why)
	if g.o.Beside != "" {
		reason += "; beside " + g.o.Beside
	}
	g.record(journal.Record{Event: journal.Started, Source: src.Name, Reason: reason})
	if g.o.PeakFile != "" {
		g.peaks = loadPeaks(g.o.PeakFile, g.o.Log)
	}
	g.recoverBoxes()
	if g.enforces() {
		g.adopt(ctx)
	} else {
		g.letLeftGo(ctx)
	}
	g.lost = src.Lost
	g.lastTurn = TicksNow()
	// What began while nobody looked (a restart after a crash takes a second or
	// two) is found by a scan. Older commands ran before there was a governor
	// and are left to run.
	g.scan(g.lastTurn - min(g.lastTurn, uint64(startScan.Seconds()*clockTicks)))
}

// startScan is how far back the scan at the start looks.
const startScan = 30 * time.Second

// stop lets go of everything: what waits to be taken, what is ordered, what is
// being placed. Jobs go on in their scopes.
func (g *Governor) stop(wg *sync.WaitGroup, kept <-chan struct{}) {
	g.stopping = true
	close(g.over)
	close(g.orders)
	close(g.userOrders)
	close(g.stopOrders)
	g.keepPeaks(time.Now())
	g.keeper.close()
	g.fast.Stop()
	g.guard.clock.Stop()
	g.letHeldGo() // first: the placers may take their time
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for {
		select {
		case f := <-g.found:
			letGo(f.catch)
			continue
		case out := <-g.outcomes:
			g.settle(out)
			continue
		case <-done:
		}
		break
	}
	for len(g.outcomes) > 0 {
		g.settle(<-g.outcomes)
	}
	if g.sampling { // what it reads is closed after the loop
		<-g.samples
	}
	g.unboxAll()
	if g.guard.looking {
		<-g.guard.looks
	}
	g.clear()
	running, waiting := g.partHeld()
	reason := fmt.Sprintf("the governor stops; %d running jobs keep their caps", running)
	switch {
	case waiting > 0 && g.o.KeepHeld:
		reason += fmt.Sprintf("; %d that wait are left to the next governor", waiting)
	case waiting > 0:
		reason += fmt.Sprintf("; %d that waited are let go", waiting)
	}
	g.record(journal.Record{Event: journal.Stopped, Reason: reason})
	select {
	case <-kept:
	case <-time.After(keepWait):
		g.o.Log.Warn("what is kept over a restart is not written: the disk does not answer", "waited", keepWait)
	}
}

// keepWait is how long the end of the governor waits for the disk. By then
// nothing is held any more.
const keepWait = 2 * time.Second

// tick is the loop's clock: losses, endings, samples.
func (g *Governor) tick(ctx context.Context) {
	if g.o.Alive != nil {
		g.o.Alive()
	}
	g.checkLoss()
	now := time.Now()
	for _, j := range g.inOrder() {
		if j.state == Lingering && now.Sub(j.entered) >= linger {
			g.finish(j, stepLingered, "")
		}
		g.recapJob(j)
		g.stopNow(j)
		g.unbox(j)
	}
	g.told.forget(now)
	g.crowd.forget(now)
	g.sweep(now)
	g.look()
	g.easeLate()
	g.keepPeaks(now)
	g.sample(ctx)
}

// checkLoss orders a scan when the source or this loop lost something since
// the last turn.
func (g *Governor) checkLoss() {
	lost, dropped := g.o.Sight.Status().Lost, g.overflow.Load()
	n := (lost - g.lost) + (dropped - g.dropped)
	if lost < g.lost { // another source took over and counts from nothing
		n = lost + (dropped - g.dropped)
	}
	if n > 0 {
		g.record(journal.Record{Event: journal.Lost, LostEvents: n,
			Reason: fmt.Sprintf("%d exec events were lost; the process table is scanned for what they told", n)})
		g.scan(g.lastTurn - min(g.lastTurn, clockTicks))
	}
	g.lost, g.dropped = lost, dropped
	g.lastTurn = TicksNow()
}

func (g *Governor) scan(since uint64) {
	g.scans++
	g.o.Sight.Scan(since)
}

func (g *Governor) record(r journal.Record) {
	if r.Time.IsZero() {
		r.Time = time.Now()
	}
	g.o.Ledger.Add(r)
}

func (g *Governor) enforces() bool { return g.o.Config.Mode == ModeEnforce && g.o.Config.Isolate }
