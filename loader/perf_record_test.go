package loader

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// perfBytes makes a record of a kind.
func perfBytes(kind uint32, flags uint16, body ...any) []byte {
	b := make([]byte, perfHead)
	for _, part := range body {
		switch v := part.(type) {
		case uint32:
			b = binary.NativeEndian.AppendUint32(b, v)
		case uint64:
			b = binary.NativeEndian.AppendUint64(b, v)
		case string:
			b = append(b, v...)
		}
	}
	binary.NativeEndian.PutUint32(b, kind)
	binary.NativeEndian.PutUint16(b[4:], flags)
	binary.NativeEndian.PutUint16(b[6:], uint16(len(b)))
	return b
}

func execBytes(pid uint32, comm string) []byte {
	padded := comm + strings.Repeat("\x00", 8-len(comm)%8)
	return perfBytes(unix.PERF_RECORD_COMM, miscCommExec, pid, pid, padded, uint64(99))
}

func TestParsePerfRecord(t *testing.T) {
	wrongLength := execBytes(7, "npm")
	wrongLength[6]++
	for _, tc := range []struct {
		name  string
		text  []byte
		want  perfRecord
		wrong bool
	}{
		{"an exec", execBytes(7, "npm"), perfRecord{exec: true, pid: 7, comm: "npm", time: 99}, false},
		{"with 15 bytes", execBytes(7, "x86_64-linux-gn"), perfRecord{exec: true, pid: 7, comm: "x86_64-linux-gn", time: 99}, false},
		{"with no comm", execBytes(7, ""), perfRecord{exec: true, pid: 7, time: 99}, false},
		{"a thread renames itself", perfBytes(unix.PERF_RECORD_COMM, 0, uint32(7), uint32(8), "worker\x00\x00", uint64(99)), perfRecord{}, false},
		{"of another pid namespace", execBytes(0, "npm"), perfRecord{exec: true, comm: "npm", time: 99}, false},
		{"of one that is ending", execBytes(^uint32(0), "npm"), perfRecord{exec: true, comm: "npm", time: 99}, false},
		{"a loss", perfBytes(unix.PERF_RECORD_LOST, 0, uint64(1), uint64(12), uint64(99)), perfRecord{lost: 12}, false},
		{"of no interest", perfBytes(unix.PERF_RECORD_THROTTLE, 0, uint64(1), uint64(2), uint64(3)), perfRecord{}, false},
		{"nothing", nil, perfRecord{}, true},
		{"another length", wrongLength, perfRecord{}, true},
		{"a short exec", perfBytes(unix.PERF_RECORD_COMM, miscCommExec, uint32(7)), perfRecord{}, true},
		{"a short loss", perfBytes(unix.PERF_RECORD_LOST, 0, uint64(1)), perfRecord{}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parsePerfRecord(tc.text)
			if got != tc.want || (err != nil) != tc.wrong {
				t.Errorf("got %+v, %v; want %+v", got, err, tc.want)
			}
		})
	}
}

func FuzzParsePerfRecord(f *testing.F) {
	f.Add(execBytes(7, "npm"))
	f.Add(perfBytes(unix.PERF_RECORD_LOST, 0, uint64(1), uint64(12), uint64(99)))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parsePerfRecord(text)
		if err == nil && (r.pid < 0 || len(r.comm) > commBytes || strings.Contains(r.comm, "\x00")) {
			t.Errorf("%+v", r)
		}
	})
}

// memoryRing is a perf ring in ordinary memory.
func memoryRing(size int, at uint64) *perfRing {
	words := make([]uint64, (int(unsafe.Sizeof(unix.PerfEventMmapPage{}))+size)/8)
	about := (*unix.PerfEventMmapPage)(unsafe.Pointer(&words[0]))
	about.Data_head, about.Data_tail = at, at
	return &perfRing{about: about, data: make([]byte, size)}
}

func (r *perfRing) put(record []byte) {
	for _, c := range record {
		r.data[r.about.Data_head&uint64(len(r.data)-1)] = c
		r.about.Data_head++
	}
}

func TestPerfRing(t *testing.T) {
	// 232 + 40 bytes: the second record begins at the end and goes on at the
	// start of the ring.
	r := memoryRing(256, 1<<20+208)
	var want, got []string
	for _, comm := range []string{"a", "long-name-12345", "b"} {
		r.put(execBytes(7, comm))
		want = append(want, comm)
	}
	read := func(text []byte) error {
		record, err := parsePerfRecord(text)
		got = append(got, record.comm)
		return err
	}
	if err := r.read(read); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if r.about.Data_tail != r.about.Data_head {
		t.Error("the kernel was not told that there is room")
	}
	got = nil
	if err := r.read(read); err != nil || got != nil {
		t.Errorf("an empty ring: %q, %v", got, err)
	}
	stop := errors.New("stop")
	r.put(execBytes(7, "a"))
	if err := r.read(func([]byte) error { return stop }); err != stop {
		t.Errorf("got %v, want %v", err, stop)
	}
}

func TestPerfRingDamaged(t *testing.T) {
	for name, damage := range map[string]func(*perfRing){
		"a record of no length":       func(r *perfRing) { r.put(make([]byte, 8)) },
		"a record beyond the head":    func(r *perfRing) { r.put([]byte{3, 0, 0, 0, 0, 0, 64, 0}) },
		"a length that is not even":   func(r *perfRing) { r.put(append([]byte{3, 0, 0, 0, 0, 0, 9, 0}, make([]byte, 8)...)) },
		"more than the ring can have": func(r *perfRing) { r.about.Data_head += 4096 },
		"less than a head":            func(r *perfRing) { r.about.Data_head += 4 },
	} {
		r := memoryRing(256, 0)
		damage(r)
		if err := r.read(func([]byte) error { return nil }); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
