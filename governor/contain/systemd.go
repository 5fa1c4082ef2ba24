package contain

import (
	"context"
	"log/slog"

	"github.com/headroomd/headroomd/loader/proc"
)

// SystemdOptions say where Systemd finds the kernel's files and the managers.
// The zero value is the running machine.
type SystemdOptions struct {
	FS         proc.FS
	CgroupRoot string // "" = the cgroup2 mount named in /proc/self/mountinfo
	Log        *slog.Logger
	Dial       func(ctx context.Context, manager string) (Bus, error) // nil = the private sockets
}

type Systemd struct{}

func NewSystemd(ctx context.Context, o SystemdOptions) (*Systemd, error) { return nil, nil }

func (s *Systemd) Look(ctx context.Context, x proc.Exec) (Origin, error) { return Origin{}, nil }
func (s *Systemd) Place(ctx context.Context, spec Spec) (Scope, error)   { return Scope{}, nil }
func (s *Systemd) Join(ctx context.Context, sc Scope, x proc.Exec, tree bool) (moved int, err error) {
	return 0, nil
}
func (s *Systemd) Usage(sc Scope) Usage                                             { return Usage{} }
func (s *Systemd) Check(ctx context.Context, sc Scope) (escaped []int, note string) { return nil, "" }
func (s *Systemd) Release(ctx context.Context, sc Scope) error                      { return nil }
func (s *Systemd) SetLimits(ctx context.Context, sc Scope, l Limits) (Scope, error) { return sc, nil }
func (s *Systemd) Adopt(ctx context.Context) ([]Scope, error)                       { return nil, nil }
func (s *Systemd) Freeze(sc Scope) error                                            { return nil }
func (s *Systemd) Thaw(sc Scope) error                                              { return nil }
func (s *Systemd) Describe() string                                                 { return "" }
func (s *Systemd) MemoryController() bool                                           { return false }
func (s *Systemd) Close() error                                                     { return nil }
