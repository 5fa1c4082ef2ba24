package note

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

func TestModes(t *testing.T) {
	r, w := pair(t)
	_, id := sleeper(t, nil, w)
	writer := New(proc.FS{}, On)
	for i, tt := range []struct {
		mode Mode
		want Outcome
	}{{On, Written}, {Terminal, NotTerminal}, {Off, TurnedOff}, {"", TurnedOff}, {On, Written}} {
		before := writer.Counts()
		writer.SetMode(tt.mode)
		writer.Tell(Note{To: id, Text: "npm starts"})
		rest(t, writer)
		after := writer.Counts()
		if after[tt.want] != before[tt.want]+1 {
			t.Errorf("%d: %q: %v, then %v; want one more %v", i, tt.mode, before, after, tt.want)
		}
	}
	if got := available(t, r); got != said+said {
		t.Errorf("read %q", got)
	}
	var none *Writer
	none.Tell(Note{})
	if none.Counts() != nil {
		t.Error("a writer that is none counts")
	}
}

// Every note is accounted for, however many come, and none waits for another
// for ever.
func TestMany(t *testing.T) {
	r, w := pair(t)
	_, id := sleeper(t, nil, w)
	_, file := sleeper(t, nil, nil)
	writer := New(proc.FS{}, On)
	const many = 3 * maxQueue
	for i := range many {
		n := Note{To: id, Text: "npm starts"}
		if i%2 == 0 {
			n.To = file
		}
		writer.Tell(n)
	}
	rest(t, writer)
	sum := uint64(0)
	for _, times := range writer.Counts() {
		sum += times
	}
	got := available(t, r)
	if counts := writer.Counts(); sum != many || uint64(len(got)/len(said)) != counts[Written] || counts[Written] == 0 {
		t.Errorf("%v of %d, read %d bytes", counts, many, len(got))
	}
	writer.mu.Lock()
	defer writer.mu.Unlock()
	if writer.threads != 0 || len(writer.queue) != 0 {
		t.Errorf("%d threads, %d notes are left", writer.threads, len(writer.queue))
	}
}

func TestNoDescriptorIsLeft(t *testing.T) {
	_, w := pair(t)
	_, id := sleeper(t, nil, w)
	_, s := sockets(t, unix.SOCK_STREAM)
	_, other := sleeper(t, nil, s)
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before := count()
	for range 5 {
		for _, to := range []proc.ID{id, other, {PID: id.PID, Start: 1}} {
			told(t, Note{To: to, Text: "x"})
		}
	}
	if after := count(); after > before {
		t.Errorf("%d descriptors, before it were %d", after, before)
	}
}
