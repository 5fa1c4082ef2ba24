package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/loader/proc"
)

// fakeTier is a tier whose kernel kills a job as soon as it is placed: the
// children of the tests never take the memory that they are told to take.
type fakeTier struct {
	*contain.None
	dir    string // in place of the cgroup hierarchy
	fs     proc.FS
	claims bool

	// What is not as it should be.
	origin     contain.Origin
	controller bool
	soft       bool // what has no controller is measured
	limit      uint64
	spares     bool  // the job is not killed
	kills      int64 // what its cgroup counts
	free       bool  // what is placed frozen runs
	stuck      bool  // and cannot be let go
	meanwhile  func()

	mu       sync.Mutex
	placed   map[int]string
	released []string
}

const fakeSelf = "/user.slice/user-1000.slice/session-2.scope"

func newFakeTier(dir string) *fakeTier {
	return &fakeTier{dir: dir, fs: proc.NewFS("/proc"), claims: true, controller: true, limit: 64 << 20, kills: 1,
		None: contain.NewNone(proc.NewFS("/proc"), "fake"), placed: map[int]string{},
		origin: contain.Origin{Cgroup: fakeSelf, Kind: "session", Manager: contain.SystemManager, Slice: "user-1000.slice"}}
}

func (f *fakeTier) open(context.Context, string, proc.FS, *slog.Logger) (tier, error) {
	return tier{backend: f, cgroups: f.dir, status: governor.ContainStatus{Name: "systemd", Why: "a fake", MemoryController: f.claims, SoftCaps: !f.claims && f.soft}}, nil
}

func (f *fakeTier) cgroupOf(pid int) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at, ok := f.placed[pid]; ok {
		return at, nil
	}
	return fakeSelf, nil
}

// write makes a file of a cgroup.
func (f *fakeTier) write(cgroup, name, text string) {
	dir := filepath.Join(f.dir, cgroup)
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)); err != nil {
		panic(err)
	}
}

func (f *fakeTier) Look(context.Context, proc.Exec) (contain.Origin, error) { return f.origin, nil }

func (f *fakeTier) Place(_ context.Context, spec contain.Spec) (contain.Scope, error) {
	sc := contain.Scope{Unit: spec.Unit, Main: spec.Exec.ID, Manager: spec.Origin.Manager, Cgroup: "/" + spec.Origin.Slice + "/" + spec.Unit,
		MemoryController: f.controller, MemoryMax: f.limit, SoftCap: f.soft && !f.controller, Frozen: spec.Frozen && !f.free}
	f.mu.Lock()
	f.placed[sc.Main.PID] = sc.Cgroup
	f.mu.Unlock()
	f.write(sc.Cgroup, "cgroup.events", fmt.Sprintf("populated 1\nfrozen %d\n", map[bool]int{true: 1}[sc.Frozen]))
	switch pid := sc.Main.PID; {
	case sc.Frozen:
		return sc, syscall.Kill(pid, syscall.SIGSTOP)
	case !spec.Frozen && !f.spares:
		return sc, syscall.Kill(pid, syscall.SIGKILL)
	}
	return sc, nil
}

func (f *fakeTier) Usage(contain.Scope) contain.Usage {
	if f.meanwhile != nil {
		f.meanwhile()
	}
	return contain.Usage{OOMKills: f.kills, Peak: 64 << 20}
}

func (f *fakeTier) Thaw(sc contain.Scope) error {
	if f.stuck {
		return errors.New("it is stuck")
	}
	return syscall.Kill(sc.Main.PID, syscall.SIGCONT)
}

func (f *fakeTier) Stop(_ context.Context, sc contain.Scope, _ time.Duration) error {
	return syscall.Kill(sc.Main.PID, syscall.SIGTERM)
}

func (f *fakeTier) Release(_ context.Context, sc contain.Scope) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.released = append(f.released, sc.Unit)
	return nil
}

// fakedMain is `selftest [json]` with a fake tier, for the scripts.
func fakedMain() {
	dir, err := os.MkdirTemp("", "selftest")
	if err != nil {
		panic(err)
	}
	f := newFakeTier(dir)
	f.controller = os.Getenv("FAKE_WITHHELD") == ""
	s := newSelftest("auto", filepath.Join(dir, "none.sock"))
	s.open, s.cgroupOf = f.open, f.cgroupOf
	err = runSelftest(context.Background(), s, os.Stdout, len(os.Args) > 1)
	os.RemoveAll(dir)
	os.Exit(exitStatus(err))
}
