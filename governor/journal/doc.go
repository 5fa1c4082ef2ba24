// Package journal remembers what the governor decided and saw: in memory for
// those who ask now, and as JSON lines in a bounded file for those who ask
// later.
package journal
