package loader

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// ArgvDecides is the tag of a name that says too little by itself, such as an
// interpreter's or a truncated cross compiler's.
const ArgvDecides uint32 = 1 << 31

// ErrClosed is what Read answers after Close.
var ErrClosed = errors.New("source is closed")

// Source tells of execs. Read, FD and Close are for one goroutine; the other
// methods, those of Filter included, may be called from any meanwhile.
type Source interface {
	// Name is "bpf", "perf" or "poll".
	Name() string

	// FD is a descriptor that is readable (EPOLLIN) when execs wait. It is fit
	// for one epoll with others, and stays the source's own.
	FD() int

	// Read hands what is ready to yield and never blocks. The Exec is valid
	// only during the call; ID.PID, Comm, Tag, Source, Seen and Late are
	// filled, nothing else. An error means that the source has ended.
	Read(yield func(*proc.Exec)) error

	// Counters are since the source was opened; after Close, as they were then.
	// They cost some microseconds.
	Counters() Counters

	// Close ends the source and frees all it holds. A second call does nothing.
	Close() error
}

// Counters count execs. Any growth of Lost calls for one full scan of /proc.
type Counters struct {
	Seen     uint64 // passed by; of poll: processes found new or changed
	Reported uint64 // handed on
	Lost     uint64 // should have been handed on (perf: looked at) and were not; poll cannot know
}

// Filter is what a source that filters in the kernel (BPF) offers besides. Perf
// and poll have SetNames alone: they filter in user space, by the same keys.
type Filter interface {
	// SetNames replaces the program names that are reported, and their tags;
	// all reports every exec, with the tag of its name or 0.
	SetNames(names map[string]uint32, all bool) error

	// Ignore drops the execs in a cgroup from now on. dir is its directory; with
	// it those in cgroups below are dropped, too, for up to 32 cgroups at once
	// (more are dropped by their id alone). dir may be "".
	Ignore(cgroupID uint64, dir string) error

	// Attend undoes Ignore. Of a cgroup that was not ignored it is no error.
	Attend(cgroupID uint64) error
}

// Options say which source is wanted. The zero value is the best source,
// reporting nothing.
type Options struct {
	Want      string            // "auto" (or ""), "bpf", "perf", "poll"
	FS        proc.FS           // /proc, for poll and for checks
	Names     map[string]uint32 // program names to report ("python3", "x86_64-linux-gnu-g++"), with their tags
	All       bool              // report every exec
	Tick      time.Duration     // of poll; 0 is 10 ms
	RingBytes int               // of BPF, and of perf's rings together; rounded up to a power of two of pages; 0 is 128 KiB
	Log       *slog.Logger      // nil: none
}

const (
	defaultTick      = 10 * time.Millisecond
	defaultRingBytes = 128 << 10
)

func (o Options) withDefaults() Options {
	if o.Want == "" {
		o.Want = "auto"
	}
	if o.Tick <= 0 {
		o.Tick = defaultTick
	}
	if o.RingBytes <= 0 {
		o.RingBytes = defaultRingBytes
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// missing is what a machine lacks for a source. It is errors.ErrUnsupported.
type missing struct {
	what  string
	cause error // nil where nothing was refused
}

func (m *missing) Error() string {
	if m.cause == nil {
		return m.what
	}
	return fmt.Sprintf("%s (%v)", m.what, m.cause)
}

func (m *missing) Is(target error) bool { return target == errors.ErrUnsupported }
func (m *missing) Unwrap() error        { return m.cause }
