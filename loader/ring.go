//go:build linux && (amd64 || arm64 || loong64 || mips64le || ppc64le || riscv64)

package loader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The head of a record in the kernel's ring buffer: its length and two flags,
// and a word for the kernel's own use.
const (
	ringHead      = 8
	ringBusy      = 1 << 31 // reserved and not yet submitted
	ringDiscarded = 1 << 30
)

// ring reads a BPF ring buffer where it is mapped: no copy of it, no goroutine
// and no epoll of its own. The map's descriptor is readable when records wait.
//
// The kernel wakes whoever waits only when a record is submitted at the very
// position that the consumer has announced. So the position is stored after
// each record, and the producer's is read again after that.
type ring struct {
	consumed []byte // one page: the consumer's position, ours to write
	produced []byte // one page with the producer's position, then the data
	data     []byte // of produced, mapped twice in a row: no record is ever cut
	mask     uint64
	consumer *uint64
	producer *uint64
}

// newRing maps the ring of size bytes that fd is. Pages are as large as the
// machine has them: 16 KiB on a Raspberry Pi 5.
func newRing(fd, size int) (*ring, error) {
	page := os.Getpagesize()
	consumed, err := unix.Mmap(fd, 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the ring's consumer page: %w", err)
	}
	produced, err := unix.Mmap(fd, int64(page), page+2*size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		unix.Munmap(consumed)
		return nil, fmt.Errorf("map the ring's data: %w", err)
	}
	return &ring{
		consumed: consumed,
		produced: produced,
		data:     produced[page:],
		mask:     uint64(size - 1),
		consumer: (*uint64)(unsafe.Pointer(&consumed[0])),
		producer: (*uint64)(unsafe.Pointer(&produced[0])),
	}, nil
}

// read hands each record that is complete to yield, which must not keep it. It
// takes what was there when it began: what comes meanwhile keeps the
// descriptor readable, and a storm of execs cannot hold the caller here.
func (r *ring) read(yield func([]byte) error) error {
	position := atomic.LoadUint64(r.consumer)
	end := atomic.LoadUint64(r.producer)
	for position < end {
		offset := position & r.mask
		head := atomic.LoadUint32((*uint32)(unsafe.Pointer(&r.data[offset])))
		if head&ringBusy != 0 {
			return nil // its submission will wake us
		}
		length := uint64(head &^ (ringBusy | ringDiscarded))
		next := position + (length+ringHead+7)&^7
		if length > r.mask || next > end {
			return fmt.Errorf("the ring is damaged: %d bytes at %d, of %d", length, position, end)
		}
		if head&ringDiscarded == 0 {
			if err := yield(r.data[offset+ringHead : offset+ringHead+length]); err != nil {
				return err
			}
		}
		position = next
		atomic.StoreUint64(r.consumer, position)
	}
	return nil
}

func (r *ring) close() error {
	err := errors.Join(unix.Munmap(r.consumed), unix.Munmap(r.produced))
	if err != nil {
		return fmt.Errorf("unmap the ring: %w", err)
	}
	return nil
}

// recordBytes is the size of struct record; a test compares it with the
// object's.
const recordBytes = 48

// parseRecord reads a struct record.
func parseRecord(b []byte) (r execRecord, err error) {
	if len(b) != recordBytes {
		return r, fmt.Errorf("a record of %d bytes, not %d", len(b), recordBytes)
	}
	r.Ktime = binary.NativeEndian.Uint64(b[0:])
	r.Cgroup = binary.NativeEndian.Uint64(b[8:])
	r.Tgid = binary.NativeEndian.Uint32(b[16:])
	r.Tid = binary.NativeEndian.Uint32(b[20:])
	r.Uid = binary.NativeEndian.Uint32(b[24:])
	r.Tag = binary.NativeEndian.Uint32(b[28:])
	copy(r.Comm[:], b[32:])
	return r, nil
}
