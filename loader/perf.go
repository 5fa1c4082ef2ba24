package loader

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"github.com/headroomd/headroomd/loader/proc"
	"golang.org/x/sys/unix"
)

// perf is the source of perf's own records: a software event that never counts
// anything, one a CPU, whose only use is that the kernel puts a record of each
// exec beside it. It tells of every exec, names are filtered here, and it does
// so some microseconds before the new argv can be read.
//
// The CPUs are those online at the start. One that comes later is not watched:
// its execs are neither seen nor counted as lost.
type perf struct {
	names
	tally
	epoll  int // of all rings' descriptors: what FD is
	rings  []*perfRing
	exec   proc.Exec
	closed bool
}

// minPerfRing holds some 400 execs a CPU.
const minPerfRing = 16 << 10

// openPerf opens an event on each CPU, and sees that they report.
func openPerf(o Options) (Source, error) {
	cpus, err := onlineCPUs("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, err
	}
	p := &perf{epoll: -1}
	if err := p.open(cpus, o.RingBytes); err != nil {
		p.Close()
		return nil, explainPerf(err, kernelRelease(), capable(capPerfmon))
	}
	p.SetNames(nil, true)
	err = trial(p, o.FS)
	if err == nil {
		err = p.SetNames(o.Names, o.All)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	p.reset()
	return p, nil
}

func (p *perf) open(cpus []int, ringBytes int) (err error) {
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("create an epoll for perf's rings: %w", err)
	}
	size := roundUp(max(minPerfRing, ringBytes/len(cpus)), os.Getpagesize())
	for _, cpu := range cpus {
		r, err := openPerfRing(cpu, size)
		if errors.Is(err, unix.ENODEV) {
			continue // it went offline since the list was read
		}
		if err != nil {
			return err
		}
		p.rings = append(p.rings, r)
		wanted := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(r.fd)}
		if err := unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, r.fd, &wanted); err != nil {
			return fmt.Errorf("watch perf's ring of CPU %d: %w", cpu, err)
		}
	}
	if len(p.rings) == 0 {
		return errors.New("open perf events: no CPU is online")
	}
	return nil
}

// execRecords asks for a record of each exec, marked as one (a thread that
// renames itself makes one, too), with its time, and a wake-up after each byte.
func execRecords() unix.PerfEventAttr {
	return unix.PerfEventAttr{
		Type:        unix.PERF_TYPE_SOFTWARE,
		Config:      unix.PERF_COUNT_SW_DUMMY,
		Size:        uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Sample_type: unix.PERF_SAMPLE_TIME,
		Bits: unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitSampleIDAll |
			unix.PerfBitWatermark | unix.PerfBitUseClockID,
		Wakeup:  1,
		Clockid: unix.CLOCK_MONOTONIC,
	}
}

func (p *perf) Name() string { return "perf" }

func (p *perf) FD() int { return p.epoll }

func (p *perf) Read(yield func(*proc.Exec)) error {
	if p.closed {
		return ErrClosed
	}
	now := readClock()
	for _, r := range p.rings {
		// All of them, and each until it is empty: a perf descriptor is readable
		// once for each wake-up, so what is left behind would wait for the next
		// exec on that CPU.
		err := r.read(func(text []byte) error {
			record, err := parsePerfRecord(text)
			if err != nil {
				return err
			}
			p.lost.Add(record.lost)
			if !record.exec {
				return nil
			}
			p.seen.Add(1)
			if record.pid <= 0 {
				return nil // of a pid namespace that is not below this one
			}
			tag, ok := p.match(record.comm)
			if !ok {
				return nil
			}
			p.reported.Add(1)
			p.exec = proc.Exec{ID: proc.ID{PID: record.pid}, Comm: record.comm, Tag: tag, Source: "perf", Seen: now.at(record.time)}
			yield(&p.exec)
			return nil
		})
		if err != nil {
			return fmt.Errorf("read perf's ring of CPU %d: %w", r.cpu, err)
		}
	}
	return nil
}

func (p *perf) Close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	var errs []error
	if p.epoll >= 0 {
		errs = append(errs, unix.Close(p.epoll))
		p.epoll = -1
	}
	for _, r := range p.rings {
		errs = append(errs, r.close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close the perf source: %w", err)
	}
	return nil
}

// explainPerf says in plain words why perf's events cannot be had.
func explainPerf(err error, kernel release, capable bool) error {
	switch {
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP):
		return &missing{"the kernel is built without CONFIG_PERF_EVENTS", err}
	case kernel != release{} && kernel.before(4, 1):
		return &missing{fmt.Sprintf("needs Linux 4.1, this is %v", kernel), err}
	case denied(err) && !capable:
		level, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
		return &missing{fmt.Sprintf("needs root or CAP_PERFMON (kernel.perf_event_paranoid is %s)", strings.TrimSpace(string(level))), nil}
	case denied(err):
		level, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
		if n, err := strconv.Atoi(strings.TrimSpace(string(level))); err == nil && n > 2 {
			// Debian's kernels add levels, and ask for more than the kernel's own.
			return &missing{fmt.Sprintf("needs CAP_SYS_ADMIN on this kernel (kernel.perf_event_paranoid is %d)", n), nil}
		}
		return &missing{"the kernel refuses perf to this process: locked down, or a container's seccomp filter", err}
	}
	return err
}
