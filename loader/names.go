package loader

import "sync/atomic"

// names is the filter of the sources that have none in the kernel. It may be
// replaced while it is asked. The zero value matches nothing.
type names struct{ set atomic.Pointer[nameSet] }

type nameSet struct {
	keys map[string]uint32
	all  bool
}

// match says whether an exec of this comm is to be reported, and its tag.
func (n *names) match(comm string) (tag uint32, ok bool) {
	set := n.set.Load()
	if set == nil {
		return 0, false
	}
	tag, ok = set.keys[Key(comm)]
	return tag, ok || set.all
}

// matchFirst matches the first of several names that is one of the set's own;
// the others count only when all are reported.
func (n *names) matchFirst(comms ...string) (tag uint32, ok bool) {
	set := n.set.Load()
	if set == nil {
		return 0, false
	}
	for _, comm := range comms {
		if tag, ok := set.keys[Key(comm)]; ok {
			return tag, true
		}
	}
	return 0, set.all
}

// SetNames replaces the names.
func (n *names) SetNames(named map[string]uint32, all bool) error {
	n.set.Store(&nameSet{keys(named), all})
	return nil
}

// tally counts what a source saw; it may be read meanwhile.
type tally struct{ seen, reported, lost atomic.Uint64 }

func (t *tally) Counters() Counters {
	return Counters{Seen: t.seen.Load(), Reported: t.reported.Load(), Lost: t.lost.Load()}
}

// reset forgets what was counted in a trial.
func (t *tally) reset() {
	t.seen.Store(0)
	t.reported.Store(0)
	t.lost.Store(0)
}
