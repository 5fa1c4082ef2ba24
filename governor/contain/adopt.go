package contain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/headroomd/headroomd/loader/proc"
)

const (
	// adoptDepth is how deep below the root scopes are looked for. A user's
	// own tree may be deeper than any path of systemd's.
	adoptDepth = 10

	// adoptPerManager bounds what one user can have adopted by making
	// directories with the right names in his own tree.
	adoptPerManager = 32
)

// Adopt takes over the scopes of jobs that a former governor left: of the
// system manager and of every user's. Each gets a new placeholder, and what is
// in force is read back. A frozen one is let go, or with keepFrozen stays so
// and says it in Scope.Frozen; what is not taken over is let go in any case.
// Scopes without a process are left to systemd. After an error the scopes are
// those that were found all the same.
func (s *Systemd) Adopt(ctx context.Context, keepFrozen bool) ([]Scope, error) {
	paths, err := s.cg.scopes()
	if err != nil {
		err = fmt.Errorf("look for scopes of a former run: %w", err)
	}
	var found []Scope
	count := make(map[string]int)
	for _, p := range paths {
		if s.user != nil && !s.user.owns(p) {
			continue
		}
		sc, ok := s.takeOver(ctx, p, count, keepFrozen)
		switch {
		case ok:
			found = append(found, sc)
		case s.cg.frozen(p):
			if terr := s.cg.freeze(p, false); terr != nil && !gone(terr) {
				err = errors.Join(err, fmt.Errorf("thaw %q: %w", p, terr))
			}
		}
	}
	return found, errors.Join(err, ctx.Err())
}

// takeOver adopts the scope at a path; false if it is none of a job that runs,
// or cannot be had. count is how many were tried of each manager.
func (s *Systemd) takeOver(ctx context.Context, p string, count map[string]int, keepFrozen bool) (Scope, bool) {
	o := ParseOrigin(p)
	if ctx.Err() != nil || o.Kind != "job" || path.Base(p) != o.Unit {
		return Scope{}, false
	}
	if count[o.Manager]++; count[o.Manager] > adoptPerManager {
		s.log.Warn("more scopes than are adopted", "manager", o.Manager, "unit", o.Unit)
		return Scope{}, false
	}
	sc, err := s.adopt(ctx, o, keepFrozen)
	if err != nil {
		s.log.Warn("scope not adopted", "unit", o.Unit, "err", err)
		return Scope{}, false
	}
	return sc, sc.Moved > 0
}

func (s *Systemd) adopt(ctx context.Context, o Origin, keepFrozen bool) (Scope, error) {
	sc := Scope{Unit: o.Unit, Manager: o.Manager, Cgroup: o.Cgroup}
	var err error
	if sc.CgroupID, err = s.cg.id(o.Cgroup); err != nil {
		return Scope{}, err
	}
	// First of all: whatever else goes wrong, nothing stays stranded.
	if sc.Frozen = s.cg.frozen(o.Cgroup); sc.Frozen && !keepFrozen {
		sc.Frozen = false
		if err := s.cg.freeze(o.Cgroup, false); err != nil {
			return Scope{}, fmt.Errorf("thaw: %w", err)
		}
		sc.Notes = append(sc.Notes, "it was frozen and was let go")
	}
	procs, err := s.cg.procs(o.Cgroup)
	if err != nil {
		return Scope{}, err
	}
	oldest, members := s.oldest(procs)
	if members == 0 {
		return sc, nil
	}
	sc.Main, sc.Moved = oldest.ID, members
	s.readLimits(&sc, Limits{})
	sc.OOMPolicy = s.asked(ctx, o, "Scope", "OOMPolicy") == "continue"
	if sc.Placeholder, err = s.hold.start(oldest.UID, nil); err != nil {
		sc.Notes = append(sc.Notes, err.Error())
	} else if err := s.move(o.Cgroup, sc.Placeholder.PID); err != nil {
		// By a write and not by the fork: a user can freeze the cgroups of his
		// own tree, and a fork into a frozen one does not return.
		s.hold.stop(sc.Placeholder)
		sc.Placeholder = proc.ID{}
		sc.Notes = append(sc.Notes, fmt.Sprintf("no placeholder: %v", err))
	}
	if session := s.session(ctx, o); session != "" {
		if sc.OriginHolder, err = s.born(session, oldest.UID); err != nil {
			sc.Notes = append(sc.Notes, fmt.Sprintf("nothing left in %s: %v", path.Base(session), err))
		}
	}
	return sc, nil
}

// oldest is the process that has run longest; a placeholder of a former run
// that is about to die is none.
func (s *scopes) oldest(procs []int) (oldest proc.Exec, members int) {
	for _, pid := range procs {
		if argv, err := s.fs.Cmdline(pid); err == nil && len(argv) > 0 && argv[0] == placeholderName {
			continue
		}
		x := proc.Exec{ID: proc.ID{PID: pid}}
		if err := s.fs.ReadFacts(&x); err != nil {
			continue
		}
		if members++; members == 1 || x.ID.Start < oldest.ID.Start {
			oldest = x
		}
	}
	return oldest, members
}

// asked is one property of a scope as text, "" where it cannot be had.
func (s *Systemd) asked(ctx context.Context, o Origin, iface, name string) string {
	props, err := s.manager(o.Manager).get(ctx, o.Unit, iface, name)
	if err != nil {
		return ""
	}
	switch v := props[name].(type) {
	case string:
		return v
	case []string:
		return strings.Join(v, " ")
	}
	return ""
}

// session is the cgroup of the login session that a scope came from, "" if it
// did not come from one or that one has ended.
func (s *Systemd) session(ctx context.Context, o Origin) string {
	if o.Manager != SystemManager || !strings.HasPrefix(o.Slice, "user-") {
		return ""
	}
	for unit := range strings.FieldsSeq(s.asked(ctx, o, "Unit", "PartOf")) {
		p := path.Join(path.Dir(o.Cgroup), unit)
		if ParseOrigin(p).Kind != "session" {
			continue
		}
		if _, err := s.cg.id(p); err == nil {
			return p
		}
	}
	return ""
}

// scopes lists the cgroup paths of all jobs, in order. What cannot be read is
// passed over; the error tells of it.
func (c cgroups) scopes() ([]string, error) {
	var found []string
	var unread error
	err := filepath.WalkDir(c.root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			switch {
			case p == c.root:
				return err
			case !gone(err):
				unread = errors.Join(unread, err)
			}
			return nil
		}
		if !d.IsDir() {
			return nil
		}
		rel := strings.TrimPrefix(p, c.root)
		if IsScopeName(d.Name()) {
			found = append(found, rel)
			return fs.SkipDir
		}
		if strings.Count(rel, "/") >= adoptDepth {
			return fs.SkipDir
		}
		return nil
	})
	slices.Sort(found)
	return found, errors.Join(err, unread)
}
