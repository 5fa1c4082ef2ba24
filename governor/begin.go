package governor

import (
	"fmt"
	"time"

	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/loader/proc"
)

// begin makes a job of the command. It asks for its turn: if that is now, it is
// placed with its cap, else it is placed frozen and waits.
func (g *Governor) begin(f caughtFinding, k kin, never string) {
	x := &f.Exec
	now := time.Now()
	j := g.newJob(x, f.Verdict.Family, k)
	j.rule, j.remedy, j.kind = f.Verdict.Rule, f.Verdict.Remedy, f.Verdict.Kind
	j.waits.never = never
	if never == "" {
		j.waits.never = g.neverHeld(x)
	}
	p := patienceOf(x.ID.PID, g.queueTimeout(), g.o.FS, g.o.Rules, TicksNow())
	j.waits.patience, j.waits.agent = p.limit, p.agent
	g.noteCallers(j, x)
	g.recall(j, x)
	m, l := g.room()
	r := g.about(j)
	r.Reason, r.Source = f.Verdict.Reason, x.Source
	if m.AvailableMB >= 0 {
		r.AvailableMB, r.ReserveMB = m.AvailableMB, l.ReserveMB
	}
	if never := g.tooLarge(j, m, l); never != "" {
		j.note = never
		r.Notes = []string{never}
	}
	if !g.enforces() {
		letGo(f.catch)
		g.observe(j, r, m, l)
		return
	}
	g.jobs[j.id] = j
	g.crowd.made(j.waits.user, now)
	g.ask(j)
	mine, standing := g.turn(j, m, l)
	o := order{verb: verbPlace, jobID: j.id, unit: "headroom-" + j.id + ".scope", catch: f.catch, exec: *x, tree: x.Late}
	r.Event = journal.Captured
	if j.waits.never != "" && g.book.Slots() > 1 {
		r.Notes = append(r.Notes, "not made to wait: "+j.waits.never)
	}
	switch {
	case mine == nil && g.holds():
		g.record(r)
		o.frozen, o.cap = true, g.provisional(m, l)
		g.recordHeld(j, standing, journal.Held)
		j.waits.held = true
		j.provisionalMB = o.cap.MemoryMB
		g.hurry()
	case mine == nil: // nothing can be made to wait here
		o.cap = admission.Grant(m, l, g.book.Holders())
		g.book.Hold(j.id, j.waits.user, o.cap.PromiseMB, o.cap.MemoryMB)
	default:
		o.cap = mine.Cap
	}
	if !o.frozen {
		r.MemoryCapMB, r.SwapCapMB = o.cap.MemoryMB, o.cap.SwapMB
		g.record(r)
	}
	j.capMB, j.swapMB, j.promiseMB = o.cap.MemoryMB, o.cap.SwapMB, o.cap.PromiseMB
	o.about = fmt.Sprintf("heavy command of uid %d held to %d MB by headroomd (%s)", x.UID, o.cap.MemoryMB, j.rule)
	if !g.order(o) {
		g.drop(j, stepLeft)
		g.left(&f.Finding, "the governor is busy placing others")
		return
	}
	if mine != nil {
		g.recap() // others may have to make room
	}
}

// newJob is a job that has yet to be put anywhere.
func (g *Governor) newJob(x *proc.Exec, family string, k kin) *job {
	now := time.Now()
	return &job{
		id: jobID(family), state: Placing, since: x.Seen, entered: now,
		root: x.ID, uid: x.UID, command: journal.Command(x.Argv), program: programOf(x.Argv), family: family,
		kin: k, origin: x.Cgroup, memoryMB: -1,
		waits: waits{user: userOf(x.LoginUID, x.UID), since: now},
		peak:  learned{mb: -1},
	}
}

// noteCallers notes who would miss the job's output.
func (g *Governor) noteCallers(j *job, x *proc.Exec) {
	j.sid = x.SID
	up, err := g.o.FS.Ancestors(x.ID.PID, maxAncestors)
	if err != nil || len(up) == 0 {
		return
	}
	if up[0].ID.PID > 1 {
		j.caller = up[0].ID
	}
	if j.waits.agent {
		if a, ok := agentAmong(up, g.o.FS, g.o.Rules); ok {
			j.agent = a.ID
		}
	}
}

// turn looks whose turn it is; mine is the job's own start, if it starts now,
// else standing tells where it stands.
func (g *Governor) turn(j *job, m admission.Machine, l admission.Limits) (mine *admission.Start, standing admission.Standing) {
	now := time.Now()
	for _, s := range g.book.Look(now, m, l) {
		if s.Job == j.id {
			mine = &s
			continue
		}
		g.mayStart(s, nil)
	}
	if mine != nil {
		return mine, admission.Standing{}
	}
	standing, _ = g.book.StandingOf(j.id, now, m, l)
	return nil, standing
}

// recordHeld tells that a job waits, for whom and why.
func (g *Governor) recordHeld(j *job, s admission.Standing, event string) {
	r := g.about(j)
	r.Event, r.Reason, r.Behind, r.MissingMB, r.Position = event, s.Why, s.Behind, s.MissingMB, s.Position
	g.record(r)
}

// observe tells what would have been done. The job is followed by its root, so
// that what would have waited for it can be told, too; nothing is touched.
func (g *Governor) observe(j *job, r journal.Record, m admission.Machine, l admission.Limits) {
	j.observed = true
	if j.note == "" {
		j.note = "observe mode: nothing was done to it"
	}
	g.jobs[j.id] = j
	g.ask(j)
	mine, standing := g.turn(j, m, l)
	c := g.provisional(m, l)
	if mine != nil {
		c = mine.Cap
		r.Event, r.MemoryCapMB = journal.Observed, c.MemoryMB
		r.Reason = fmt.Sprintf("%s; it would get a cap of %d MB (%s)", r.Reason, c.MemoryMB, c.Why)
		if g.told.news(fmt.Sprint("observed", j.kin.pgid, j.kin.loginUID, j.rule), time.Now()) {
			g.record(r)
		}
	} else {
		g.book.Hold(j.id, j.waits.user, 0, c.MemoryMB)
		if g.told.news(fmt.Sprint("would hold", j.kin.pgid, j.kin.loginUID, j.rule), time.Now()) {
			g.recordHeld(j, standing, journal.WouldHold)
		}
	}
	j.promiseMB = c.PromiseMB
	g.advance(j, stepPlaced)
}
