package main

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/contain"
)

// selfCapMB is the cap for a machine with so much available: the job may have
// a quarter of it, and nothing where that would be too little for a cap.
func selfCapMB(availableMB int64) int64 {
	switch {
	case availableMB >= 256:
		return 64
	case availableMB >= 128:
		return 32
	case availableMB >= 64:
		return 16
	}
	return 0
}

// softSpareMB is what a job may have beyond a soft cap before that is noticed,
// and some more: 20 MB have been seen at full speed, more on a busy machine.
const softSpareMB = 64

// tryCap starts the hog in a job, if the cap is in force, and sees what becomes
// of it and of those around it.
func (s *selftest) tryCap(ctx context.Context) {
	s.machine = governor.MachineOf(s.memory()) // opening the tier took its time
	capMB := selfCapMB(s.machine.AvailableMB)
	if capMB == 0 {
		s.failed("cap", "stop something, or wait until something has ended, and try again",
			"only %d MB are available: nothing is started that takes memory", s.machine.AvailableMB)
		return
	}
	if least := capMB + softSpareMB + s.floorMB; s.report.Tier.Claims == capSoft && s.machine.AvailableMB < least {
		s.failed("cap", "stop something, or wait until something has ended, and try again",
			"only %d MB are available: a job may be some MB over a cap that the kernel does not keep, so %d are needed to try one", s.machine.AvailableMB, least)
		return
	}
	var err error
	if s.sibling, err = startSelfChild(ctx, nil, "echo", fmt.Sprint(capMB/4)); err != nil {
		s.failed("cap", askDoctor, "no child could be started to look on: %v", err)
		return
	}
	hog, err := startSelfChild(ctx, nil, "hog", fmt.Sprint(s.asksMB), fmt.Sprint(s.floorMB))
	if err != nil {
		s.failed("cap", askDoctor, "no child could be started: %v", err)
		return
	}
	defer hog.end()
	p, err := s.place(ctx, hog, capMB, false)
	if err != nil {
		s.failed("cap", askDoctor, "a job cannot be placed: %v", err)
		return
	}
	defer s.release(ctx, p.scope)
	job := &s.report.Job
	job.Unit, job.Cgroup = p.scope.Unit, p.scope.Cgroup
	if !s.capInForce(p, hog, capMB) {
		return
	}
	job.MemoryCapMB, job.Soft, s.report.Tier.Cap = capMB, p.scope.SoftCap, s.report.Tier.Claims
	s.before, s.killed = [2]witness{s.witness(os.Getpid()), s.witness(s.sibling.id.PID)}, s.oomKills()
	hog.say("go")
	s.judgeHog(ctx, p, hog, capMB)
	s.judgeOthers(ctx, capMB)
}

func (s *selftest) release(ctx context.Context, sc contain.Scope) {
	ctx, cancel := tidy(ctx)
	defer cancel()
	if err := s.tier.backend.Release(ctx, sc); err != nil {
		s.failed("release", "systemctl stop "+sc.Unit, "the scope %s could not be given back: %v", sc.Unit, err)
	}
}

// capInForce reads back what the kernel holds the job to. Where that is not
// what was asked, nothing may start.
func (s *selftest) capInForce(p placed, hog *selfChild, capMB int64) bool {
	sc := p.scope
	const not = "; the child is not started, since nothing would stop it"
	at, err := s.cgroupOf(hog.id.PID)
	switch {
	case err != nil || sc.Cgroup != "" && at != sc.Cgroup:
		s.failed("cap", askDoctor, "the child was to be in %s and is in %q: a job would run outside of its cap%s", sc.Cgroup, at, not)
	case s.report.Tier.Claims == capKernel && !sc.MemoryController:
		if sc.SoftCap {
			s.report.Tier.Cap = capSoft
		}
		s.failed("cap", askDoctor, "%s says that the kernel caps memory here, but there is no memory controller in %s: %s%s",
			s.tier.status.Name, sc.Cgroup, map[bool]string{
				true:  "what runs there is held to its cap by the governor's own measuring at best, which is the tier below",
				false: "what runs there has no cap at all",
			}[sc.SoftCap], not)
	case !sc.MemoryController && !sc.SoftCap:
		s.failed("cap", askDoctor, "a job has no memory cap here%s", not)
	case sc.MemoryMax>>20 != uint64(capMB):
		s.failed("cap", askDoctor, "the cap was to be %d MB and is %s%s", capMB, sizeOf(sc.MemoryMax), not)
	default:
		s.passed("cap", "%s", p.words(capMB))
		return true
	}
	return false
}

// words say what a child is held to.
func (p placed) words(capMB int64) string {
	text := fmt.Sprintf("a child is in %s, and the kernel says that this is held to %d MB", p.scope.Unit, capMB)
	if p.scope.SoftCap {
		where := "a child"
		if p.scope.Cgroup != "" {
			where += " is in " + p.scope.Unit + " and"
		}
		text = fmt.Sprintf("%s is held to %d MB by measuring", where, capMB)
	}
	if p.aside != "" {
		text += "; it is in system.slice, for a command from here would not be moved: " + p.aside
	}
	return text
}

func sizeOf(limit uint64) string {
	if limit == contain.Infinity {
		return "none at all"
	}
	return fmt.Sprintf("%d MB", limit>>20)
}

// judgeHog waits for the hog's end and asks the counters why it ended.
func (s *selftest) judgeHog(ctx context.Context, p placed, hog *selfChild, capMB int64) {
	select {
	case <-hog.ended:
	case <-ctx.Done():
		s.failed("hog", askDoctor, "the child neither reached its cap of %d MB nor ended in time; it is ended now", capMB)
		return
	}
	ws, said, job := hog.status(), hog.said(), &s.report.Job
	u := s.counted(ctx, p.scope)
	job.OOMKills, job.PeakMB, job.OOMKilled = u.OOMKills, u.Peak, u.OOMKills > 0
	if u.Peak > 0 {
		job.PeakMB = u.Peak >> 20
		job.OverMB = max(job.PeakMB-capMB, 0)
	}
	killed := ws.Signaled() && ws.Signal() == syscall.SIGKILL
	switch {
	case said == childGaveUp:
		s.report.Tier.Cap = capNone
		s.failed("hog", askDoctor, "the child took memory beyond its cap of %d MB, until it stopped itself for the machine's sake", capMB)
	case !killed:
		s.report.Tier.Cap = capNone
		s.failed("hog", askDoctor, "the child was to be killed at %d MB and %s", capMB, endWords(ws, said))
	case u.OOMKills < 1 && job.Soft:
		s.failed("hog", "look for another guard of memory (earlyoom, systemd-oomd): "+askDoctor,
			"the child was killed, but not by what measures it here")
	case u.OOMKills < 1:
		s.failed("hog", "look for another guard of memory (earlyoom, systemd-oomd): "+askDoctor,
			"the child was killed, but not by its cap: %s counts no oom_kill", p.scope.Unit)
	case job.Soft:
		s.passed("hog", "it asked for %d MB and was killed at %d MB, %d MB over its cap: that is what measuring costs",
			s.asksMB, job.PeakMB, job.OverMB)
	default:
		peak := ""
		if job.PeakMB >= 0 {
			peak = fmt.Sprintf(", peak %d MB", job.PeakMB)
		}
		s.passed("hog", "it asked for %d MB, and the kernel killed it in there (oom_kill %d%s)", s.asksMB, u.OOMKills, peak)
	}
}

// counted reads the counters of a job that has ended, for some time until they
// tell of a kill: a governor that counts itself may be a moment behind.
func (s *selftest) counted(ctx context.Context, sc contain.Scope) contain.Usage {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for {
		u := s.tier.backend.Usage(sc)
		if u.OOMKills > 0 || u.Gone && !sc.SoftCap {
			return u
		}
		select {
		case <-ctx.Done():
			return u
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func endWords(ws syscall.WaitStatus, said string) string {
	switch {
	case said == childDone:
		return "got all that it asked for: the cap does not work"
	case ws.Signaled():
		return fmt.Sprintf("was ended by signal %d", ws.Signal())
	}
	return fmt.Sprintf("ended with status %d", ws.ExitStatus())
}
