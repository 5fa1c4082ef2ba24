package doctor

// State is the answer of a check. The words are stable.
type State string

// The states.
const (
	OK            State = "ok"
	Warn          State = "warn"           // it works, less well than it could
	Fail          State = "fail"           // something that the guard rests on is missing or broken
	Unknown       State = "unknown"        // it could not be learned
	NotApplicable State = "not-applicable" // it says nothing about this machine or this user
)

// Check is one answer, as `headroomd doctor --json` shows it. Fields may be
// added, none renamed.
type Check struct {
	Name     string   `json:"name"`               // kebab-case, stable
	State    State    `json:"state"`              //
	Found    string   `json:"found"`              // what is here
	Means    string   `json:"means,omitempty"`    // what follows from it
	Remedy   string   `json:"remedy,omitempty"`   // what to do, in words
	Commands []string `json:"commands,omitempty"` // the same to be typed, in this order
	Fix      *Edit    `json:"fix,omitempty"`      // the edit that --fix makes
}

func ok(name, found string) Check { return Check{Name: name, State: OK, Found: found} }

func notApplicable(name, found string) Check {
	return Check{Name: name, State: NotApplicable, Found: found}
}

func unknown(name, what string, err error) Check {
	c := Check{Name: name, State: Unknown, Found: what + " could not be learned"}
	if err != nil {
		c.Found += ": " + err.Error()
	}
	return c
}

// Failed reports whether any check failed.
func Failed(checks []Check) bool {
	for _, c := range checks {
		if c.State == Fail {
			return true
		}
	}
	return false
}

// Edits are the edits that the checks name, those of one file made one.
func Edits(checks []Check) []Edit {
	var all []Edit
next:
	for _, c := range checks {
		if c.Fix == nil {
			continue
		}
		for i := range all {
			if all[i].Path == c.Fix.Path {
				all[i] = all[i].with(*c.Fix)
				continue next
			}
		}
		all = append(all, Edit{Path: c.Fix.Path, Kind: c.Fix.Kind}.with(*c.Fix))
	}
	return all
}
