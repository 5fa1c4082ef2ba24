package contain

import (
	"context"
	"fmt"
)

// abilities are the properties of a scope that not every systemd knows. One
// that is not known makes the whole start fail.
type abilities struct {
	oomPolicy   bool // OOMPolicy= for scopes: 252.5
	propagation bool // StopPropagatedFrom=: 249
}

// knows says what to ask of a manager: what it accepted before, else what its
// version promises. 252 is built by distributions with OOMPolicy= and without
// (252-46.el9 tells no minor version), so there it is tried.
func (m *manager) knows(ctx context.Context) abilities {
	m.mu.Lock()
	learned := m.learned
	m.mu.Unlock()
	if learned != nil {
		return *learned
	}
	v, err := m.version(ctx)
	var major int
	if _, scanErr := fmt.Sscanf(v, "%d", &major); err != nil || scanErr != nil {
		return abilities{oomPolicy: true, propagation: true}
	}
	return abilities{oomPolicy: major >= 252, propagation: major >= 249}
}

// learn keeps what a manager accepted, until the connection breaks: the next
// one may be to a newer systemd.
func (m *manager) learn(a abilities) {
	m.mu.Lock()
	m.learned = &a
	m.mu.Unlock()
}

// less is what to try after a start was refused for a property.
func (a abilities) less() abilities {
	if a.oomPolicy {
		a.oomPolicy = false
	} else {
		a.propagation = false
	}
	return a
}

// lacks says what a job from an origin goes without.
func (a abilities) lacks(o Origin) []string {
	var notes []string
	if !a.oomPolicy {
		notes = append(notes, "this systemd knows no OOMPolicy= for scopes (252.5): after a kernel OOM kill it stops the whole job")
	}
	if !a.propagation && o.PartOf != "" && o.Kind == "service" {
		notes = append(notes, "this systemd knows no StopPropagatedFrom= (249): the job outlives a restart of "+o.PartOf)
	}
	return notes
}
