package loader

import (
	"log/slog"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// ArgvDecides is the tag of a name that says too little by itself (a
// truncated cross compiler, an interpreter): the argv must be looked at.
const ArgvDecides uint32 = 1 << 31

// Source tells of execs.
type Source interface {
	// Name is "bpf", "perf" or "poll".
	Name() string
	// FD becomes readable (EPOLLIN) when execs wait.
	FD() int
	// Read hands what is ready to yield and never blocks. The Exec is valid
	// only during the call; only its first group of fields is filled. An error
	// means that the source has ended.
	Read(yield func(*proc.Exec)) error
	Counters() Counters
	Close() error
}

// Counters are those of one source since it was opened.
type Counters struct {
	Seen     uint64 // execs that passed by
	Reported uint64 // execs handed on
	Lost     uint64 // execs that should have been handed on and were not
}

// Filter is offered besides by a source that filters in the kernel.
type Filter interface {
	SetNames(names map[string]uint32, all bool) error
	Ignore(cgroupID uint64, dir string) error
	Attend(cgroupID uint64) error
}

// Options say which source is wanted.
type Options struct {
	Want      string // "auto", "bpf", "perf", "poll"; "" is auto
	FS        proc.FS
	Names     map[string]uint32 // program names to report, with their tags
	All       bool              // report every exec
	Tick      time.Duration     // of poll; 0 is 10 ms
	RingBytes int               // 0 is 128 KiB
	Log       *slog.Logger
}

// Choice says which source was chosen, and why not a better one.
type Choice struct {
	Name  string
	Why   string
	Tried []Attempt
}

// Attempt is one source's answer to a probe: nil, an error that wraps
// errors.ErrUnsupported and says what is missing, or another error.
type Attempt struct {
	Name string
	Err  error
}

func Open(o Options) (Source, Choice, error) { return nil, Choice{}, nil }
func OpenAfter(o Options, ended string, cause error) (Source, Choice, error) {
	return nil, Choice{}, nil
}
