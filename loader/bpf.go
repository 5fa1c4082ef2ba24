//go:build linux && (amd64 || arm64 || loong64 || mips64le || ppc64le || riscv64)

package loader

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/headroomd/headroomd/loader/proc"
	"golang.org/x/sys/unix"
)

// bpf is the source with the program in the kernel. It owns all of it: Close
// detaches the program first, then frees ring, program and maps.
type bpf struct {
	bpfFilter
	program  *ebpf.Program
	attached link.Link
	maps     execMaps
	ring     *ring
	exec     proc.Exec

	mu     sync.Mutex // of what follows: Counters may be asked while Close is at work
	before Counters   // the trial's share, which is nobody's business
	last   Counters   // what Counters answers after Close
	closed bool
}

// openBPF loads and attaches the program, and sees that it reports.
func openBPF(o Options) (Source, error) {
	b, err := loadBPF(o)
	if err != nil {
		return nil, explainBPF(err, kernelRelease(), capable(capBPF) && capable(capPerfmon))
	}
	err = b.try(o)
	if err == nil {
		err = b.SetNames(o.Names, o.All)
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// loadBPF has the program in the kernel, reporting nothing yet.
func loadBPF(o Options) (*bpf, error) {
	if kernelRelease().before(5, 11) {
		// Maps count as locked memory there, of which 64 KB are allowed.
		_ = unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY})
	}
	size := roundUp(o.RingBytes, os.Getpagesize())
	b, err := loadProgram(execProgExecRaw, size)
	if err != nil {
		var classic error
		if b, classic = loadProgram(execProgExecClassic, size); classic != nil {
			return nil, errors.Join(err, classic)
		}
	}
	if b.ring, err = newRing(b.maps.Ring.FD(), size); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// loadProgram loads one of the two programs, with the maps, and attaches it.
func loadProgram(name string, ringSize int) (*bpf, error) {
	spec, err := loadExec()
	if err != nil {
		return nil, err
	}
	for other := range spec.Programs {
		if other != name {
			delete(spec.Programs, other)
		}
	}
	spec.Maps[execMapRing].MaxEntries = uint32(ringSize)
	collection, err := ebpf.NewCollection(spec)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", name, err)
	}
	b := &bpf{}
	if err := collection.Assign(&b.maps); err != nil {
		collection.Close()
		return nil, fmt.Errorf("load %s: %w", name, err)
	}
	b.program = collection.DetachProgram(name)
	collection.Close() // what was assigned or detached is not its own any more
	b.use(&b.maps)

	if b.program.Type() == ebpf.RawTracepoint {
		b.attached, err = link.AttachRawTracepoint(link.RawTracepointOptions{Name: "sched_process_exec", Program: b.program})
	} else {
		b.attached, err = link.Tracepoint("sched", "sched_process_exec", b.program, nil)
	}
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("attach %s: %w", name, err)
	}
	return b, nil
}

// try has the source report a program of our own.
func (b *bpf) try(o Options) error {
	if err := b.SetNames(map[string]uint32{trialProgram: 0}, false); err != nil {
		return err
	}
	if err := trial(b, o.FS); err != nil {
		return err
	}
	b.before = b.Counters()
	return nil
}

func (b *bpf) Name() string { return "bpf" }

// FD is the ring's map: the kernel makes it readable.
func (b *bpf) FD() int {
	if b.closed {
		return -1
	}
	return b.maps.Ring.FD()
}

func (b *bpf) Read(yield func(*proc.Exec)) error {
	if b.closed {
		return ErrClosed
	}
	now, own := readClock(), b.own.Load()
	err := b.ring.read(func(text []byte) error {
		r, err := parseRecord(text)
		if err != nil {
			return err
		}
		comm := unix.ByteSliceToString(r.Comm[:])
		tag := r.Tag
		if own != nil {
			var ok bool
			if tag, ok = own.match(comm); !ok {
				return nil
			}
		}
		b.exec = proc.Exec{ID: proc.ID{PID: int(r.Tgid)}, Comm: comm, Tag: tag, Source: "bpf", Seen: now.at(r.Ktime)}
		yield(&b.exec)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the BPF ring: %w", err)
	}
	return nil
}

// Counters sums up those of all CPUs.
func (b *bpf) Counters() Counters {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count()
}

func (b *bpf) count() Counters {
	if b.closed {
		return b.last
	}
	var each []execCounts
	if err := b.maps.Counters.Lookup(uint32(0), &each); err != nil {
		return b.last
	}
	var sum Counters
	for _, c := range each {
		sum.Seen += c.Seen
		sum.Reported += c.Reported
		sum.Lost += c.Lost
	}
	sum.Seen -= b.before.Seen
	sum.Reported -= b.before.Reported
	sum.Lost -= b.before.Lost
	b.last = sum
	return sum
}

func (b *bpf) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.count()
	b.closed = true
	var errs []error
	if b.attached != nil {
		errs = append(errs, b.attached.Close())
	}
	if b.ring != nil {
		errs = append(errs, b.ring.close())
	}
	errs = append(errs, b.program.Close(), b.maps.Close())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close the BPF source: %w", err)
	}
	return nil
}
