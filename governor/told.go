package governor

import "time"

// told keeps a reason from being recorded at every exec of a stream of them.
type told struct{ last map[string]time.Time }

const (
	toldFor = 10 * time.Second
	toldMax = 256 // what is remembered; beyond it everything is news again
)

func newTold() *told { return &told{last: make(map[string]time.Time)} }

// news reports whether it was not said in the last toldFor, and notes it.
func (t *told) news(what string, now time.Time) bool {
	if at, ok := t.last[what]; ok && now.Sub(at) < toldFor {
		return false
	}
	if len(t.last) >= toldMax {
		clear(t.last)
	}
	t.last[what] = now
	return true
}

// forget drops what may be said again.
func (t *told) forget(now time.Time) {
	for what, at := range t.last {
		if now.Sub(at) >= toldFor {
			delete(t.last, what)
		}
	}
}
