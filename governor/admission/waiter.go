package admission

import "time"

// Waiter is a job that asks to start.
type Waiter struct {
	Job      string
	User     uint32        // whose turn it counts as: the login uid, else the uid
	Since    time.Time     // when it asked first; kept over Ctrl-Z and a restart
	Patience time.Duration // counted from Since; once over, the next Look answers it
	PeakMB   int64         // learned; -1 (or 0) unknown
	Runs     int           // how many runs PeakMB comes from
	Slotless bool          // passes the memory gate alone: neither slot nor promise nor cap
	Never    bool          // never held: starts at the next Look, with the smallest cap if need be
}

// Start is a waiter that starts now. It holds from then on, unless it was
// Slotless: then the book has forgotten it.
type Start struct {
	Job      string
	Cap      Cap
	TimedOut bool // its patience is over. The loop may refuse it instead, and calls End then
}

// Standing is where a waiter stands.
type Standing struct {
	Job       string
	Position  int    // 1 is next; the slotless are counted by themselves
	Behind    string // the job that holds what it waits for; "" when it waits for memory alone
	MissingMB int64  // 0 when memory is not what is missing
	Why       string // one sentence with the numbers
	Never     string // "", or why it can never have what it needs: "it peaked at 3480 MB in its last 3 runs; this machine can give 690 MB"
}

// CapChange is a new cap of a running job that is worth a write.
type CapChange struct {
	Job      string
	MemoryMB int64
	Why      string
}
