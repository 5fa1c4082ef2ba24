package main

import (
	"context"
	"time"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/journal"
)

// answer is what explain says of one command. Its JSON words are a contract.
type answer struct {
	Command string `json:"command"` // the shell line as given, or the words of the argv in one line
	PID     int    `json:"pid,omitempty"`
	Cgroup  string `json:"cgroup,omitempty"`
	classifier.Verdict
	Commands  []classifier.CommandVerdict `json:"commands,omitempty"` // of a shell line, in order
	Lightened *lightened                  `json:"lightened,omitempty"`
	Cap       *capAnswer                  `json:"cap,omitempty"`
	Error     string                      `json:"error,omitempty"`
}

// lightened is the form of a heavy command that takes less memory.
type lightened struct {
	Command string   `json:"command"`
	Changes []string `json:"changes"`
}

// capAnswer is the cap that a job would get if it started now.
type capAnswer struct {
	MemoryMB int64  `json:"memory_mb"`
	SwapMB   int64  `json:"swap_mb"` // -1 unlimited
	Why      string `json:"why"`
}

// explainer answers by the rules and settings of this machine.
type explainer struct {
	rules  *classifier.Set
	faults []error // files of rules that are left out
	config governor.Config
	claims func() []admission.Claim // of the running jobs

	cap   capAnswer
	capAt time.Time
}

// newExplainer answers by the rules that are in force.
func newExplainer(ctx context.Context, config, socket string) (*explainer, error) {
	return explainerAt(ctx, config, "", socket)
}

// explainerAt answers by the rules in the directory, or by those in force.
func explainerAt(ctx context.Context, config, dir, socket string) (*explainer, error) {
	r, err := rulesAt(config, dir, socket)
	if err != nil {
		return nil, err
	}
	claims := func() []admission.Claim { return runningClaims(ctx, socket) }
	return &explainer{rules: r.set, faults: r.faults, config: r.config, claims: claims}, nil
}

// runningClaims are those of the jobs that run now. No governor, no jobs: a
// question about a rule must not fail for that.
func runningClaims(ctx context.Context, socket string) []admission.Claim {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	s, err := askStatus(ctx, socket)
	if err != nil {
		return nil
	}
	claims := make([]admission.Claim, 0, len(s.Jobs))
	for _, j := range s.Jobs {
		claims = append(claims, admission.Claim{PromiseMB: j.MemoryCapMB, UsedMB: j.MemoryMB})
	}
	return claims
}

// line answers for a shell line.
func (e *explainer) line(line string) answer {
	p := projectHere()
	v := lineByScripts(e.rules, line, p)
	return e.complete(answer{Command: line, Verdict: v.Verdict, Commands: v.Commands}, nil, p)
}

// command answers for one command, which belongs to the project p.
func (e *explainer) command(c classifier.Command, p *projectFiles) answer {
	return e.complete(answer{Command: journal.Command(c.Argv), Verdict: byScripts(e.rules, c, p)}, c.Argv, p)
}

// complete fills in what every answer has. argv is nil for a shell line.
func (e *explainer) complete(a answer, argv []string, p *projectFiles) answer {
	// An array is one also when it is empty: scripts go through it.
	if a.Trace == nil {
		a.Trace = []string{}
	}
	for i := range a.Commands {
		if a.Commands[i].Trace == nil {
			a.Commands[i].Trace = []string{}
		}
	}
	if a.Class == classifier.Heavy {
		c := e.capNow()
		a.Cap = &c
		a.Lightened = e.lighter(a.Command, argv, p)
	}
	return a
}

// capFresh is for how long a cap may be told again: a coprocess may ask for
// thousands of lines a second, and the memory does not change its mind so fast.
const capFresh = time.Second

func (e *explainer) capNow() capAnswer {
	now := time.Now()
	if !e.capAt.IsZero() && now.Sub(e.capAt) < capFresh {
		return e.cap
	}
	m := governor.MachineOf(readMemory("/"))
	grant := admission.Grant(m, e.config.Resolve(m), e.claims())
	e.cap, e.capAt = capAnswer{MemoryMB: grant.MemoryMB, SwapMB: grant.SwapMB, Why: grant.Why}, now
	return e.cap
}
