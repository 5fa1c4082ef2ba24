package contain

import (
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// Infinity is systemd's and the kernel's "no limit" for sizes and counts.
const Infinity = ^uint64(0)

// Limits are what a job's scope is held to. Sizes are in bytes. A zero
// MemoryMax means that no limit is asked for.
type Limits struct {
	MemoryMax     uint64
	MemorySwapMax uint64
	TasksMax      uint64
}

// Spec is an order to place processes in a scope of their own.
type Spec struct {
	Unit        string // "headroom-FAMILY-XXXXXXXX.scope"
	Description string // shown by systemctl; our words only
	Exec        proc.Exec
	Tree        bool // late catch: the descendants of Exec are moved too, until two walks agree
	Origin      Origin
	Limits      Limits
	// Frozen has the scope frozen before the process is let go: InForce is
	// called, and Place returns, with it frozen. What cannot be frozen is placed
	// all the same; Scope.Frozen tells.
	Frozen   bool
	Progress func() // called at each step that the manager answers; nil: nobody asks
	// InForce is called, at most once and before Place returns, when the process
	// is seen in its scope with the limit set, which is before the manager says
	// so. The Scope has Unit, Cgroup and CgroupID. Nil: nobody asks.
	InForce func(Scope)
}

// Scope is what is true after a placing, read back from the kernel and not
// from what was asked.
type Scope struct {
	Unit             string
	Main             proc.ID // the process that was placed; of an adopted scope its oldest
	Manager          string  // "system", or "user-UID"
	Cgroup           string  // path in the unified hierarchy
	CgroupID         uint64  // inode of the directory: the kernel's cgroup id
	MemoryMax        uint64  // as memory.max has it; Infinity for "max"; 0 where there is no such file
	MemorySwapMax    uint64
	MemoryController bool // the scope's directory has the memory controller's files
	SoftCap          bool // MemoryMax is kept by measuring: the kernel does not enforce it
	OOMPolicy        bool // OOMPolicy=continue was accepted (systemd ≥ 252.5)
	Placeholder      proc.ID
	OriginHolder     proc.ID // the placeholder left in the login session; zero where none
	Frozen           bool    // its cgroup is told to freeze: nothing in it runs
	Moved            int     // processes moved, the placeholder not counted
	Took             time.Duration
	Notes            []string // what fell short of what was asked, one line each
}

// Origin is where a process sits when it is caught, and whether it may be
// moved from there.
type Origin struct {
	Cgroup  string
	Unit    string // "session-2.scope", "ssh.service"; "" outside systemd
	Kind    string // "session", "service", "scope", "slice", "user-manager", "container", "job", "none"
	Manager string // the manager to ask: "system" or "user-UID"
	Slice   string // where the new scope belongs, e.g. "user-1000.slice"
	PartOf  string // the unit whose end ends the job; "" for none
	// Refuse is empty when the process may be moved; otherwise the reason in
	// plain words ("ssh.service limits IPAddressDeny: moving its process out would lift that").
	Refuse string
}

// Usage is one reading of a scope. Sizes are in bytes. A field that the
// kernel does not offer is -1: absence is never zero.
type Usage struct {
	Current  int64    // memory.current
	Swap     int64    // memory.swap.current
	Peak     int64    // memory.peak (Linux ≥ 5.19); counts page cache
	Working  int64    // anon + shmem + kernel of memory.stat: what cannot be dropped
	OOMKills int64    // oom_kill of memory.events
	CPUUsec  int64    // usage_usec of cpu.stat
	SoftKill SoftKill // the last kill at a soft cap; those are in OOMKills too
	Procs    []int    // cgroup.procs, our placeholder left out
	Unread   bool     // cgroup.procs is there and could not be read: Procs says nothing
	Gone     bool     // the cgroup is no more
}
