package admission

// Limits are the settings in force, the automatic ones resolved against the
// machine. A value of 0 is meant as such only where it says so.
type Limits struct {
	MaxHeavyJobs   int   // slots of the whole machine
	ReserveMB      int64 // never promised to a job
	MinStartMB     int64 // the least that a job is promised
	CriticalMB     int64 // available memory below which jobs are stopped
	JobMemoryMaxMB int64 // 0: what is free when the job starts
	SwapMB         int64 // 0: 256, or half of the free swap for a job alone; -1: unlimited
}

// Cap is what one job gets.
type Cap struct {
	MemoryMB  int64  // enforced; 0 only where the machine's memory is unknown: no cap can be named
	SwapMB    int64  // enforced beyond MemoryMB; -1 unlimited
	PromiseMB int64  // accounted: taken off the budget of the jobs that follow
	Why       string // one sentence with the numbers
}

// MinCapMB is the smallest cap that is ever set. Below it a shell with one
// child does not run, and the kill would explain nothing.
const MinCapMB = 64

// SwapDefaultMB is what a job may swap beyond its cap when others run beside
// it: enough to move idle pages out, too little to thrash a card for minutes.
const SwapDefaultMB = 256
