//go:build linux && (amd64 || arm64 || loong64 || mips64le || ppc64le || riscv64)

package loader

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"unsafe"
)

// fakeRing is a BPF ring in ordinary memory, of which the kernel's side is the
// test. Its data is there twice, as the kernel maps it.
type fakeRing struct {
	ring
	position [2]uint64
}

func newFakeRing(size int, at uint64) *fakeRing {
	words := make([]uint64, 2*size/8)
	r := &fakeRing{position: [2]uint64{at, at}}
	r.data = unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 2*size)
	r.mask = uint64(size - 1)
	r.consumer, r.producer = &r.position[0], &r.position[1]
	return r
}

// put writes a record with flags in its head and gives its offset.
func (r *fakeRing) put(text string, flags uint32) uint64 {
	offset, size := r.position[1]&r.mask, r.mask+1
	record := binary.NativeEndian.AppendUint32(nil, uint32(len(text))|flags)
	record = append(append(record, 0, 0, 0, 0), text...)
	for i, c := range record {
		at := (offset + uint64(i)) & r.mask
		r.data[at], r.data[at+size] = c, c
	}
	r.position[1] += uint64(len(record)+7) &^ 7
	return offset
}

func (r *fakeRing) all(t *testing.T) (got []string) {
	t.Helper()
	if err := r.read(func(b []byte) error { got = append(got, string(b)); return nil }); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRing(t *testing.T) {
	r := newFakeRing(64, 1<<32+40) // the second record goes over the end
	r.put("first", 0)
	r.put("second, longer", 0)
	r.put("given up", ringDiscarded)
	if got, want := r.all(t), []string{"first", "second, longer"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if r.position[0] != r.position[1] {
		t.Error("the kernel was not told that there is room")
	}

	r.put("done", 0)
	offset := r.put("busy", ringBusy)
	behind := r.position[1]
	r.put("behind", 0)
	if got, want := r.all(t), []string{"done"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q: nothing passes a record that is being written", got, want)
	}
	if r.position[0] >= behind {
		t.Error("the position passed a record that is being written: its submission would wake nobody")
	}
	binary.NativeEndian.PutUint32(r.data[offset:], 4)
	if got, want := r.all(t), []string{"busy", "behind"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRingStops(t *testing.T) {
	r := newFakeRing(64, 0)
	r.put("a", 0)
	stop := errors.New("stop")
	if err := r.read(func([]byte) error { return stop }); err != stop {
		t.Errorf("got %v, want %v", err, stop)
	}
	// What comes while it reads is left for the next time: the descriptor
	// stays readable.
	r = newFakeRing(64, 0)
	r.put("a", 0)
	n := 0
	r.read(func([]byte) error { n++; r.put("b", 0); return nil })
	if n != 1 {
		t.Errorf("%d records in one read", n)
	}
	r = newFakeRing(64, 0)
	r.put("a", 0)
	binary.NativeEndian.PutUint32(r.data, 4096)
	if err := r.read(func([]byte) error { return nil }); err == nil {
		t.Error("a record longer than the ring, and no error")
	}
}

func TestParseRecord(t *testing.T) {
	want := execRecord{Ktime: 1 << 40, Cgroup: 1 << 33, Tgid: 7, Tid: 8, Uid: 1000, Tag: ArgvDecides}
	copy(want.Comm[:], "x86_64-linux-gn")
	// The compiler's own layout of the generated mirror is what C has.
	text := unsafe.Slice((*byte)(unsafe.Pointer(&want)), unsafe.Sizeof(want))
	got, err := parseRecord(text)
	if err != nil || got != want {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	for _, wrong := range [][]byte{nil, text[:47], append(slices.Clone(text), 0)} {
		if _, err := parseRecord(wrong); err == nil {
			t.Errorf("%d bytes, no error", len(wrong))
		}
	}
}

func FuzzRing(f *testing.F) {
	f.Add([]byte("some records"), uint64(0), uint64(24))
	f.Fuzz(func(t *testing.T, data []byte, from, to uint64) {
		r := newFakeRing(256, from&^7)
		copy(r.data, data)
		copy(r.data[256:], data)
		r.position[1] = r.position[0] + to%257&^7
		_ = r.read(func(b []byte) error {
			if len(b) > 256 {
				t.Errorf("%d bytes of 256", len(b))
			}
			return nil
		})
		if r.position[0] > r.position[1] {
			t.Error("read beyond the end")
		}
	})
}
