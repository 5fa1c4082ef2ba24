package admission

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// entry is one key as it is written. Times are in seconds since 1970.
type entry struct {
	UID       uint32     `json:"uid"`
	Dir       string     `json:"dir"`
	Signature string     `json:"signature"`
	Runs      []entryRun `json:"runs"`
}

type entryRun struct {
	MB int64 `json:"mb"`
	At int64 `json:"at"`
}

// maxEntries is how many entries are read at most: a file of ours never has
// more than maxPeaks.
const maxEntries = 4 * maxPeaks

// MarshalJSON writes the peaks as an array, the least recently used first.
func (p *Peaks) MarshalJSON() ([]byte, error) {
	keys := slices.SortedFunc(maps.Keys(p.of), func(a, b PeakKey) int {
		return cmp.Compare(p.of[a].used, p.of[b].used)
	})
	all := make([]entry, 0, len(keys))
	for _, k := range keys {
		e := entry{UID: k.UID, Dir: k.Dir, Signature: k.Signature}
		for _, r := range p.of[k].runs {
			e.Runs = append(e.Runs, entryRun{r.mb, r.at.Unix()})
		}
		all = append(all, e)
	}
	return json.Marshal(all)
}

// UnmarshalJSON reads what MarshalJSON wrote, in place of what is remembered.
// It never fails: unknown and broken entries are dropped, and of a file that
// was cut off all that is whole is kept. (json.Unmarshal refuses such a file
// before it asks; call this instead.)
func (p *Peaks) UnmarshalJSON(data []byte) error {
	*p = Peaks{}
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil
	}
	for n := 0; n < maxEntries && d.More(); n++ {
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			break
		}
		var e entry
		if json.Unmarshal(raw, &e) == nil {
			p.restore(e)
		}
	}
	return nil
}

// maxUnix is the last second of the year 9999: beyond it times do not add up.
const maxUnix = 253402300799

func (p *Peaks) restore(e entry) {
	k := PeakKey{UID: e.UID, Dir: e.Dir, Signature: e.Signature}
	if !k.usable() {
		return
	}
	m := &memory{}
	for _, r := range e.Runs {
		if r.MB > 0 && r.MB <= maxMB && r.At >= 0 && r.At <= maxUnix {
			m.runs = append(m.runs, run{r.MB, time.Unix(r.At, 0)})
		}
	}
	if over := len(m.runs) - maxRuns; over > 0 {
		m.runs = slices.Delete(m.runs, 0, over)
	}
	if len(m.runs) > 0 {
		p.put(k, m)
		p.use(m)
	}
}
