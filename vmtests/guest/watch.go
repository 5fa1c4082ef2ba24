package guest

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// ScopeWatch looks at all jobs' scopes from Start to Stop: a scope may be gone
// before a test can ask.
type ScopeWatch struct {
	stop chan struct{}
	done chan struct{}
	mu   sync.Mutex
	seen map[Cgroup]ScopeSeen
}

// ScopeSeen is what was seen of one scope. Sizes are in bytes; -1 is "max" or
// not seen.
type ScopeSeen struct {
	MemoryMax int64 // last seen
	MostMax   int64 // largest seen: a cap follows what is free
	OOMKills  int64 // most seen
}

// WatchScopes begins to look, every 50 ms.
func WatchScopes(t testing.TB) *ScopeWatch {
	w := &ScopeWatch{stop: make(chan struct{}), done: make(chan struct{}), seen: map[Cgroup]ScopeSeen{}}
	go func() {
		defer close(w.done)
		for {
			w.look()
			select {
			case <-w.stop:
				w.look()
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() { w.Stop() })
	return w
}

// Stop looks once more and returns what was seen.
func (w *ScopeWatch) Stop() map[Cgroup]ScopeSeen {
	w.mu.Lock()
	select {
	case <-w.stop:
	default:
		close(w.stop)
	}
	w.mu.Unlock()
	<-w.done
	return maps.Clone(w.seen)
}

func (w *ScopeWatch) look() {
	for _, c := range JobScopes() {
		seen, known := w.seen[c]
		if !known {
			seen = ScopeSeen{MemoryMax: -1, MostMax: -1, OOMKills: -1}
		}
		// Between the listing and the reading a scope may go.
		if data, err := os.ReadFile(filepath.Join(c.Dir(), "memory.max")); err == nil {
			seen.MemoryMax, _ = number(strings.TrimSpace(string(data)))
			seen.MostMax = max(seen.MostMax, seen.MemoryMax)
		}
		if data, err := os.ReadFile(filepath.Join(c.Dir(), "memory.events")); err == nil {
			if n, err := field(string(data), "oom_kill"); err == nil {
				seen.OOMKills = max(seen.OOMKills, n)
			}
		}
		w.seen[c] = seen
	}
}

// AwaitNoScopes waits until all jobs are over. The governor keeps a scope for
// some seconds after its last process, for what its group may start next.
func AwaitNoScopes(t testing.TB) {
	t.Helper()
	Eventually(t, patience, func() string {
		var b strings.Builder
		for _, c := range JobScopes() {
			b.WriteString("still there: " + string(c) + "\n")
			for _, pid := range c.Processes() {
				b.WriteString("\t" + ProcessState(pid) + " " + strings.Join(Argv(pid), " ") + "\n")
			}
		}
		return b.String()
	})
}
