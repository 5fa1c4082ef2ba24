package governor

import (
	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/loader/proc"
)

// Notes speak to callers. Tell returns at once.
type Notes interface {
	Tell(n Note)
}

// Note is one line for a caller.
type Note struct {
	To   proc.ID
	Kind string
	Text string
}

func (g *Governor) tellWaiting() {}

func (g *Governor) tellStarted(j *job) {}

func (g *Governor) tellRefused(j *job, s admission.Standing) {}
