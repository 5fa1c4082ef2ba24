// Package proc is one process as /proc shows it: its identity, its command,
// the facts that decide how it is treated, its memory, and a pidfd to act on.
//
// All of it is read below a root path (FS), so a test, or a daemon in a
// container with the host's /proc mounted elsewhere, needs no switch. Reading
// is apart from parsing; every parser is fuzzed, because a process chooses its
// own comm and argv: "a) R 1 (" is a valid comm.
//
// A process that has ended is an answer, ErrGone, whether the kernel said
// ENOENT (no such directory) or ESRCH (ended between the open and the read).
package proc
