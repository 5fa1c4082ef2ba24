package governor

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor/watchdog"
	"github.com/headroomd/headroomd/loader/proc"
)

// emergency is what there is to choose from.
func (g *Governor) emergency(j watchdog.Judgement, v survey) emergency {
	l := g.o.Config.Resolve(MachineOf(g.guard.reading))
	e := emergency{below: j.Alarm == watchdog.AlarmKill, hurt: j.Hurt != "", availableMB: watchdog.MB(g.guard.reading.MemAvailable), criticalMB: l.CriticalMB,
		captures: g.captures(), lostMB: v.lostMB, users: v.users}
	for i, t := range v.trees {
		s := suspect{tree: i, user: t.user, usedMB: t.usedMB, roomMB: -1, grownMB: t.grownMB, spare: t.spare, fixed: g.guard.fixed.has(t.exec.ID)}
		if s.spare == "" {
			s.spare = g.stuckWhy(t.exec.ID)
		}
		e.suspects = append(e.suspects, s)
	}
	spare := g.sparing()
	for _, jb := range g.inOrder() {
		if !jb.runs() && (!jb.stands() || jb.scope.Cgroup == "") && !jb.late || jb.state == Lingering {
			continue
		}
		e.suspects = append(e.suspects, g.suspectOf(jb, v, spare))
	}
	return e
}

func (g *Governor) suspectOf(j *job, v survey, spare *sparing) suspect {
	s := suspect{job: j.id, user: j.waits.user, began: j.since, usedMB: j.memoryMB, promiseMB: j.promiseMB, roomMB: -1,
		grownMB: v.jobs[j.id], late: j.late, stands: j.stands()}
	if j.late {
		// What it had before it was moved is not charged to its scope.
		s.usedMB, s.grownMB = max(j.memoryMB, 0)+j.lateUsedMB, max(s.grownMB, j.lateGrownMB)
	}
	if j.capped() && j.capMB > 0 && j.memoryMB >= 0 {
		s.roomMB = max(j.capMB-j.memoryMB, 0)
	}
	switch unit := spare.protected(j.scope.Cgroup); {
	case j.box != nil:
		s.spare = fmt.Sprintf("it runs in a container (%s)", j.box.container)
	case j.kind.Has(classifier.PackageManager):
		s.spare = sparePackages
	case v.keep[j.id] != "":
		s.spare = v.keep[j.id]
	case unit != "":
		s.spare = unit + " is protected"
	case !g.o.Machine && j.uid != g.o.UID:
		s.spare = "it is another user's"
	case j.box != nil:
		s.spare = fmt.Sprintf("it runs in a container (%s)", j.box.container)
	case j.stopped, j.toStop:
		s.spare = "it is being stopped"
	default:
		s.spare = g.stuckWhy(j.root)
	}
	return s
}

// captures reports whether a tree can be kept from growing by a scope.
func (g *Governor) captures() bool {
	return g.o.Config.Isolate && g.o.Contain.Name != "none" && g.o.Contain.MemoryController
}

// lately remembers processes for a minute.
type lately map[proc.ID]time.Time

func (l lately) note(id proc.ID) { l[id] = time.Now() }

func (l lately) has(id proc.ID) bool {
	at, ok := l[id]
	if ok && time.Since(at) >= stuckFor {
		delete(l, id)
		return false
	}
	return ok
}

// stuckFor is how long nothing more is done to what did not end when it was
// killed, or could not be captured: to try it again and again keeps the next
// one from its turn.
const stuckFor = time.Minute

func (g *Governor) stuckWhy(id proc.ID) string {
	if g.guard.stuck.has(id) {
		return "it did not end when it was killed a moment ago"
	}
	return ""
}

// WatchStatus is how the memory is watched. A value that is not known is -1.
type WatchStatus struct {
	On             bool        `json:"on"`
	Level          string      `json:"level"`            // calm, tight, critical; unknown before the first reading
	Alarm          string      `json:"alarm"`            // none, act, kill
	SlopeMBs       *float64    `json:"slope_mb_s"`       // gained a second; null while it is not known
	UntilCriticalS float64     `json:"until_critical_s"` // at this slope
	LookAwayMS     float64     `json:"look_away_ms"`     // until the next reading
	Why            string      `json:"why,omitempty"`
	Victim         string      `json:"victim,omitempty"` // what is being stopped
	Counts         WatchCounts `json:"counts"`
}

// WatchCounts is what was done since the start.
type WatchCounts struct {
	Alarms   int `json:"alarms"`
	Captured int `json:"captured"` // trees that grew, put into a scope
	Stopped  int `json:"stopped"`  // jobs and trees
}

// watchStatus is the guard as status shows it.
func (g *Governor) watchStatus() WatchStatus {
	j := g.guard.now
	s := WatchStatus{On: g.watches(), Level: j.Level.String(), Alarm: j.Alarm.String(), UntilCriticalS: -1,
		LookAwayMS: milliseconds(j.LookAway), Why: j.Why, Counts: g.guard.done}
	if j.UntilCritical >= 0 && !g.guard.readAt.IsZero() {
		s.UntilCriticalS = j.UntilCritical.Seconds()
	}
	if slope := j.Slope / (1 << 20); !math.IsNaN(slope) && !g.guard.readAt.IsZero() {
		s.SlopeMBs = &slope
	}
	if v := g.guard.victim; v != nil {
		s.Victim = cmp.Or(v.job, fmt.Sprintf("pid %d", v.root.PID))
	}
	return s
}
