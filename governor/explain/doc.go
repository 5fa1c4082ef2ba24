// Package explain turns the journal's records into prose. It needs the records
// alone, so that it works with the daemon down.
package explain
