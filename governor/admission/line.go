package admission

import "slices"

// line are the waiters of one user, the longest waiting first.
type line struct {
	user    uint32
	turn    uint64 // number of this user's last turn; 0 never had one
	waiters []*Waiter
}

// add puts a waiter where its Since belongs: a job that comes back from Ctrl-Z
// or over a restart keeps its place.
func (n *line) add(w *Waiter) {
	i := len(n.waiters)
	for i > 0 && n.waiters[i-1].Since.After(w.Since) {
		i--
	}
	n.waiters = slices.Insert(n.waiters, i, w)
}

func (n *line) remove(w *Waiter) {
	if i := slices.Index(n.waiters, w); i >= 0 {
		n.waiters = slices.Delete(n.waiters, i, i+1)
	}
}

// maxRemembered is how many users without a waiter keep the number of their
// last turn. A forgotten one counts as new, which lets it go first once.
const maxRemembered = 256

// turns are the lines in the order in which their users come to turn: who had
// no turn for the longest time is first. So every other user goes before
// somebody who asks at most once, however many jobs it has waiting, and a user
// with one job at a time cannot ask again before the others had their turn.
type turns struct {
	lines []*line
	last  map[uint32]uint64 // number of the last turn, of users with and without a line
	count uint64
}

func (t *turns) add(w *Waiter) {
	i := slices.IndexFunc(t.lines, func(n *line) bool { return n.user == w.User })
	if i < 0 {
		n := &line{user: w.User, turn: t.last[w.User]}
		i = len(t.lines)
		for i > 0 && t.lines[i-1].turn > n.turn {
			i--
		}
		t.lines = slices.Insert(t.lines, i, n)
	}
	t.lines[i].add(w)
}

func (t *turns) remove(w *Waiter) {
	i := slices.IndexFunc(t.lines, func(n *line) bool { return n.user == w.User })
	if i < 0 {
		return
	}
	t.lines[i].remove(w)
	if len(t.lines[i].waiters) == 0 {
		t.lines = slices.Delete(t.lines, i, i+1)
	}
}

// head is the waiter whose turn it is; nil when nobody waits.
func (t *turns) head() *Waiter {
	if len(t.lines) == 0 {
		return nil
	}
	return t.lines[0].waiters[0]
}

// had notes that the user had a turn.
func (t *turns) had(user uint32) {
	t.count++
	if t.last == nil {
		t.last = make(map[uint32]uint64)
	}
	t.last[user] = t.count
	if i := slices.IndexFunc(t.lines, func(n *line) bool { return n.user == user }); i >= 0 {
		n := t.lines[i]
		n.turn = t.count
		t.lines = append(slices.Delete(t.lines, i, i+1), n)
	}
	if len(t.last) > maxRemembered+len(t.lines) {
		t.forget()
	}
}

// forget drops the user without a waiter whose turn is the longest ago.
func (t *turns) forget() {
	waits := make(map[uint32]bool, len(t.lines))
	for _, n := range t.lines {
		waits[n.user] = true
	}
	oldest, found := uint32(0), false
	for user, turn := range t.last {
		if !waits[user] && (!found || turn < t.last[oldest]) {
			oldest, found = user, true
		}
	}
	if found {
		delete(t.last, oldest)
	}
}

// inOrder are the waiters in the order of their turn: the first of each line,
// then the second of each, and so on.
func (t *turns) inOrder() []*Waiter {
	waiters := 0
	for _, n := range t.lines {
		waiters += len(n.waiters)
	}
	all := make([]*Waiter, 0, waiters)
	for round := 0; ; round++ {
		before := len(all)
		for _, n := range t.lines {
			if round < len(n.waiters) {
				all = append(all, n.waiters[round])
			}
		}
		if len(all) == before {
			return all
		}
	}
}
