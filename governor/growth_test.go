package governor

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// sizeTable is a process table of sizes.
type sizeTable struct {
	resident map[int]int64
	memory   map[int]proc.Memory
	err      error
	close    int // how often a process was looked at closely
}

func (s *sizeTable) AppendList(pids []int) ([]int, error) {
	for pid := range s.resident {
		pids = append(pids, pid)
	}
	return pids, s.err
}

func (s *sizeTable) Resident(pid int) (int64, error) {
	if s.resident[pid] < 0 {
		return 0, proc.ErrGone
	}
	return s.resident[pid], nil
}

func (s *sizeTable) Memory(pid int) (proc.Memory, error) {
	s.close++
	m, ok := s.memory[pid]
	if !ok {
		return m, proc.ErrGone
	}
	return m, nil
}

func TestLookAtSizes(t *testing.T) {
	const mb = 1 << 20
	table := &sizeTable{
		resident: map[int]int64{2: 0, 3: -1, 10: 3 * mb, 11: 90 * mb, 12: 80 * mb, 13: 70 * mb},
		memory: map[int]proc.Memory{
			11: {RssAnon: 20 * mb, RssFile: 70 * mb, RssShmem: -1, Swap: 300 * mb}, // most of it is swapped out
			12: {RssAnon: 5 * mb, RssFile: 60 * mb, RssShmem: 15 * mb, Swap: -1},   // most of it are files
			// 13 has ended between the two, and keeps what was read first.
		},
	}
	got, err := lookAtSizes(table, 500)
	if err != nil || got.availableMB != 500 {
		t.Fatalf("got %+v, %v", got, err)
	}
	for pid, want := range map[int]int64{2: 0, 3: 0, 10: 3, 11: 320, 12: 20, 13: 70} {
		if got.bytes[pid]>>20 != want {
			t.Errorf("process %d has %d MB, want %d", pid, got.bytes[pid]>>20, want)
		}
	}
	if table.close != 3 {
		t.Errorf("%d processes were looked at closely, want the 3 large ones", table.close)
	}
	table.err = errors.New("no /proc")
	if _, err := lookAtSizes(table, 500); err == nil {
		t.Error("no error")
	}
}

func TestGrownSince(t *testing.T) {
	const mb = 1 << 20
	was := sizes{bytes: map[int]int64{1: 10 * mb, 2: 100 * mb, 3: 50 * mb, 4: 400 * mb}}
	now := sizes{bytes: map[int]int64{1: 13 * mb, 2: 300 * mb, 3: 20 * mb, 4: 404 * mb, 5: 250 * mb}}
	var pids []int
	for _, g := range now.since(was) {
		pids = append(pids, g.pid)
	}
	// 1 has breathed, 3 has shrunk, 5 is new.
	if want := []int{5, 2, 4}; !slices.Equal(pids, want) {
		t.Errorf("grown are %v, want %v", pids, want)
	}
	for pid := range 1000 {
		now.bytes[pid+10] = 8 * mb
	}
	if n := len(now.since(was)); n != grownMost {
		t.Errorf("%d are looked at, want at most %d", n, grownMost)
	}
}

func TestBaseline(t *testing.T) {
	var b baseline
	now := time.Now()
	if b.was().bytes != nil || !b.due(now, false) || !b.empty() {
		t.Error("there is a look before the first")
	}
	look := func(mb int64, at time.Time) { b.calm(sizes{at: at, availableMB: mb, bytes: map[int]int64{}}) }
	look(1, now)
	if b.was().availableMB != 1 || b.due(now.Add(calmEvery-1), true) || !b.due(now.Add(calmEvery), true) || b.due(now.Add(calmEvery), false) || b.empty() {
		t.Errorf("after one look: %+v", b)
	}
	look(2, now.Add(calmEvery))
	look(3, now.Add(2*calmEvery))
	if got := b.was().availableMB; got != 2 {
		t.Errorf("compared with look %d, want the one before the last", got)
	}
}
