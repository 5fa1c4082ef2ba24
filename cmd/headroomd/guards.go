package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/doctor"
	"github.com/headroomd/headroomd/governor/watchdog"
)

// besides are the other programs that act on memory here, looked for again
// when they are asked for and what is known is old: they come with packages and
// go with a systemctl, not by the second, and a look is one read of /proc/PID/comm
// for each process.
type besides struct {
	root string

	mu       sync.Mutex
	known    []governor.GuardStatus
	critical int64
	at       time.Time
}

const besidesFor = 30 * time.Second

func (b *besides) list(criticalMB int64) []governor.GuardStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); b.known == nil || b.critical != criticalMB || now.Sub(b.at) >= besidesFor {
		b.known, b.critical, b.at = guardsAt(b.root, criticalMB), criticalMB, now
	}
	return b.known
}

func guardsAt(root string, critical int64) []governor.GuardStatus {
	all := []governor.GuardStatus{}
	for _, g := range doctor.Guards(root, critical) {
		all = append(all, governor.GuardStatus{Name: g.Name, PID: g.PID, ActsAtMB: g.ActsAtMB, Note: g.Note})
	}
	return all
}

// besidesWords names them in a few words for a record; "" for none.
func besidesWords(all []governor.GuardStatus) string {
	var words []string
	for _, g := range all {
		text := g.Name
		if g.ActsAtMB >= 0 {
			text += fmt.Sprintf(" (acts below %d MB)", g.ActsAtMB)
		}
		words = append(words, text)
	}
	return strings.Join(words, ", ")
}

// criticalNow is the available memory in MB below which a job is stopped; -1
// where the memory cannot be read.
func criticalNow(c governor.Config, memory *watchdog.Reader) int64 {
	r, err := memory.Read()
	if err != nil {
		return -1
	}
	return c.Resolve(governor.MachineOf(r)).CriticalMB
}
