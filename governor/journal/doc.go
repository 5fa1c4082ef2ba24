// Package journal remembers what the governor decided and saw: in memory for
// those who ask now, and as JSON lines in a bounded file for those who ask
// later.
//
// The loop that adds records must not wait for a disk, least of all on a
// machine that is short of memory. So Add puts a record into memory, hands it
// to the followers and queues it for the file; Run, in a goroutine of its own,
// writes. A record that the file has no room for is counted, the count is
// written once there is room again, and the governor goes on meanwhile. The
// file is not synced: a power cut may cost the last half minute, a sync for
// every record would wear out an SD card.
package journal
