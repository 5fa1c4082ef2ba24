//go:build linux

package contain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// Tree is a process with its descendants, where no cgroup tells what belongs
// together.
type Tree struct {
	FS   proc.FS
	Root proc.ID
	// Spare says of a descendant that it is no part of the tree, and what is
	// below it neither. Nil: all are.
	Spare func(pid int) bool
}

// Trees ends trees.
type Trees struct{ FS proc.FS }

// Stop ends one: see Tree.Stop.
func (t Trees) Stop(ctx context.Context, root proc.ID, grace time.Duration, spare func(pid int) bool) (told int, err error) {
	return Tree{FS: t.FS, Root: root, Spare: spare}.Stop(ctx, grace)
}

// Stop ends the tree: it asks all of it with SIGTERM, and after the grace kills
// what is left, the largest first. What is forked meanwhile is found by walking
// until a walk finds nothing new; what lost its parent on the way is known by
// its pidfd, or by the group or session that a member led. A grace of 0 kills at
// once. It returns how many processes were told to end. It takes the grace and
// some 12 s at most; the end of ctx cuts the grace short, and nothing is killed
// then. A root that is gone is a tree that has ended.
//
// Where pidfds are not to be had (Linux before 5.3) nothing is signalled: the
// error wraps errors.ErrUnsupported.
func (t Tree) Stop(ctx context.Context, grace time.Duration) (told int, err error) {
	f := felling{Tree: t, members: make(map[proc.ID]*proc.Handle), spared: make(map[int]bool)}
	defer f.close()
	if err := f.take(t.Root); err != nil {
		if isGone(err) {
			return 0, nil
		}
		return 0, fmt.Errorf("stop the tree of %v: %w", t.Root, err)
	}
	if grace > 0 {
		if f.round(ctx, grace, unix.SIGTERM, unix.SIGCONT) {
			return len(f.members), nil
		}
		if err := ctx.Err(); err != nil {
			return len(f.members), fmt.Errorf("stop the tree of %v: %w", t.Root, err)
		}
	}
	for range killRounds {
		if f.round(ctx, killWait, unix.SIGKILL) {
			return len(f.members), nil
		}
	}
	left := f.living()
	return len(f.members), fmt.Errorf("stop the tree of %v: %d processes do not end (%v): %w",
		t.Root, len(left), left[:min(len(left), 5)], errors.Join(ctx.Err(), errStuck))
}

// felling is a tree on its way down.
type felling struct {
	Tree
	members map[proc.ID]*proc.Handle // all that ever belonged to it
	spared  map[int]bool
}

func (f *felling) close() {
	for _, h := range f.members {
		h.Close()
	}
}

// take makes a process a member.
func (f *felling) take(id proc.ID) error {
	if _, known := f.members[id]; known || id.PID <= 1 {
		return nil
	}
	h, err := proc.Open(f.FS, id)
	if err != nil {
		return err
	}
	f.members[id] = h
	return nil
}

// round signals every member, and what they fork while it waits, until none is
// left (true) or the time is over.
func (f *felling) round(ctx context.Context, d time.Duration, signals ...unix.Signal) bool {
	end := time.NewTimer(d)
	defer end.Stop()
	tick := time.NewTicker(stopEach)
	defer tick.Stop()
	told := make(map[proc.ID]bool)
	for {
		for range walks {
			f.gather()
			if !f.signal(told, signals...) {
				break
			}
		}
		if len(f.living()) == 0 && !f.orphans() {
			return true
		}
		select {
		case <-tick.C:
		case <-end.C:
			return false
		case <-ctx.Done():
			if signals[0] != unix.SIGKILL {
				return false
			}
			// Half killed is no state to leave it in: the time ends it.
			ctx = context.WithoutCancel(ctx)
		}
	}
}

// gather makes members of what the living members have started.
func (f *felling) gather() {
	for _, id := range f.living() {
		below, err := f.FS.Descendants(id.PID)
		if err != nil {
			continue // it has ended
		}
		for _, b := range below {
			f.consider(b)
		}
	}
}

// consider makes a member of a descendant, unless it or one above it is spared.
func (f *felling) consider(id proc.ID) {
	if _, known := f.members[id]; known || f.spared[id.PID] {
		return
	}
	st, err := f.FS.Stat(id.PID)
	if err != nil || st.ID != id {
		return
	}
	if f.spared[st.PPID] || f.Spare != nil && f.Spare(id.PID) {
		f.spared[id.PID] = true
		return
	}
	_ = f.take(id) // gone meanwhile
}

// orphans looks through the process table for what a member has left behind: it
// is pid 1's child by now, but still in the group or session that the member
// led. It reports whether there was any.
func (f *felling) orphans() (some bool) {
	led := make(map[int]uint64, len(f.members))
	for id := range f.members {
		if st, err := f.FS.Stat(id.PID); err == nil && st.ID != id {
			continue // the number leads another's group by now
		}
		led[id.PID] = id.Start
	}
	pids, err := f.FS.List()
	if err != nil {
		return false
	}
	for _, pid := range pids {
		st, err := f.FS.Stat(pid)
		if err != nil || st.State == 'Z' || st.State == 'X' {
			continue
		}
		start, ok := led[st.PGID]
		if !ok {
			start, ok = led[st.SID]
		}
		if _, known := f.members[st.ID]; !ok || known || st.ID.Start < start {
			continue
		}
		f.consider(st.ID)
		_, known := f.members[st.ID]
		some = some || known
	}
	return some
}

// signal tells those that were not told yet, and reports whether there were
// any. The largest come first, and give back what they have before others are
// killed.
func (f *felling) signal(told map[proc.ID]bool, signals ...unix.Signal) (some bool) {
	type sized struct {
		id    proc.ID
		bytes int64
	}
	var next []sized
	for _, id := range f.living() {
		if !told[id] {
			bytes, _ := f.FS.Resident(id.PID)
			next = append(next, sized{id, bytes})
		}
	}
	slices.SortFunc(next, func(a, b sized) int { return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.id.PID, b.id.PID)) })
	for _, n := range next {
		told[n.id], some = true, true
		h := f.members[n.id]
		for _, sig := range signals {
			if h.Signal(sig) != nil {
				break // it has ended, or may not be signalled: seen by who waits
			}
			if sig == unix.SIGKILL {
				_ = h.Reap() // the kernel does it by itself, later
			}
		}
	}
	return some
}

// living are the members that have not ended.
func (f *felling) living() []proc.ID {
	var all []proc.ID
	for id, h := range f.members {
		if over, err := h.Exited(); err == nil && !over {
			all = append(all, id)
		}
	}
	slices.SortFunc(all, func(a, b proc.ID) int { return cmp.Compare(a.PID, b.PID) })
	return all
}
