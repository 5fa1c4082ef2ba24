package proc

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

// Descendants is the process's children, theirs, and so on, breadth first,
// without itself. It is a walk while they fork: who must have all of them
// walks until two walks agree. A child whose parent has ended belongs to
// whoever adopted it and is not found.
func (fs FS) Descendants(pid int) ([]ID, error) {
	if _, err := fs.Stat(pid); err != nil {
		return nil, err
	}
	children := fs.children
	if _, err := fs.children(pid); err != nil {
		// No task/TID/children: a kernel without CONFIG_PROC_CHILDREN.
		table, err := fs.childTable()
		if err != nil {
			return nil, err
		}
		children = func(pid int) ([]int, error) { return table[pid], nil }
	}
	var found []ID
	seen := map[int]bool{pid: true}
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		pids, err := children(queue[0])
		if err != nil && !errors.Is(err, ErrGone) {
			return found, err
		}
		for _, child := range pids {
			if seen[child] {
				continue
			}
			seen[child] = true
			s, err := fs.Stat(child)
			if errors.Is(err, ErrGone) {
				continue
			}
			if err != nil {
				return found, err
			}
			found = append(found, s.ID)
			queue = append(queue, child)
		}
	}
	return found, nil
}

// children is the children of all threads of one process.
func (fs FS) children(pid int) ([]int, error) {
	threads, err := fs.Threads(pid)
	if err != nil {
		return nil, err
	}
	var pids []int
	var last error
	read := 0
	for _, tid := range threads {
		path := fs.path(pid, "task/"+strconv.Itoa(tid)+"/children")
		err := withFile(unix.AT_FDCWD, path, 1<<20, func(text []byte) error {
			pids = append(pids, parseChildren(text)...)
			return nil
		})
		if err != nil {
			last = err // a thread that has ended, or no such file at all
			continue
		}
		read++
	}
	if read == 0 && last != nil {
		return nil, gone(last)
	}
	return pids, nil
}

// childTable is the children of every process, by its parent's pid.
func (fs FS) childTable() (map[int][]int, error) {
	pids, err := fs.List()
	if err != nil {
		return nil, err
	}
	table := make(map[int][]int, len(pids))
	for _, pid := range pids {
		s, err := fs.Stat(pid)
		if errors.Is(err, ErrGone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		table[s.PPID] = append(table[s.PPID], pid)
	}
	return table, nil
}

// Ancestors is the process's parent, its parent, and so on, nearest first, at
// most max of them. It ends where a parent is not visible (0: a kernel thread's,
// init's, or one in an outer pid namespace).
func (fs FS) Ancestors(pid, max int) ([]Stat, error) {
	child, err := fs.Stat(pid)
	if err != nil {
		return nil, err
	}
	var chain []Stat
	for len(chain) < max && child.PPID > 0 {
		parent, err := fs.Stat(child.PPID)
		if errors.Is(err, ErrGone) {
			// It ended since the child was read, which has another parent now.
			again, err := fs.Stat(child.ID.PID)
			if err != nil || again.ID != child.ID || again.PPID == child.PPID {
				return chain, nil
			}
			child = again
			continue
		}
		if err != nil {
			return chain, err
		}
		chain = append(chain, parent)
		child = parent
	}
	return chain, nil
}
