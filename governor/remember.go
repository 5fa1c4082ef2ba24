package governor

// partHeld lets go of what waits, or leaves it to who comes next, on the way
// out of the loop: no order is under way any more. It returns how
// many jobs run, and how many waited.
func (g *Governor) partHeld() (running, waiting int) {
	for _, j := range g.jobs {
		if j.observed {
			continue
		}
		if !j.stands() {
			running++
			continue
		}
		waiting++
		if j.scope.Cgroup == "" || g.o.KeepHeld && j.state == Held && j.waits.refused == "" {
			continue
		}
		if err := g.o.Backend.Thaw(j.scope); err != nil {
			g.o.Log.Error("let a job go at the end", "job", j.id, "err", err)
		}
	}
	return running, waiting
}

// remember has it written what waits, and since when.
func (g *Governor) remember() {}
