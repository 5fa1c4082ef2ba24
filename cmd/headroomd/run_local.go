package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/loader/proc"
)

// alone is how long a command waits for memory when no other holds a slot:
// then nothing of ours is about to give any back.
const alone = 10 * time.Second

// local is a run without a governor: it takes turns with this user's other
// runs, and has its scope from the user's own manager where that can be.
type local struct {
	*waiting
	config governor.Config
	slots  *slots // nil where the user has no directory for them
	since  time.Time
}

func (w *waiting) local(ctx context.Context) error {
	c, err := governor.Load(w.options.config)
	if err != nil {
		c = governor.Default() // prepare has told what is wrong with it
	}
	l := &local{waiting: w, config: c, since: time.Now()}
	m := governor.MachineOf(readMemory("/"))
	if l.slots, err = openSlots(runDir(), c.Resolve(m).MaxHeavyJobs, proc.FS{}); err != nil {
		fmt.Fprintf(os.Stderr, "headroomd: no turns are taken with other runs: %v\n", err)
	}
	slot, grant, err := l.wait()
	if w.over {
		return err
	}
	if slot != nil {
		defer slot.Close()
	}
	return l.place(ctx, grant)
}

// wait waits for a slot and for memory. An error with w.over says that the
// wait ended otherwise.
func (l *local) wait() (*os.File, admission.Cap, error) {
	patience := cmp.Or(l.options.wait, time.Duration(l.config.QueueTimeoutS)*time.Second)
	id, _ := proc.FS{}.Stat(os.Getpid())
	me := holder{PID: id.ID.PID, Start: id.ID.Start, Family: l.verdict.Family, Since: l.since}
	var slot *os.File
	for {
		var others []holder
		if l.slots != nil && slot == nil {
			var err error
			if slot, err = l.slots.take(me); err != nil {
				fmt.Fprintf(os.Stderr, "headroomd: no turns are taken with other runs: %v\n", err)
				l.slots = nil
			}
		}
		if l.slots != nil {
			for _, h := range l.slots.holders() {
				if h.PID != me.PID {
					others = append(others, h)
				}
			}
		}
		u, grant, fits := l.look(slot != nil || l.slots == nil, others)
		waited := time.Since(l.since)
		if fits || u.Behind == "" && u.BehindPID == 0 && len(others) == 0 && waited >= alone {
			return slot, grant, nil
		}
		u.WaitedS = waited.Seconds()
		if waited >= patience {
			if slot != nil {
				slot.Close()
			}
			l.result.Note = "nothing became free in time, and it did not run"
			return nil, grant, l.refuse(u)
		}
		l.teller.wait(u, time.Now())
		if err := l.sleep(min(500*time.Millisecond, max(patience-waited, time.Millisecond))); err != nil {
			if slot != nil {
				slot.Close()
			}
			return nil, grant, err
		}
	}
}

// look says what is missing.
func (l *local) look(slot bool, others []holder) (governor.RunUpdate, admission.Cap, bool) {
	u := governor.RunUpdate{State: governor.RunWaiting}
	m := governor.MachineOf(readMemory("/"))
	limits := l.config.Resolve(m)
	grant := admission.Grant(m, limits, make([]admission.Claim, len(others)))
	if !slot {
		u.BehindFamily = "heavy" // it was given back this moment
		if len(others) > 0 {
			h := others[0]
			u.BehindFamily, u.BehindPID = cmp.Or(h.Family, u.BehindFamily), h.PID
			if !h.Since.IsZero() {
				u.BehindAgeS = time.Since(h.Since).Seconds()
			}
		}
	}
	if m.AvailableMB >= 0 {
		u.MissingMB = max(0, limits.MinStartMB-(m.AvailableMB-limits.ReserveMB))
	}
	return u, grant, slot && u.MissingMB == 0
}

// place gives the waiting child a scope, lets it run and reads its counters at
// the end.
func (l *local) place(ctx context.Context, grant admission.Cap) error {
	t, err := openTier(ctx, l.config.Contain, proc.FS{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t = noTier(proc.FS{}, err.Error())
	}
	defer t.backend.Close()
	// Where the kernel enforces no cap, this process does, as long as it waits.
	softCtx, stop := context.WithCancel(ctx)
	var soft sync.WaitGroup
	soft.Go(func() { t.soft.Run(softCtx) })
	defer func() { stop(); soft.Wait() }()
	if id, err := l.child.id(); err == nil {
		_ = contain.RaiseTree(proc.FS{}, id) // with a scope or without
	}
	sc, err := l.scope(ctx, t, grant)
	if err != nil {
		l.result.Note = fmt.Sprintf("it ran without a cap: %v", err)
	}
	l.teller.started(l.result.MemoryCapMB, time.Now())
	l.letRun()
	end := l.child.await(nil)
	if sc.Cgroup != "" || sc.SoftCap {
		u := t.backend.Usage(sc)
		l.result.OOMKilled = u.OOMKills > 0
		l.result.PeakMB = max(u.Peak, 0) >> 20
		if err := t.backend.Release(ctx, sc); err != nil {
			fmt.Fprintln(os.Stderr, "headroomd:", err)
		}
	}
	return end
}

// scope places the child; the zero Scope is that of a command that runs where
// it is.
func (l *local) scope(ctx context.Context, t tier, grant admission.Cap) (contain.Scope, error) {
	if !l.config.Isolate {
		return contain.Scope{}, errors.New("isolate = false in the settings")
	}
	id, err := l.child.id()
	if err != nil {
		return contain.Scope{}, err
	}
	x := proc.Exec{ID: id}
	if err := (proc.FS{}).ReadFacts(&x); err != nil {
		return contain.Scope{}, err
	}
	origin, err := t.backend.Look(ctx, x)
	switch {
	case err != nil:
		return contain.Scope{}, err
	case origin.Kind == "job":
		return contain.Scope{}, fmt.Errorf("it is part of the job %s", origin.Unit)
	case origin.Refuse != "":
		return contain.Scope{}, fmt.Errorf("%s", origin.Refuse)
	}
	sc, err := t.backend.Place(ctx, contain.Spec{
		Unit: contain.UnitName(l.verdict.Family), Exec: x, Origin: origin, Limits: governor.LimitsFor(grant),
		Description: fmt.Sprintf("heavy command held to %d MB by headroomd run", grant.MemoryMB),
	})
	if err != nil {
		return contain.Scope{}, err
	}
	l.result.Isolated, l.result.SwapCapMB = sc.Cgroup != "", grant.SwapMB
	if sc.Cgroup == "" {
		l.result.Note = "it ran without a scope, and was measured: " + t.status.Why
	}
	if (sc.MemoryController || sc.SoftCap) && sc.MemoryMax != contain.Infinity {
		l.result.MemoryCapMB = int64(sc.MemoryMax >> 20)
	} else {
		l.result.Note = "it ran in a scope without a cap: the memory controller is not there"
	}
	return sc, nil
}
