package governor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/governor/watchdog"
	"github.com/headroomd/headroomd/loader/proc"
)

// guard is what the loop knows of the machine's memory, and what it does about
// it. Of the loop alone.
type guard struct {
	watch   watchdog.Watch
	clock   *time.Timer // the loop's third clock
	now     watchdog.Judgement
	reading watchdog.Reading // that it rests on
	readAt  time.Time
	base    baseline
	own     map[proc.ID]bool // the governor and what started it

	looking bool      // a look at the process table is under way
	asked   time.Time // when it was ordered
	looks   chan tableLook

	alarm     *alarm  // the present one; nil: none
	victim    *victim // what is being stopped, and whose memory is waited for
	protected protected
	stuck     lately         // what does not end
	fixed     lately         // what cannot be put into a scope
	pause     time.Time      // no look at the process table before
	paused    watchdog.Alarm // at no worse an alarm than this
	done      WatchCounts
}

// alarm is one time that memory is short, from its first sign to its end.
type alarm struct {
	since   time.Time
	nothing bool // it was recorded that there is nothing to act on
	back    bool // it was recorded that the memory was back before the act
	would   map[string]bool
	stopped int
}

// tableLook is what a look at the process table found.
type tableLook struct {
	sizes  sizes
	survey survey
	units  map[string]string // cgroups of the protected units; nil: not looked for
	calm   bool              // only to know what there was
	err    error
}

const (
	// offEvery is how often a governor that does not watch looks whether it should.
	offEvery = 5 * time.Second
	// leastAway keeps a fault in the judging from becoming a busy loop.
	leastAway = 10 * time.Millisecond
	// idlePause is how long the process table is left alone at which there was
	// nothing to do: to read it twice a second is 1 % of a core.
	idlePause = 500 * time.Millisecond
	// surveyWait is how long the process table is waited for below the critical
	// line: the argv of a process that is being reclaimed can take seconds.
	surveyWait = 2 * time.Second
)

// watches reports whether the memory is watched.
func (g *Governor) watches() bool { return g.o.Config.Watch && g.o.Config.Mode != ModeOff }

// acts reports whether something is done about it, rather than told.
func (g *Governor) acts() bool { return g.o.Config.Mode == ModeEnforce }

// startGuard has the third clock go.
func (g *Governor) startGuard() {
	g.guard.own, g.guard.stuck, g.guard.fixed = make(map[proc.ID]bool), make(lately), make(lately)
	self := selfPID()
	if st, err := g.o.FS.Stat(self); err == nil {
		g.guard.own[st.ID] = true
	}
	if up, err := g.o.FS.Ancestors(self, maxAncestors); err == nil {
		for _, a := range up {
			g.guard.own[a.ID] = true
		}
	}
	g.guard.clock = time.NewTimer(0)
}

// judge reads the memory, some 50 µs, and judges it.
func (g *Governor) judgeMemory() (watchdog.Judgement, error) {
	r, err := g.o.Memory.Read()
	if err != nil {
		return watchdog.Judgement{}, err
	}
	now := time.Now()
	g.guard.reading, g.guard.readAt = r, now
	l := g.o.Config.Resolve(MachineOf(r))
	j := g.guard.watch.See(r, watchdog.Lines{ReserveMB: l.ReserveMB, CriticalMB: l.CriticalMB}, now)
	g.guard.now = j
	return j, nil
}

// guardTurn is the third clock: it reads the memory, and has the process table
// looked at when something is wrong, or when it has not been for a while.
func (g *Governor) guardTurn(ctx context.Context) {
	if !g.watches() {
		g.guard.alarm = nil
		g.guard.clock.Reset(offEvery)
		return
	}
	j, err := g.judgeMemory()
	if err != nil {
		if g.told.news("memory unread", time.Now()) {
			g.o.Log.Warn("read memory", "err", err)
		}
		g.guard.clock.Reset(time.Second)
		return
	}
	g.guard.clock.Reset(max(j.LookAway, leastAway))
	now := time.Now()
	if j.Level != watchdog.Calm {
		g.readProtected(now)
	}
	g.awaitMemory(now)
	if j.Alarm == watchdog.AlarmNone {
		g.calmed()
		if g.guard.base.due(now, j.Level == watchdog.Calm) {
			g.lookAtTable(ctx, true)
		}
		return
	}
	if g.guard.alarm == nil {
		g.guard.alarm = &alarm{since: now, would: make(map[string]bool)}
		g.guard.done.Alarms++
	}
	switch {
	case g.guard.victim != nil && !g.mayKillCaptured(j):
	case g.guard.looking && j.Alarm == watchdog.AlarmKill && now.Sub(g.guard.asked) > surveyWait:
		g.guard.asked = now
		g.actOn(j, survey{lostMB: -1, silent: true})
	case g.guard.base.empty():
		// Without a look before, all that is large would count as grown.
		g.lookAtTable(ctx, true)
	case now.Before(g.guard.pause) && j.Alarm <= g.guard.paused:
	default:
		g.lookAtTable(ctx, false)
	}
}

// calmed ends an alarm.
func (g *Governor) calmed() {
	a := g.guard.alarm
	if a == nil {
		return
	}
	g.guard.alarm = nil
	if a.stopped > 0 || a.nothing {
		g.record(journal.Record{Event: journal.Freed, AvailableMB: watchdog.MB(g.guard.reading.MemAvailable),
			Reason: fmt.Sprintf("the alarm is over after %.1f s", time.Since(a.since).Seconds())})
	}
}

// lookAtTable has the process table looked at, off the loop, unless that is
// under way.
func (g *Governor) lookAtTable(ctx context.Context, calm bool) {
	if g.guard.looking || g.stopping || ctx.Err() != nil {
		return
	}
	g.guard.looking, g.guard.asked = true, time.Now()
	available := watchdog.MB(g.guard.reading.MemAvailable)
	was := g.guard.base.was()
	fs, looks := g.o.FS, g.guard.looks
	find := func() map[string]string { return nil }
	if now := time.Now(); g.guard.protected.found.IsZero() || now.Sub(g.guard.protected.found) >= findEvery {
		g.guard.protected.found = now
		root, units := g.o.Cgroups, g.o.Config.Protect
		find = func() map[string]string { return findUnits(root, units) }
	}
	if calm {
		go func() {
			s, err := lookAtSizes(fs, available)
			looks <- tableLook{sizes: s, calm: true, err: err, units: find()}
		}()
		return
	}
	v := surveyor{fs: fs, spare: g.sparing()}
	of := membersOf(g.inOrder())
	go func() {
		s, err := lookAtSizes(fs, available)
		l := tableLook{sizes: s, err: err, units: find()}
		if err == nil {
			l.survey = v.look(was, s, of)
		}
		looks <- l
	}()
}

// looked takes in what a look found. Before anything is done the memory is read
// again.
func (g *Governor) looked(l tableLook) {
	g.guard.looking = false
	if l.units != nil {
		g.foundUnits(l.units)
	}
	switch {
	case l.err != nil:
		g.o.Log.Warn("look at the process table", "err", l.err)
		return
	case l.calm:
		g.guard.base.calm(l.sizes)
		return
	case g.guard.alarm == nil || g.stopping || !g.watches():
		return
	}
	j, err := g.judgeMemory()
	if err != nil {
		return
	}
	if j.Alarm == watchdog.AlarmNone {
		if a := g.guard.alarm; !a.back && a.stopped == 0 {
			a.back = true
			g.record(journal.Record{Event: journal.Alarm, AvailableMB: watchdog.MB(g.guard.reading.MemAvailable),
				Reason: "the memory was back before anything had to be stopped"})
		}
		g.calmed()
		return
	}
	g.actOn(j, l.survey)
}

// sparing are the rules of whom to leave alone, as the settings are now.
func (g *Governor) sparing() *sparing {
	return &sparing{fs: g.o.FS, rules: g.o.Rules, protect: g.o.Config.Protect, own: g.guard.own, exe: g.o.Exe,
		machine: g.o.Machine, uid: g.o.UID}
}

// actOn chooses whom to act on, and does it.
func (g *Governor) actOn(j watchdog.Judgement, v survey) {
	e := g.emergency(j, v)
	c, ok := e.choose()
	if !ok || !g.acts() {
		g.guard.pause, g.guard.paused = time.Now().Add(idlePause), j.Alarm
	}
	if !ok {
		g.nothingToDo(j, e, v)
		return
	}
	a := g.guard.alarm
	switch {
	case !g.acts():
		g.wouldAct(j, c, v)
	case g.guard.victim != nil && c.deed != doStop:
		// What was captured a moment ago is not in its scope yet.
	case c.job == "" && c.deed == doCapture:
		g.captureLate(v.trees[c.tree], c, j)
	case c.job == "":
		a.stopped++
		g.stopTree(v.trees[c.tree], c, j)
	default:
		if job := g.jobs[c.job]; job != nil {
			a.stopped++
			g.stopVictim(job, c, j)
		}
	}
}

// nothingToDo records an alarm at which nothing can be done, once.
func (g *Governor) nothingToDo(j watchdog.Judgement, e emergency, v survey) {
	a := g.guard.alarm
	if a.nothing || j.Alarm != watchdog.AlarmKill {
		return // above the critical line there may be nothing to do yet
	}
	a.nothing = true
	r := g.aboutMemory(journal.Alarm, j)
	r.Reason = "memory is short and there is nothing to be stopped: " + j.Why
	for _, s := range e.suspects {
		if s.spare == "" {
			continue
		}
		name := s.job
		if name == "" {
			name = fmt.Sprintf("%s (pid %d)", journal.Escape(programOf(v.trees[s.tree].exec.Argv), 40), v.trees[s.tree].exec.ID.PID)
		}
		r.Notes = append(r.Notes, fmt.Sprintf("%s has %d MB: %s", name, s.usedMB, s.spare))
	}
	for _, words := range v.spared {
		if len(r.Notes) < mostNotes && !named(r.Notes, words) {
			r.Notes = append(r.Notes, words)
		}
	}
	g.record(r)
}

// mostNotes bounds the notes of one record.
const mostNotes = 6

// named reports whether the process that a note begins with has one already.
func named(notes []string, words string) bool {
	who, _, _ := strings.Cut(words, ") ")
	who += ") "
	for _, n := range notes {
		if strings.HasPrefix(n, who) {
			return true
		}
	}
	return false
}

// aboutMemory begins a record with the numbers of a judgement.
func (g *Governor) aboutMemory(event string, j watchdog.Judgement) journal.Record {
	r := journal.Record{Event: event, ReserveMB: 0, AvailableMB: max(watchdog.MB(g.guard.reading.MemAvailable), 0)}
	l := g.o.Config.Resolve(MachineOf(g.guard.reading))
	r.ReserveMB, r.CriticalMB = l.ReserveMB, l.CriticalMB
	return r
}
