package governor

import (
	"os"
	"path/filepath"
	"time"

	"github.com/headroomd/headroomd/governor/watchdog"
)

const (
	// findEvery is how often the cgroups of protected units are looked for: they
	// change when a unit is restarted under another slice, which nobody does.
	findEvery = time.Minute
	// pressEvery is how often their pressure is read while memory is short.
	pressEvery = 250 * time.Millisecond
	// mostCgroups bounds the walk for a unit that is not where units are.
	mostCgroups = 4096
)

// protected are the protected units whose pressure can be read. Of the loop
// alone.
type protected struct {
	cgroups map[string]string // by unit; those that are there
	found   time.Time
	read    time.Time
}

// findUnits looks for the cgroups of units below the mount of the unified
// hierarchy. A unit that does not run has none.
func findUnits(root string, units []string) map[string]string {
	found := make(map[string]string)
	if root == "" {
		return found
	}
	missing := make(map[string]bool)
	for _, unit := range units {
		if at := filepath.Join("/system.slice", unit); isDir(filepath.Join(root, at)) {
			found[unit] = at
		} else {
			missing[unit] = true
		}
	}
	for queue := []string{"/"}; len(queue) > 0 && len(missing) > 0; queue = queue[1:] {
		entries, err := os.ReadDir(filepath.Join(root, queue[0]))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if !e.IsDir() || len(queue) >= mostCgroups {
				continue
			}
			at := filepath.Join(queue[0], e.Name())
			if missing[e.Name()] {
				found[e.Name()] = at
				delete(missing, e.Name())
			}
			queue = append(queue, at)
		}
	}
	return found
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// readProtected reads the pressure of the protected units, some 20 µs each,
// while memory is short.
func (g *Governor) readProtected(now time.Time) {
	p := &g.guard.protected
	if now.Sub(p.read) < pressEvery {
		return
	}
	p.read = now
	for unit, cgroup := range p.cgroups {
		pressure, err := watchdog.ReadPressure(watchdog.CgroupPressure(g.o.Cgroups, cgroup))
		if err != nil && g.told.news("pressure of "+unit, now) {
			g.o.Log.Warn("read the pressure of a protected unit", "unit", unit, "err", err)
		}
		g.guard.watch.Protected(unit, pressure, now)
	}
}

// foundUnits takes in where the protected units are.
func (g *Governor) foundUnits(cgroups map[string]string) {
	for unit := range g.guard.protected.cgroups {
		if cgroups[unit] == "" {
			g.guard.watch.Protected(unit, nil, time.Now())
		}
	}
	g.guard.protected.cgroups = cgroups
}
