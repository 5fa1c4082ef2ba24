package main

import (
	"context"
	"fmt"
	"os"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/loader/proc"
)

// placed is a child of the self-test in a scope of its own.
type placed struct {
	scope contain.Scope
	// aside says why the child's scope is not where a job's would be.
	aside string
}

// place puts a waiting child where a job would be put.
func (s *selftest) place(ctx context.Context, c *selfChild, capMB int64, frozen bool) (placed, error) {
	b := s.tier.backend
	x := proc.Exec{ID: c.id}
	if err := s.fs.ReadFacts(&x); err != nil {
		return placed{}, fmt.Errorf("look at its own child: %w", err)
	}
	origin, err := b.Look(ctx, x)
	if err != nil {
		return placed{}, fmt.Errorf("look where this command runs: %w", err)
	}
	p := placed{}
	switch {
	case origin.Kind == "job":
		return placed{}, fmt.Errorf("this command runs inside the job %s, whose cap would count: run it elsewhere", origin.Unit)
	case origin.Refuse != "" && origin.Manager == contain.SystemManager && os.Geteuid() == 0:
		// It may not lead others out of their unit, but its own child it may.
		p.aside = origin.Refuse
		origin = contain.Origin{Cgroup: x.Cgroup, Kind: "service", Manager: contain.SystemManager, Slice: "system.slice"}
	case origin.Refuse != "":
		return placed{}, fmt.Errorf("nothing that runs where this command does is moved: %s", origin.Refuse)
	}
	p.scope, err = b.Place(ctx, contain.Spec{
		Unit: contain.UnitName("selftest"), Description: "self-test of headroomd", Exec: x, Origin: origin, Frozen: frozen,
		Limits: contain.Limits{MemoryMax: uint64(capMB) << 20, MemorySwapMax: 0, TasksMax: 64},
	})
	return p, err
}
