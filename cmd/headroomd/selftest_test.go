package main

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/watchdog"
)

// trySelftest takes steps of a self-test against a fake tier.
func trySelftest(t *testing.T, set func(*fakeTier, *selftest), steps func(context.Context, *selftest)) (*fakeTier, *selftest) {
	t.Helper()
	// The children die with the thread that started them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f := newFakeTier(t.TempDir())
	s := newSelftest("auto", "")
	s.cgroupOf, s.asksMB = f.cgroupOf, 4
	s.memory = func() watchdog.Reading {
		return watchdog.Reading{MemTotal: 960 << 20, MemAvailable: 700 << 20, SwapTotal: 0, SwapFree: 0}
	}
	f.write(fakeSelf, "memory.events.local", "oom 0\noom_kill 3\n")
	if set != nil {
		set(f, s)
	}
	s.lookAround()
	s.tier, _ = f.open(t.Context(), "", s.fs, nil)
	s.mount, s.report.Tier.Name, s.report.Tier.Claims, s.report.Tier.Cap = f.dir, "systemd", capOf(s.tier), capNone
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	steps(ctx, s)
	if s.sibling != nil {
		s.sibling.end()
	}
	s.report.settle()
	return f, s
}

func TestSelftestCap(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(*fakeTier, *selftest)
		step string // the last one
		want string // of its text
		pass bool
		cap  string // that was found to be in force
	}{
		{"it works", nil, "others", "were not touched", true, capKernel},
		{"the controller is withheld", func(f *fakeTier, _ *selftest) { f.controller = false },
			"cap", "no memory controller in /user-1000.slice/headroom-selftest-", false, capNone},
		{"the tier has no cap", func(f *fakeTier, _ *selftest) { f.claims, f.controller = false, false }, "cap", "a job has no memory cap here", false, capNone},
		{"the controller is withheld, and what is there measured", func(f *fakeTier, _ *selftest) { f.controller, f.soft = false, true },
			"cap", "own measuring at best", false, capSoft},
		{"the governor measures", func(f *fakeTier, _ *selftest) { f.claims, f.controller, f.soft = false, false, true },
			"others", "were not touched", true, capSoft},
		{"the governor measures where there is little", func(f *fakeTier, s *selftest) {
			f.claims, f.controller, f.soft, f.limit = false, false, true, 32<<20
			s.memory = func() watchdog.Reading { return watchdog.Reading{MemTotal: 960 << 20, MemAvailable: 130 << 20} }
		}, "cap", "only 130 MB are available", false, capNone},
		{"the governor measures, and something else kills", func(f *fakeTier, _ *selftest) {
			f.claims, f.controller, f.soft, f.kills = false, false, true, 0
		}, "others", "were not touched", false, capSoft},
		{"no limit", func(f *fakeTier, _ *selftest) { f.limit = contain.Infinity }, "cap", "was to be 64 MB and is none at all", false, capNone},
		{"another limit", func(f *fakeTier, _ *selftest) { f.limit = 640 << 20 }, "cap", "was to be 64 MB and is 640 MB", false, capNone},
		{"it is elsewhere", func(_ *fakeTier, s *selftest) { s.cgroupOf = func(int) (string, error) { return fakeSelf, nil } },
			"cap", `is in "` + fakeSelf + `"`, false, capNone},
		{"inside a job", func(f *fakeTier, _ *selftest) {
			f.origin = contain.Origin{Kind: "job", Unit: "headroom-npm-00000000.scope"}
		}, "cap", "inside the job headroom-npm-00000000.scope", false, capNone},
		{"no memory", func(_ *fakeTier, s *selftest) {
			s.memory = func() watchdog.Reading { return watchdog.Reading{MemTotal: 960 << 20, MemAvailable: 60 << 20} }
		}, "cap", "only 60 MB are available", false, capNone},
		{"little memory", func(f *fakeTier, s *selftest) {
			f.limit = 32 << 20
			s.memory = func() watchdog.Reading { return watchdog.Reading{MemTotal: 960 << 20, MemAvailable: 130 << 20} }
		}, "others", "holds 8 MB", true, capKernel},
		{"it gets all", func(f *fakeTier, _ *selftest) { f.spares = true }, "others", "were not touched", false, capNone},
		{"it stops itself", func(f *fakeTier, s *selftest) {
			f.spares = true
			s.floorMB = 1 << 40
		}, "others", "were not touched", false, capNone},
		{"something else killed it", func(f *fakeTier, _ *selftest) { f.kills = 0 }, "others", "were not touched", false, capKernel},
		{"the sibling is killed", func(f *fakeTier, s *selftest) { f.meanwhile = func() { s.sibling.end() } },
			"others", "hurt others: its other child", false, capKernel},
		{"the kernel kills beside it", func(f *fakeTier, _ *selftest) {
			f.meanwhile = func() { f.write(fakeSelf, "memory.events.local", "oom_kill 4\n") }
		}, "others", "in which the kernel killed 1", false, capKernel},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, s := trySelftest(t, tt.set, func(ctx context.Context, s *selftest) { s.tryCap(ctx) })
			last := s.report.Steps[len(s.report.Steps)-1]
			if last.Name != tt.step || !strings.Contains(last.Text, tt.want) {
				t.Errorf("%s: %q, want %s: %q", last.Name, last.Text, tt.step, tt.want)
			}
			if (s.report.Verdict == "PASS") != tt.pass || s.report.Tier.Cap != tt.cap {
				t.Errorf("%s with cap %q\n%+v", s.report.Verdict, s.report.Tier.Cap, s.report.Steps)
			}
			for _, step := range s.report.Steps {
				if step.State == stepFailed && step.Next == "" {
					t.Errorf("%s says nothing of what to do next", step.Name)
				}
			}
			if len(f.placed) != len(f.released) {
				t.Errorf("%d scopes, %q given back", len(f.placed), f.released)
			}
		})
	}
}

// A command from a service would not be moved; root's own child may be, for the
// cap to be tried all the same.
func TestSelftestInAService(t *testing.T) {
	_, s := trySelftest(t, func(f *fakeTier, _ *selftest) {
		f.origin = contain.Origin{Kind: "service", Manager: contain.SystemManager, Refuse: "it is boxed"}
	}, func(ctx context.Context, s *selftest) { s.tryCap(ctx) })
	if root := os.Geteuid() == 0; (s.report.Verdict == "PASS") != root || !strings.Contains(s.report.Steps[1].Text, "it is boxed") ||
		root && !strings.HasPrefix(s.report.Job.Cgroup, "/system.slice/") {
		t.Errorf("%s in %q\n%+v", s.report.Verdict, s.report.Job.Cgroup, s.report.Steps)
	}
}

func TestSelftestHold(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(*fakeTier, *selftest)
		want string
		pass bool
	}{
		{"it works", nil, "did not run, ran when it was let go, and was stopped (signal 15)", true},
		{"not frozen", func(f *fakeTier, _ *selftest) { f.free = true }, "was to wait frozen and is not", false},
		{"not let go", func(f *fakeTier, _ *selftest) { f.stuck = true }, "it is stuck", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, s := trySelftest(t, tt.set, func(ctx context.Context, s *selftest) { s.tryHold(ctx) })
			last := s.report.Steps[len(s.report.Steps)-1]
			if last.Name != "hold" || !strings.Contains(last.Text, tt.want) || (s.report.Verdict == "PASS") != tt.pass {
				t.Errorf("%s: %+v", s.report.Verdict, last)
			}
			for pid := range f.placed {
				if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); err == nil {
					t.Errorf("pid %d is left", pid)
				}
			}
		})
	}
}

func TestSelftestNoteAndDryRun(t *testing.T) {
	_, s := trySelftest(t, func(_ *fakeTier, s *selftest) { s.socket = t.TempDir() + "/none.sock" },
		func(ctx context.Context, s *selftest) { s.tryNotes(ctx); s.dryRun(ctx) })
	for i, want := range []string{"700 of 960 MB", "a note went through a pipe", "no governor runs here"} {
		if got := s.report.Steps[i]; got.State == stepFailed || !strings.Contains(got.Text, want) && got.State == stepPassed {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}

func TestSelfCap(t *testing.T) {
	for available, want := range map[int64]int64{-1: 0, 63: 0, 64: 16, 127: 16, 128: 32, 255: 32, 256: 64, 20000: 64} {
		if got := selfCapMB(available); got != want || got*4 > max(available, 0) {
			t.Errorf("of %d MB the job may have %d, want %d", available, got, want)
		}
	}
}

// What ends a self-test ends its children, whatever state they are in.
func TestSelfChildDiesWithItsThread(t *testing.T) {
	started := make(chan *selfChild, 1)
	var start func()
	start = func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this
		if unix.Gettid() == os.Getpid() {
			go start() // the first thread of a program does not end
			<-t.Context().Done()
			return
		}
		c, err := startSelfChild(t.Context(), nil, "echo", "1")
		if err != nil {
			t.Error(err)
		}
		started <- c
	}
	go start()
	c := <-started
	if c == nil {
		return
	}
	select {
	case <-c.ended:
		if got := endedBy(c); got != "signal 9" {
			t.Errorf("ended by %s", got)
		}
	case <-time.After(time.Minute):
		t.Error("it lives on")
		c.end()
	}
}
