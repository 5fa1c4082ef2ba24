package classifier

import (
	"fmt"
	"strconv"
)

// trace collects the steps of an answer. A nil trace collects nothing; callers
// test for nil before they build the words, so that the hot path builds none.
type trace struct {
	steps []string
}

// maxSteps bounds a trace: a hostile line may have a command every two bytes.
const maxSteps = 200

func (t *trace) add(format string, args ...any) {
	if len(t.steps) == maxSteps {
		t.steps = append(t.steps, "… and more steps than are shown")
	}
	if len(t.steps) < maxSteps {
		t.steps = append(t.steps, fmt.Sprintf(format, args...))
	}
}

// shown quotes a process's own words and bounds them.
func shown(word string) string {
	const most = 80
	if len(word) > most {
		word = word[:most] + "…"
	}
	return strconv.Quote(word)
}
