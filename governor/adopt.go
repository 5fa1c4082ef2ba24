package governor

import (
	"context"
	"path"
	"strings"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/loader/proc"
)

// adopt takes over the scopes that an earlier governor left: they keep their
// caps, and what they are is read from what runs in them.
func (g *Governor) adopt(ctx context.Context) {
	// Nothing is stranded by that: what is frozen becomes a job that waits.
	scopes, err := g.o.Backend.Adopt(ctx, true)
	if err != nil {
		g.record(journal.Record{Event: journal.Failed, Reason: "jobs of an earlier run could not be looked for: " + err.Error()})
	}
	var waiting map[string]heldJob
	if g.o.HeldFile != "" {
		waiting = loadHeld(g.o.HeldFile, g.o.Log, time.Now())
	}
	for _, sc := range scopes {
		j := g.adopted(sc, g.o.Backend.Usage(sc))
		g.jobs[j.id] = j
		if sc.Frozen {
			h, known := waiting[sc.Unit]
			g.ignore(sc)
			g.holdAgain(j, h, known)
			continue
		}
		j.promiseMB = j.capMB
		g.book.Hold(j.id, j.waits.user, j.promiseMB, j.capMB)
		g.book.Use(j.id, j.memoryMB)
		g.ignore(sc)
		r := g.about(j)
		r.Event, r.MemoryCapMB, r.OOMKills = journal.Adopted, j.capMB, j.oomKills
		r.Reason = "it was running in its scope when the governor started"
		g.record(r)
	}
}

func (g *Governor) ignore(sc contain.Scope) {
	if err := g.o.Sight.Ignore(sc.CgroupID, sc.Cgroup); err != nil {
		g.o.Log.Warn("drop an adopted job's execs in the kernel", "unit", sc.Unit, "err", err)
	}
}

// adopted makes a job of a scope found running. The oldest process in it
// stands for the whole.
func (g *Governor) adopted(sc contain.Scope, u contain.Usage) *job {
	id := idOf(sc.Unit)
	family, _, _ := cutLast(id, "-")
	now := time.Now()
	j := &job{
		id: id, state: Running, since: now, entered: now, family: family, adopted: true,
		scope: sc, isolated: true, memoryMB: -1, peak: learned{mb: -1},
		oomKills: max(u.OOMKills, 0), processes: len(u.Procs), origin: path.Dir(sc.Cgroup),
	}
	if u.Working >= 0 {
		j.memoryMB, j.peakMB = u.Working>>20, u.Working>>20
	}
	if sc.MemoryMax != contain.Infinity {
		j.capMB = int64(sc.MemoryMax >> 20)
	}
	j.swapMB = swapOf(sc)
	var oldest proc.Exec
	for _, pid := range u.Procs {
		x := proc.Exec{ID: proc.ID{PID: pid}}
		if g.o.FS.ReadCommand(&x) != nil || g.o.FS.ReadFacts(&x) != nil {
			continue
		}
		if oldest.ID.PID == 0 || x.ID.Start < oldest.ID.Start {
			oldest = x
		}
	}
	if oldest.ID.PID != 0 {
		j.root, j.uid, j.command = oldest.ID, oldest.UID, journal.Command(oldest.Argv)
		j.kin = kinOf(&oldest, g.o.FS, g.o.Rules)
		j.program = programOf(oldest.Argv)
		j.waits.user = userOf(oldest.LoginUID, oldest.UID)
		g.recall(j, &oldest)
	}
	return j
}

// programOf is the name of a command's program.
func programOf(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	return path.Base(argv[0])
}

// cutLast cuts s around the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
