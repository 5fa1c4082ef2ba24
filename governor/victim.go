package governor

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// suspect is a job, or a tree of processes that is none, as the choice of a
// victim sees it. Sizes are in MB.
type suspect struct {
	job  string // "" for a tree
	tree int    // its place in the survey

	user      uint32
	began     time.Time
	usedMB    int64 // -1 unknown
	promiseMB int64
	roomMB    int64 // by how much it may still grow; -1: nothing bounds it
	grownMB   int64 // since the machine was last calm
	late      bool  // a job that was made of a tree that grew
	stands    bool  // frozen: it has little, and takes nothing
	fixed     bool  // it cannot be put into a scope
	spare     string
}

// deed is what is done to a suspect.
type deed int

const (
	doNothing deed = iota
	doCapture      // put the tree into a capped scope: it grows no more
	doStop         // end all of it
)

// emergency is what a choice rests on.
type emergency struct {
	below       bool  // the critical line: what is to be freed is to be freed now
	hurt        bool  // a protected unit stands still for want of memory
	availableMB int64 // -1 unknown
	criticalMB  int64
	captures    bool // a tree can be put into a scope whose cap the kernel enforces
	lostMB      int64
	users       map[uint32]int64 // by how much users' processes grew
	suspects    []suspect
}

// choice is whom to act on, and why.
type choice struct {
	suspect
	deed deed
	why  string // the reader's words: "it had grown by 310 MB"
}

const (
	// leastShare: what grew by less has not brought the machine here.
	leastShare = 32
	// leastFreed: to stop what has less is to stop it for nothing.
	leastFreed = 16
	// overBy is how much more than its promise a job may have before it is said
	// to be over it: the two are not counted at the same moment.
	overBy = 16
)

// choose says whom to act on. Who grew pays before who only was there:
//
//  1. the tree that grew most, or a job that has more than it was promised; if
//     these are different users', the tree, since a user's build must not pay
//     for another's ./a.out;
//  2. the newest job of the user whose processes grew most;
//  3. the newest job.
//
// What is spared is none of them, and what stands still comes after what runs.
// Above the critical line a tree is only kept from growing, and a job is
// stopped only if its cap lets it bring the machine below the line by itself;
// nobody pays for another there, unless what is to be protected is hurt.
func (e emergency) choose() (choice, bool) {
	if c, ok := e.grower(); ok {
		return c, c.deed != doNothing
	}
	if !e.below && !e.hurt {
		return choice{}, false
	}
	user, grownMB := e.growingUser()
	if s, ok := e.newest(func(s suspect) bool { return s.user == user && grownMB >= e.share() }); ok {
		return choice{s, doStop, fmt.Sprintf("it was the newest heavy job of the user whose processes had grown by %d MB", grownMB)}, true
	}
	if s, ok := e.newest(func(suspect) bool { return true }); ok {
		return choice{s, doStop, "it was the newest heavy job"}, true
	}
	return choice{}, false
}

// share is by how much one has to have grown to be blamed: a fifth of what the
// machine lost.
func (e emergency) share() int64 { return max(leastShare, e.lostMB/5) }

// grower is the first class: who brought the machine here.
func (e emergency) grower() (choice, bool) {
	var tree, over *suspect
	for i := range e.suspects {
		s := &e.suspects[i]
		switch {
		case s.spare != "" || s.stands:
		case s.job == "" || s.late:
			if (s.grownMB >= e.share() || s.late && s.usedMB >= leastFreed) && (tree == nil || s.grownMB > tree.grownMB) {
				tree = s
			}
		case s.overMB() >= overBy && (over == nil || s.overMB() > over.overMB()):
			over = s
		}
	}
	if tree != nil && (over == nil || over.user != tree.user || tree.grownMB >= over.overMB()) {
		return e.blameTree(*tree), true
	}
	if over == nil {
		return choice{}, false
	}
	c := choice{*over, doStop, fmt.Sprintf("it had %d MB more than the %d MB that it was promised", over.overMB(), over.promiseMB)}
	if !e.below && over.roomMB >= 0 && e.availableMB-over.roomMB >= e.criticalMB {
		c.deed = doNothing
	}
	return c, true
}

// overMB is what the job has beyond its promise.
func (s suspect) overMB() int64 {
	if s.promiseMB <= 0 || s.usedMB < 0 {
		return 0
	}
	return s.usedMB - s.promiseMB
}

func (e emergency) blameTree(s suspect) choice {
	c := choice{s, doNothing, fmt.Sprintf("it had grown by %d MB", s.grownMB)}
	switch {
	case e.below:
		c.deed = doStop
	case s.late: // it grows no more
	case e.captures && !s.fixed:
		c.deed = doCapture
	}
	return c
}

// growingUser is whose processes grew most, and by how much.
func (e emergency) growingUser() (user uint32, grownMB int64) {
	for u, mb := range e.users {
		if mb > grownMB || mb == grownMB && u < user {
			user, grownMB = u, mb
		}
	}
	return user, grownMB
}

// newest is the newest of the jobs that may be stopped: the running ones before
// those that stand still, and what frees nothing not at all.
func (e emergency) newest(which func(suspect) bool) (suspect, bool) {
	var all []suspect
	for _, s := range e.suspects {
		if s.job != "" && s.spare == "" && (s.usedMB < 0 || s.usedMB >= leastFreed) && which(s) {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return suspect{}, false
	}
	return slices.MinFunc(all, func(a, b suspect) int {
		if a.stands != b.stands {
			if a.stands {
				return 1
			}
			return -1
		}
		return cmp.Or(b.began.Compare(a.began), cmp.Compare(a.job, b.job))
	}), true
}
