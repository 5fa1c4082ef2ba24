package governor

import (
	"errors"
	"fmt"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/loader/proc"
)

// boxRead is the reading of a container's cap.
type boxRead struct {
	cap    contain.ContainerCap
	change string
	err    error
}

// rootRead is one of a job's commands at a reading.
type rootRead struct {
	id    proc.ID
	lives bool
}

// boxedIn adds what is read of a job in a container.
func (j *job) boxedIn(s sampled) sampled {
	if j.box != nil {
		s.box, s.roots = j.box.container.Cgroup, append([]proc.ID(nil), j.box.roots...)
	}
	return s
}

// readBox reads a job in a container: its cap, and what its commands take.
func (s *sampler) readBox(j sampled, m *sample) {
	m.box.cap, m.box.change, m.box.err = s.boxes.Check(j.box)
	m.usage = noUsage()
	for _, id := range j.roots {
		u := s.tree(id)
		m.roots = append(m.roots, rootRead{id, len(u.Procs) > 0})
		m.usage.Procs = append(m.usage.Procs, u.Procs...)
		m.usage.Working = plusKnown(m.usage.Working, u.Working)
		m.usage.Current = plusKnown(m.usage.Current, u.Current)
		m.usage.CPUUsec = plusKnown(m.usage.CPUUsec, u.CPUUsec)
	}
}

// plusKnown adds what is known; -1 is unknown.
func plusKnown(a, b int64) int64 {
	if b < 0 {
		return a
	}
	return max(a, 0) + b
}

// measureBox takes in the reading of a container, besides that of the job. It
// reports whether the container is still there.
func (g *Governor) measureBox(j *job, m sample) bool {
	if m.box.err != nil {
		if errors.Is(m.box.err, contain.ErrNoScope) {
			g.finish(j, stepGone, "its container has ended")
			return false
		}
		if g.told.news("container "+j.id, time.Now()) {
			g.o.Log.Warn("look after the cap of a container", "job", j.id, "container", j.box.container.String(), "err", m.box.err)
		}
	}
	if m.box.change != "" {
		g.setBoxCap(j, m.box.cap)
		r := g.about(j)
		r.Event, r.MemoryCapMB, r.Reason = journal.Changed, j.capMB, m.box.change
		if g.told.news("container changed "+j.id+m.box.change, time.Now()) {
			g.record(r)
		}
	}
	j.box.roots = liveOf(j.box.roots, m.roots)
	if m.box.cap.OOMKills <= j.box.kills {
		return true
	}
	j.oomKills += m.box.cap.OOMKills - j.box.kills
	j.box.kills = m.box.cap.OOMKills
	r := g.about(j)
	r.Event, r.OOMKills, r.MemoryCapMB, r.SwapCapMB, r.PeakMB = journal.OOMKill, j.oomKills, j.capMB, j.swapMB, j.peakMB
	r.Reason = fmt.Sprintf("container %s outgrew its cap and the kernel killed a process in it", j.box.container)
	if j.remedy != "" {
		r.Notes = []string{j.remedy}
	}
	g.record(r)
	return true
}

// liveOf drops the commands that a reading found ended. What came since it
// began is kept.
func liveOf(roots []proc.ID, read []rootRead) []proc.ID {
	ended := make(map[proc.ID]bool)
	for _, r := range read {
		ended[r.id] = !r.lives
	}
	var live []proc.ID
	for _, id := range roots {
		if !ended[id] {
			live = append(live, id)
		}
	}
	return live
}
