package admission

import (
	"slices"
	"time"
	"unicode/utf8"
)

// PeakKey names the runs that are taken for the same work.
type PeakKey struct {
	UID       uint32
	Dir       string
	Signature string
}

// What is remembered is bounded in number, size and age.
const (
	maxPeaks  = 512
	maxRuns   = 3
	maxDir    = 1024 // bytes; deeper directories are not remembered
	forgotten = 90 * 24 * time.Hour
)

// usable says whether runs of this key are remembered at all.
func (k PeakKey) usable() bool {
	return k.Signature != "" && len(k.Signature) <= maxSignatureBytes && len(k.Dir) <= maxDir && utf8.ValidString(k.Dir) && utf8.ValidString(k.Signature)
}

// run is one finished run.
type run struct {
	mb int64
	at time.Time
}

// memory is what is remembered of one key.
type memory struct {
	runs []run  // the newest last
	used uint64 // number of the last use; a clock may be set back
}

// Peaks are the learned peaks. The zero value is ready. It is not safe for
// concurrent use.
type Peaks struct {
	of   map[PeakKey]*memory
	uses uint64
}

// Learn notes the peak of a run that ended at the given time, in MB of anon,
// shmem and kernel memory. A peak that is unknown or 0 teaches nothing.
func (p *Peaks) Learn(k PeakKey, peakMB int64, at time.Time) {
	if peakMB <= 0 || !k.usable() {
		return
	}
	m := p.of[k]
	if m == nil {
		m = &memory{}
		p.put(k, m)
	}
	m.runs = append(m.runs, run{min(peakMB, maxMB), at})
	if over := len(m.runs) - maxRuns; over > 0 {
		m.runs = slices.Delete(m.runs, 0, over)
	}
	p.use(m)
}

func (p *Peaks) use(m *memory) {
	p.uses++
	m.used = p.uses
}

func (p *Peaks) put(k PeakKey, m *memory) {
	if p.of == nil {
		p.of = make(map[PeakKey]*memory)
	}
	if _, known := p.of[k]; !known && len(p.of) >= maxPeaks {
		p.forget()
	}
	p.of[k] = m
}

// forget drops the key that was not used for the longest time.
func (p *Peaks) forget() {
	var oldest PeakKey
	var found *memory
	for k, m := range p.of {
		if found == nil || m.used < found.used {
			oldest, found = k, m
		}
	}
	delete(p.of, oldest)
}

// Peak is the largest of the last 3 runs, and how many of them are known. Runs
// of more than 90 days ago are forgotten: the project has changed since.
//
// A run that lies in the future counts: a board without a clock of its own
// learns of the time only after it has started.
func (p *Peaks) Peak(k PeakKey, now time.Time) (mb int64, runs int, ok bool) {
	m := p.of[k]
	if m == nil {
		return -1, 0, false
	}
	m.runs = slices.DeleteFunc(m.runs, func(r run) bool { return now.Sub(r.at) > forgotten })
	if len(m.runs) == 0 {
		delete(p.of, k)
		return -1, 0, false
	}
	p.use(m)
	for _, r := range m.runs {
		mb = max(mb, r.mb)
	}
	return mb, len(m.runs), true
}

// Len is the number of keys that are remembered.
func (p *Peaks) Len() int { return len(p.of) }
