package governor

import (
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// A user who starts five hundred commands at once is no reason for five hundred
// scopes: the making of each takes pid 1 some 26 ms on a small machine, and
// each that waits costs a placeholder and a place in every reading.
const (
	// crowdWaiting is how many jobs of one user wait at once; what comes beyond
	// joins the last of them and waits, starts and is capped with it.
	crowdWaiting = 8
	// crowdBurst is how many scopes a user gets in a second; what comes beyond
	// joins his newest job.
	crowdBurst = 4
)

// crowd knows when users' last scopes were ordered.
type crowd struct {
	last map[uint32][crowdBurst]time.Time
}

// made notes that a scope was ordered for a user.
func (c *crowd) made(user uint32, now time.Time) {
	if c.last == nil {
		c.last = make(map[uint32][crowdBurst]time.Time)
	}
	times := c.last[user]
	copy(times[:], times[1:])
	times[crowdBurst-1] = now
	c.last[user] = times
}

// bursts reports whether the user has had all the scopes of this second.
func (c *crowd) bursts(user uint32, now time.Time) bool {
	times, known := c.last[user]
	return known && now.Sub(times[0]) < time.Second
}

// forget drops users who start nothing now.
func (c *crowd) forget(now time.Time) {
	for user, times := range c.last {
		if now.Sub(times[crowdBurst-1]) >= time.Second {
			delete(c.last, user)
		}
	}
}

// crowded is the job that a command joins since its user has too many waiting,
// or starts too many a second. Only one that came from the same place counts:
// to join another would be to leave that place's limits.
func (g *Governor) crowded(x *proc.Exec) (*job, string) {
	user := userOf(x.LoginUID, x.UID)
	waiting := 0
	var last, newest *job
	for _, j := range g.jobs {
		if j.waits.user != user || !j.alive() {
			continue
		}
		if j.queued() {
			waiting++
		}
		if j.late || j.origin != x.Cgroup || j.uid != x.UID || j.run != nil || !j.isolated && j.state != Placing {
			continue
		}
		if j.queued() && (last == nil || j.waits.since.After(last.waits.since)) {
			last = j
		}
		if newest == nil || j.waits.since.After(newest.waits.since) {
			newest = j
		}
	}
	if waiting >= crowdWaiting && last != nil {
		return last, joinsCrowd
	}
	if newest != nil && g.crowd.bursts(user, time.Now()) {
		return newest, joinsBurst
	}
	return nil, ""
}
