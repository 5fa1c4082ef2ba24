package watchdog

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/prometheus/procfs"
)

// Unknown is the value of a size that the kernel does not tell.
const Unknown = int64(-1)

// Reading is the machine's memory at one moment. Sizes are in bytes, from
// /proc/meminfo; a size that could not be read is Unknown.
type Reading struct {
	MemTotal     int64
	MemAvailable int64 // Linux ≥ 3.14
	SwapTotal    int64
	SwapFree     int64
	Zram         Zram
	PSI          *Pressure // nil where the kernel has no PSI (a stock Raspberry Pi, psi=0, Linux < 4.20)
}

// Pressure is /proc/pressure/memory: for how long tasks stood still for want
// of memory.
type Pressure struct {
	Some, Full Stall
}

// Stall is one line of a pressure file.
type Stall struct {
	Avg10 float64 // percent of the last 10 s
	Total uint64  // microseconds since boot
}

// Reader reads below roots that a test can choose.
type Reader struct {
	proc procfs.FS
	sys  string
}

// NewReader reads below root, which has proc and sys in it: "/" outside tests.
func NewReader(root string) (*Reader, error) {
	proc, err := procfs.NewFS(filepath.Join(root, "proc"))
	if err != nil {
		return nil, fmt.Errorf("open proc: %w", err)
	}
	return &Reader{proc: proc, sys: filepath.Join(root, "sys")}, nil
}

// Read takes one reading. Missing PSI and missing swap are answers; an error
// means that /proc/meminfo, without which nothing can be said, was not to be
// had, or that a file is not what the kernel writes.
func (r *Reader) Read() (Reading, error) {
	info, err := r.proc.Meminfo()
	if err != nil {
		return Reading{}, fmt.Errorf("read meminfo: %w", err)
	}
	reading := Reading{
		MemTotal:     size(info.MemTotalBytes),
		MemAvailable: size(info.MemAvailableBytes),
		SwapTotal:    size(info.SwapTotalBytes),
		SwapFree:     size(info.SwapFreeBytes),
	}
	if reading.MemTotal == Unknown {
		return Reading{}, errors.New("read meminfo: no MemTotal in it")
	}
	if reading.SwapTotal > 0 {
		reading.Zram = r.zram()
	}
	reading.PSI, err = r.pressure()
	if err != nil {
		return Reading{}, err
	}
	return reading, nil
}

func (r *Reader) pressure() (*Pressure, error) {
	stats, err := r.proc.PSIStatsForResource("memory")
	// Some kernels keep the file with psi=0 and answer the read with EOPNOTSUPP.
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EOPNOTSUPP) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read memory pressure: %w", err)
	}
	if stats.Some == nil || stats.Full == nil {
		return nil, nil
	}
	return &Pressure{
		Some: Stall{Avg10: stats.Some.Avg10, Total: stats.Some.Total},
		Full: Stall{Avg10: stats.Full.Avg10, Total: stats.Full.Total},
	}, nil
}

func size(bytes *uint64) int64 {
	if bytes == nil || *bytes > 1<<62 {
		return Unknown
	}
	return int64(*bytes)
}
