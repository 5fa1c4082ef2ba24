package governor

import (
	"cmp"
	"slices"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// processSizes is what growth needs of the process table.
type processSizes interface {
	AppendList(pids []int) ([]int, error)
	Resident(pid int) (int64, error)
	Memory(pid int) (proc.Memory, error)
}

// closeLook is the size from which on a process is read with what of it is
// swapped out and without its files. Smaller ones, most of a machine's, are read
// for a third of the price.
const closeLook = 8 << 20

// sizes is what every process had at one moment, in bytes.
type sizes struct {
	at          time.Time
	availableMB int64 // of the machine then
	bytes       map[int]int64
}

// lookAtSizes reads every process: 242 of them take some 3 ms. What is gone or
// may not be read is left out.
func lookAtSizes(table processSizes, availableMB int64) (sizes, error) {
	s := sizes{at: time.Now(), availableMB: availableMB}
	pids, err := table.AppendList(nil)
	if err != nil {
		return s, err
	}
	s.bytes = make(map[int]int64, len(pids))
	for _, pid := range pids {
		n, err := table.Resident(pid)
		if err != nil || n <= 0 {
			continue // gone, a zombie, the kernel's own
		}
		if n >= closeLook {
			if m, err := table.Memory(pid); err == nil && m.RssAnon >= 0 {
				n = m.RssAnon + max(m.RssShmem, 0) + max(m.Swap, 0)
			}
		}
		s.bytes[pid] = n
	}
	return s, nil
}

// grown is a process that takes more than it did.
type grown struct {
	pid   int
	bytes int64 // what it has
	by    int64 // what of it is new
}

const (
	grownFrom = 4 << 20 // what any process breathes by is no growth
	grownMost = 64      // how many are looked at closely
)

// since are the processes that grew since an earlier look, those that grew most
// first. What was not there then has grown by all that it has.
func (s sizes) since(was sizes) []grown {
	var all []grown
	for pid, n := range s.bytes {
		if by := n - was.bytes[pid]; by >= grownFrom {
			all = append(all, grown{pid: pid, bytes: n, by: by})
		}
	}
	slices.SortFunc(all, func(a, b grown) int { return cmp.Or(cmp.Compare(b.by, a.by), cmp.Compare(a.pid, b.pid)) })
	return all[:min(len(all), grownMost)]
}

const (
	// calmEvery is how often the sizes are noted while nothing is wrong: 3 ms in
	// 10 s are 0.03 % of a core.
	calmEvery = 10 * time.Second
	// tightEvery is how often they are where little is left all the time, and
	// nothing happens: what came an hour ago and has stayed as it is has not
	// brought the machine to its end.
	tightEvery = 5 * time.Minute
)

// baseline keeps what the processes had when the machine was last calm: who has
// grown since then has brought it where it is, were it in a second or in
// minutes. The look before the last one serves, since a fast hog may have grown
// by half when the last one was taken.
type baseline struct{ last, before sizes }

// calm notes a look that was taken while the machine was calm.
func (b *baseline) calm(s sizes) { b.before, b.last = b.last, s }

// due reports whether it is time for another look.
func (b *baseline) due(now time.Time, calm bool) bool {
	every := tightEvery
	if calm {
		every = calmEvery
	}
	return now.Sub(b.last.at) >= every
}

// empty reports whether there was no look yet.
func (b *baseline) empty() bool { return b.last.bytes == nil }

// was is what to compare with.
func (b *baseline) was() sizes {
	if b.before.bytes != nil {
		return b.before
	}
	return b.last
}
