package governor

import (
	"testing"
	"time"
)

// TestLife tries every step in every state: what the table below has passes,
// and nothing else.
func TestLife(t *testing.T) {
	states := []State{Placing, Held, Suspended, Running, Quiet, Lingering, Ended}
	steps := []step{stepPlaced, stepHeld, stepAdmitted, stepOrdered, stepSuspended, stepQuiet, stepBusy,
		stepLeft, stepFailed, stepJoined, stepEmpty, stepLingered, stepGone}
	want := map[State]map[step]State{
		Placing:   {stepPlaced: Running, stepHeld: Held, stepLeft: Ended, stepFailed: Ended},
		Held:      {stepAdmitted: Running, stepOrdered: Placing, stepSuspended: Suspended, stepLeft: Ended, stepGone: Ended},
		Suspended: {stepHeld: Held, stepAdmitted: Running, stepGone: Ended},
		Running:   {stepJoined: Running, stepQuiet: Quiet, stepEmpty: Lingering, stepGone: Ended},
		Quiet:     {stepJoined: Quiet, stepBusy: Running, stepEmpty: Lingering, stepGone: Ended},
		Lingering: {stepJoined: Running, stepLingered: Ended, stepGone: Ended},
	}
	was, now := time.Unix(100, 0), time.Unix(200, 0)
	for _, from := range states {
		for _, s := range steps {
			t.Run(string(from)+" "+string(s), func(t *testing.T) {
				j := job{id: "npm-1", state: from, entered: was}
				err := j.move(s, now)
				next, ok := want[from][s]
				switch {
				case ok && (err != nil || j.state != next):
					t.Errorf("got %s, %v; want %s", j.state, err, next)
				case !ok && (err == nil || j.state != from):
					t.Errorf("got %s, %v; want an error and no move", j.state, err)
				}
				if moved := j.state != from; moved != j.entered.Equal(now) || !moved != j.entered.Equal(was) {
					t.Errorf("entered %v, moved: %v", j.entered, moved)
				}
			})
		}
	}
	for from, row := range life {
		for s, to := range row {
			if want[from][s] != to {
				t.Errorf("the table leads from %s by %s to %s", from, s, to)
			}
		}
	}
}

func TestAlive(t *testing.T) {
	for state, want := range map[State]bool{Placing: true, Held: true, Suspended: true, Running: true, Quiet: true, Lingering: true, Ended: false} {
		if got := (&job{state: state}).alive(); got != want {
			t.Errorf("%s: %v", state, got)
		}
	}
}

// TestEveryStateEnds walks the table: from each state an end can be reached,
// and from the end there is no way back.
func TestEveryStateEnds(t *testing.T) {
	if len(life[Ended]) != 0 {
		t.Errorf("steps from the end: %v", life[Ended])
	}
	for from := range life {
		seen := map[State]bool{from: true}
		for queue := []State{from}; len(queue) > 0; queue = queue[1:] {
			for _, to := range life[queue[0]] {
				if !seen[to] {
					seen[to] = true
					queue = append(queue, to)
				}
			}
		}
		if !seen[Ended] {
			t.Errorf("no way from %s to an end", from)
		}
	}
}
