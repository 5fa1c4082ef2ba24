package governor

import (
	"context"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/governor/note"
	"github.com/headroomd/headroomd/loader/proc"
)

// sample is one reading of one job.
type sample struct {
	job   string
	usage contain.Usage
	note  string    // what left the scope, or changed it; empty when all is as it was set
	limit uint64    // memory.max that was set when it was read
	began time.Time // the reading began then: what was done since is not in it

	box   boxRead    // of a job in a container
	roots []rootRead // likewise

	signalled bool // signals were read
	signals   contain.Signals
}

// sampled is what the sampler needs to know of a job.
type sampled struct {
	job   string
	root  proc.ID
	scope contain.Scope
	check bool      // read back what was set, too
	waits bool      // it stands still: its signals, too
	brief bool      // no scope: only whether its root lives
	box   string    // the cgroup of the container that it stays in
	roots []proc.ID // likewise: its commands
}

// sampler reads jobs off the loop: some 50 µs a scope, and a walk of the
// process table where there is none.
type sampler struct {
	backend Backend
	fs      proc.FS
	boxes   Containers
}

func (s *sampler) read(ctx context.Context, jobs []sampled) []sample {
	all := make([]sample, 0, len(jobs))
	began := time.Now()
	for _, j := range jobs {
		m := sample{job: j.job, limit: j.scope.MemoryMax, began: began}
		if j.waits && j.scope.Cgroup != "" {
			m.signals, m.signalled = s.backend.Signals(j.scope), true
		}
		if j.box != "" {
			s.readBox(j, &m)
		} else if j.scope.Cgroup != "" {
			m.usage = s.backend.Usage(j.scope)
			if j.check && !m.usage.Gone {
				_, m.note = s.backend.Check(ctx, j.scope)
			}
		} else if !j.brief {
			m.usage = s.tree(j.root)
			if u := s.backend.Usage(j.scope); j.scope.SoftCap && u.OOMKills >= 0 {
				m.usage.OOMKills, m.usage.Peak, m.usage.SoftKill = u.OOMKills, u.Peak, u.SoftKill
			}
		} else if m.usage = noUsage(); s.lives(j.root) {
			m.usage.Procs = []int{j.root.PID}
		}
		all = append(all, m)
	}
	return all
}

// tree reads a job that has no scope: the sum over its root's descendants.
// Pages that several of them share are counted for each, and the CPU time of
// those that have ended is not: a job that loses one counts as busy.
func (s *sampler) tree(root proc.ID) contain.Usage {
	u := noUsage()
	if !s.lives(root) {
		return u
	}
	ids := []proc.ID{root}
	if below, err := s.fs.Descendants(root.PID); err == nil {
		ids = append(ids, below...)
	}
	for _, id := range ids {
		m, err := s.fs.Memory(id.PID)
		if err != nil {
			continue
		}
		if st, err := s.fs.Stat(id.PID); err == nil {
			u.CPUUsec = max(u.CPUUsec, 0) + int64(st.UTime+st.STime)*(1e6/clockTicks)
		}
		u.Procs = append(u.Procs, id.PID)
		u.Working = max(u.Working, 0) + max(m.RssAnon, 0) + max(m.RssShmem, 0)
		u.Current = max(u.Current, 0) + max(m.RssAnon, 0) + max(m.RssShmem, 0) + max(m.RssFile, 0)
	}
	return u
}

// noUsage is a reading in which nothing is known.
func noUsage() contain.Usage {
	return contain.Usage{Current: -1, Swap: -1, Peak: -1, Working: -1, OOMKills: -1, CPUUsec: -1}
}

func (s *sampler) lives(id proc.ID) bool {
	st, err := s.fs.Stat(id.PID)
	return err == nil && st.ID == id && st.State != 'Z'
}

// checkEvery is how often what was set is read back; the first time is the
// first sample after the placing, since systemd may have had second thoughts.
const checkEvery = 10 * time.Second

// sample starts a reading of every job unless one is under way.
func (g *Governor) sample(ctx context.Context) {
	now := time.Now()
	g.read(ctx, func(j *job) (sampled, bool) {
		if !j.runs() && !j.stands() {
			return sampled{}, false
		}
		check := now.Sub(j.checked) >= checkEvery
		if check {
			j.checked = now
		}
		return j.boxedIn(sampled{job: j.id, root: j.root, scope: j.scope, check: check && j.runs(), waits: j.stands(),
			brief: j.observed && !check}), true
	})
}

// sampleFast starts a reading of what waits, and of those whose end it waits for.
func (g *Governor) sampleFast(ctx context.Context) {
	g.read(ctx, func(j *job) (sampled, bool) {
		return j.boxedIn(sampled{job: j.id, root: j.root, scope: j.scope, waits: j.stands(), brief: true}), j.runs() || j.stands()
	})
}

func (g *Governor) read(ctx context.Context, which func(*job) (sampled, bool)) {
	if g.sampling || len(g.jobs) == 0 {
		return
	}
	jobs := make([]sampled, 0, len(g.jobs))
	for _, j := range g.inOrder() {
		if s, ok := which(j); ok {
			jobs = append(jobs, s)
		}
	}
	if len(jobs) == 0 {
		return
	}
	g.sampling = true
	go func() { g.samples <- g.sampler.read(ctx, jobs) }()
}

// measure takes in the readings.
func (g *Governor) measure(all []sample) {
	g.sampling = false
	ran := false
	for _, m := range all {
		j := g.jobs[m.job]
		switch {
		case j == nil:
		case j.stands():
			g.measureHeld(j, m)
		case j.runs():
			ran = true
			g.measureRunning(j, m)
		}
	}
	// Half a turn: the clocks do not go in step.
	if now := time.Now(); ran && now.Sub(g.capped) >= turn/2 {
		g.capped = now
		g.recap()
	}
	g.look()
}

func (g *Governor) measureRunning(j *job, m sample) {
	if m.note != "" && m.note != j.note && j.busy == "" && m.limit == j.scope.MemoryMax {
		j.note = m.note
		r := g.about(j)
		r.Event, r.Reason = journal.Changed, m.note
		g.record(r)
	}
	if m.usage.Gone && j.isolated {
		g.finish(j, stepGone, "its scope was removed")
		return
	}
	if m.usage.Unread {
		return // not known to be empty
	}
	if j.box != nil && !g.measureBox(j, m) {
		return
	}
	g.note(j, m.usage)
	g.book.Use(j.id, j.memoryMB)
	if j.state != Lingering && len(m.usage.Procs) > 0 {
		g.calm(j, m.usage)
	}
	switch empty := len(m.usage.Procs) == 0; {
	case empty && j.state != Lingering && (!j.isolated && j.box == nil || j.isolated && j.joining == 0 && (j.run != nil || j.stopped)):
		// Without a scope there is nothing to join; who asked waits for its end;
		// and to what was ended nothing is to be added.
		g.advance(j, stepEmpty)
		g.finish(j, stepLingered, "")
	case empty && j.state != Lingering:
		g.advance(j, stepEmpty)
	case !empty && j.state == Lingering:
		g.advance(j, stepJoined)
	}
}

// note keeps what a reading says, and tells of kernel OOM kills in the scope.
func (g *Governor) note(j *job, u contain.Usage) {
	j.processes, j.pids = len(u.Procs), u.Procs
	if u.Working >= 0 {
		j.memoryMB = u.Working >> 20
		j.peakMB = max(j.peakMB, j.memoryMB)
	}
	if u.OOMKills <= j.oomKills {
		return
	}
	// memory.peak counts page cache, so it says little of an ordinary job; of
	// one that hit its cap it says what it hit, which no sample may have seen.
	if u.Peak > 0 {
		j.peakMB = max(j.peakMB, u.Peak>>20)
	}
	r := g.about(j)
	r.Event, r.OOMKills, r.MemoryCapMB, r.SwapCapMB, r.PeakMB = journal.OOMKill, u.OOMKills, j.capMB, j.swapMB, j.peakMB
	r.Reason = "it outgrew its cap and the kernel killed its largest process"
	if j.scope.SoftCap {
		// A cap that was changed is in force before the loop hears of it.
		r.Soft, r.Reason, r.MemoryCapMB = true, softReason(u.SoftKill), u.SoftKill.Cap>>20
	}
	if j.remedy != "" {
		r.Notes = []string{j.remedy}
	}
	j.oomKills = u.OOMKills
	g.record(r)
	g.say(j, note.OverCap, note.OverCapText(note.Over{Program: j.program, Killed: u.SoftKill.Name, CapMB: j.capMB, PeakMB: j.peakMB, Soft: j.scope.SoftCap, Remedy: j.remedy}))
}
