package loader

import (
	"encoding/binary"
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

const (
	perfHead = 8 // type (4 bytes), flags (2), length (2)

	// The flag of a PERF_RECORD_COMM that an exec made; Linux 3.16.
	miscCommExec = 1 << 13
)

// perfRecord is what matters of one record.
type perfRecord struct {
	exec bool
	pid  int // the process, in this pid namespace; 0 if it is in none below
	comm string
	time uint64 // CLOCK_MONOTONIC, ns
	lost uint64 // records that had no room before this one
}

func perfLength(head []byte) uint16 { return binary.NativeEndian.Uint16(head[6:]) }

// parsePerfRecord reads one record, cut to its length.
func parsePerfRecord(b []byte) (r perfRecord, err error) {
	if len(b) < perfHead || int(perfLength(b)) != len(b) {
		return r, fmt.Errorf("a perf record of %d bytes that says another length", len(b))
	}
	kind, flags, body := binary.NativeEndian.Uint32(b), binary.NativeEndian.Uint16(b[4:]), b[perfHead:]
	switch kind {
	case unix.PERF_RECORD_COMM: // pid (4), tid (4), comm with NULs up to 8 bytes, time (8)
		if flags&miscCommExec == 0 {
			return r, nil
		}
		if len(body) < 16 {
			return r, fmt.Errorf("an exec's perf record of %d bytes", len(b))
		}
		pid := binary.NativeEndian.Uint32(body)
		if pid <= math.MaxInt32 { // -1 for a process that is ending
			r.pid = int(pid)
		}
		end := len(body) - 8
		r.comm = unix.ByteSliceToString(body[8:end])
		r.comm = r.comm[:min(len(r.comm), commBytes)]
		r.time = binary.NativeEndian.Uint64(body[end:])
		r.exec = true
	case unix.PERF_RECORD_LOST: // id (8), lost (8), time (8)
		if len(body) < 16 {
			return r, fmt.Errorf("a loss's perf record of %d bytes", len(b))
		}
		r.lost = binary.NativeEndian.Uint64(body[8:])
	}
	return r, nil
}
