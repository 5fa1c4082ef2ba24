// Package note writes one line into the stderr of a process that headroomd
// holds, started or stopped, so that whoever started it does not take a wait for
// a hang.
//
// The process asked for none of this, so a note must harm nothing. Descriptor 2
// is taken from the process itself (pidfd_getfd), never opened again: that would
// be with the daemon's rights. It is written to only if it is a terminal with
// room, a pipe or FIFO with room, or a Unix stream that leads to somebody with
// no more rights than the process has. A file is never written to: a log would
// be garbled, and /etc/passwd opened for reading is a file, too. O_NONBLOCK is
// shared with the owner and left alone; each kind has its own way of not
// waiting. The descriptor is closed at once: a duplicate of a pipe's end keeps
// its reader from seeing the end of the output.
//
// What is not a terminal is often read by a program, so it gets fewer notes: see
// Note. What cannot be said is dropped and counted (Writer.Counts); a note is
// never worth an error.
package note
