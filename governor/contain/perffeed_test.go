//go:build linux

package contain_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// perfFeed tells of the kernel's execs of one program name, so that these
// tests need no other package of the module.
type perfFeed struct {
	epfd  int
	comm  string
	rings [][]byte
	buf   []byte
}

const ringPages = 16

func newPerfFeed(t testing.TB, comm string) *perfFeed {
	t.Helper()
	epfd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	f := &perfFeed{epfd: epfd, comm: comm}
	t.Cleanup(func() { unix.Close(epfd) })
	for cpu := range runtime.NumCPU() {
		attr := unix.PerfEventAttr{
			Type:   unix.PERF_TYPE_SOFTWARE,
			Config: unix.PERF_COUNT_SW_DUMMY,
			Size:   uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
			Bits:   unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitWatermark,
			Wakeup: 1,
		}
		fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			t.Skipf("needs perf's exec records: %v", err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		ring, err := unix.Mmap(fd, 0, (1+ringPages)*unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Munmap(ring) })
		f.rings = append(f.rings, ring)
		if err := unix.EpollCtl(epfd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func (f *perfFeed) FD() int { return f.epfd }

func (f *perfFeed) Read(yield func(*proc.Exec)) error {
	// A level-triggered epoll inside an epoll stays readable until its own
	// events were looked at.
	var events [8]unix.EpollEvent
	_, _ = unix.EpollWait(f.epfd, events[:], 0)
	for _, ring := range f.rings {
		page := (*unix.PerfEventMmapPage)(unsafe.Pointer(&ring[0]))
		data := ring[unix.Getpagesize():]
		head, tail := atomic.LoadUint64(&page.Data_head), page.Data_tail
		for tail < head {
			at := func(off uint64, n int) []byte {
				f.buf = f.buf[:0]
				for i := range uint64(n) {
					f.buf = append(f.buf, data[(tail+off+i)%uint64(len(data))])
				}
				return f.buf
			}
			h := at(0, 8)
			kind, misc, size := binary.NativeEndian.Uint32(h), binary.NativeEndian.Uint16(h[4:]), binary.NativeEndian.Uint16(h[6:])
			if size < 8 {
				return fmt.Errorf("perf record of %d bytes", size)
			}
			if kind == unix.PERF_RECORD_COMM && misc&unix.PERF_RECORD_MISC_COMM_EXEC != 0 {
				rec := at(8, int(size)-8)
				comm, _, _ := bytes.Cut(rec[8:], []byte{0})
				if strings.HasPrefix(string(comm), f.comm) {
					yield(&proc.Exec{ID: proc.ID{PID: int(binary.NativeEndian.Uint32(rec))}, Comm: f.comm, Source: "perf", Seen: time.Now()})
				}
			}
			tail += uint64(size)
		}
		atomic.StoreUint64(&page.Data_tail, tail)
	}
	return nil
}
