// Package admission decides who starts, when, and how much memory a job may
// have. It is pure: it is told what the machine has, who asks and what the
// running jobs use, and it answers with starts, caps and the sentences that
// explain them. It reads no clock and no file.
//
// The Book is the queue with its slots and promises. Promise and cap are two
// numbers: the promise is accounted, so that the sum of what is promised and
// not yet used stays within what is available beyond the reserve; the cap is
// enforced, starts at the promise or above, and moves at each reading.
//
// Waiting helps only if something of ours will end. While no job runs, nothing
// waits for longer than 10 s, and whoever waits has a patience after which it
// is answered in any case.
//
// Peaks are what runs of the same work took before.
//
// All sizes are in MB (2^20 bytes). A size that could not be read is -1:
// absence is never zero.
package admission
