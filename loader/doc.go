// Package loader tells of each exec on the machine.
//
// Three sources do that, behind one small interface: a BPF program on
// sched_process_exec that filters by program name in the kernel, perf's exec
// records where BPF cannot be had, and two snapshots of /proc where nothing
// else can. Open chooses the best that works and says why not a better one.
//
// No source starts a goroutine or blocks: a caller waits for FD to become
// readable, in one epoll with whatever else it waits for, and calls Read.
//
//go:generate go run generate.go
package loader
