package proc

// FS is a mounted /proc. The zero FS is /proc itself.
type FS struct{ root string }

// NewFS returns the FS below root, usually "/proc".
func NewFS(root string) FS                      { return FS{root: root} }
func (fs FS) ReadCommand(x *Exec) error         { return nil }
func (fs FS) ReadFacts(x *Exec) error           { return nil }
func (fs FS) Stat(pid int) (Stat, error)        { return Stat{}, nil }
func (fs FS) Cmdline(pid int) ([]string, error) { return nil, nil }
func (fs FS) Exe(pid int) (string, error)       { return "", nil }
func (fs FS) Environ(pid int, key string) (value string, ok bool, err error) {
	return "", false, nil
}
func (fs FS) Memory(pid int) (Memory, error)         { return Memory{}, nil }
func (fs FS) Cgroup(pid int) (string, error)         { return "", nil }
func (fs FS) List() ([]int, error)                   { return nil, nil }
func (fs FS) Threads(pid int) ([]int, error)         { return nil, nil }
func (fs FS) Descendants(pid int) ([]ID, error)      { return nil, nil }
func (fs FS) Ancestors(pid, max int) ([]Stat, error) { return nil, nil }
func (fs FS) NewestPID() (int, error)                { return 0, nil }

// Stat is what /proc/PID/stat says of a process.
type Stat struct {
	ID      ID
	Comm    string
	State   byte // R, S, D, T, t, Z, …
	PPID    int
	PGID    int
	SID     int
	TTY     int
	Threads int
	UTime   uint64 // clock ticks (USER_HZ, 100 a second)
	STime   uint64
}

// Memory is what a process holds, in bytes; -1 where the kernel does not say.
type Memory struct {
	RssAnon  int64
	RssFile  int64
	RssShmem int64
	Swap     int64
}
