package loader

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// perfRing is one CPU's event with the ring that its records come in.
type perfRing struct {
	cpu, fd int
	mapped  []byte // a page about the ring, then the ring
	about   *unix.PerfEventMmapPage
	data    []byte
	cut     []byte // a record that goes over the ring's end, put together
}

func openPerfRing(cpu, size int) (*perfRing, error) {
	attr := execRecords()
	fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("open perf event on CPU %d: %w", cpu, err)
	}
	page := os.Getpagesize()
	mapped, err := unix.Mmap(fd, 0, page+size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("map perf's ring of CPU %d: %w", cpu, err)
	}
	return &perfRing{
		cpu: cpu, fd: fd, mapped: mapped,
		about: (*unix.PerfEventMmapPage)(unsafe.Pointer(&mapped[0])),
		data:  mapped[page:],
	}, nil
}

// read hands each record to yield, which must not keep it, until the ring is
// empty. The kernel waits for the tail, which is moved after each lap, and
// counts what it has no room for.
func (r *perfRing) read(yield func([]byte) error) error {
	tail := atomic.LoadUint64(&r.about.Data_tail)
	for {
		head := atomic.LoadUint64(&r.about.Data_head)
		if tail == head {
			return nil
		}
		for tail < head {
			record, err := r.record(tail, head)
			if err != nil {
				return err
			}
			if err := yield(record); err != nil {
				return err
			}
			tail += uint64(len(record))
		}
		atomic.StoreUint64(&r.about.Data_tail, tail)
	}
}

// record is the one at tail. Records and the ring are multiples of 8 bytes, so
// a head is never cut.
func (r *perfRing) record(tail, head uint64) ([]byte, error) {
	size := uint64(len(r.data))
	if bits.OnesCount64(size) != 1 || head-tail > size || head-tail < perfHead {
		return nil, fmt.Errorf("the ring is damaged: from %d to %d in %d bytes", tail, head, size)
	}
	start := tail & (size - 1)
	length := uint64(perfLength(r.data[start:]))
	if length < perfHead || length > head-tail || length%8 != 0 {
		return nil, fmt.Errorf("the ring is damaged: a record of %d bytes at %d, of %d", length, tail, head)
	}
	if start+length <= size {
		return r.data[start : start+length], nil
	}
	r.cut = append(append(r.cut[:0], r.data[start:]...), r.data[:start+length-size]...)
	return r.cut, nil
}

func (r *perfRing) close() error {
	return errors.Join(unix.Munmap(r.mapped), unix.Close(r.fd))
}
