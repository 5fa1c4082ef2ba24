package loader

import (
	"errors"
	"fmt"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
	"golang.org/x/sys/unix"
)

// poll is the source that needs no privilege: at each tick it compares /proc
// with what it knew. It sees what its user may see (hidepid, another user's
// binaries), and a process that came and went between two ticks not at all.
type poll struct {
	table
	timer int
	exec  proc.Exec
}

// openPoll takes in what runs already, without reporting it.
func openPoll(o Options) (Source, error) {
	p := &poll{table: table{fs: o.FS, known: map[int]*process{}}}
	if err := p.SetNames(o.Names, o.All); err != nil {
		return nil, err
	}
	if err := p.begin(time.Now()); err != nil {
		return nil, err
	}
	timer, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("create the poll timer: %w", err)
	}
	tick := unix.NsecToTimespec(o.Tick.Nanoseconds())
	if err := unix.TimerfdSettime(timer, 0, &unix.ItimerSpec{Interval: tick, Value: tick}, nil); err != nil {
		unix.Close(timer)
		return nil, fmt.Errorf("set the poll timer to %v: %w", o.Tick, err)
	}
	p.timer = timer
	return p, nil
}

func (p *poll) Name() string { return "poll" }

// FD is the timer: readable at each tick, whether or not anything is new.
func (p *poll) FD() int { return p.timer }

// Read looks at /proc if a tick has passed since the last call. Ticks that were
// missed count as one.
func (p *poll) Read(yield func(*proc.Exec)) error {
	if p.timer < 0 {
		return ErrClosed
	}
	var ticks [8]byte
	_, err := unix.Read(p.timer, ticks[:])
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the poll timer: %w", err)
	}
	now := time.Now()
	return p.tick(now, func(pid int, comm string, tag uint32) {
		p.exec = proc.Exec{ID: proc.ID{PID: pid}, Comm: comm, Tag: tag, Source: "poll", Seen: now, Late: true}
		yield(&p.exec)
	})
}

func (p *poll) Close() error {
	if p.timer < 0 {
		return nil
	}
	timer := p.timer
	p.timer, p.known = -1, nil
	if err := unix.Close(timer); err != nil {
		return fmt.Errorf("close the poll timer: %w", err)
	}
	return nil
}
