// Package governor decides what becomes of heavy commands.
//
// One loop (Governor.Run) owns the jobs and the budget. It takes findings from
// the tracer's thread (Judge looks at each exec there), makes jobs of them or
// joins them to one, gives orders to the placers, and takes in outcomes and
// samples. It never waits for a disk, a bus or a process, and it records a
// decision before it acts on it. What a job can go through is the table in
// job.go.
//
// Who is captured: what the rules call heavy and to be captured by its own
// exec, unless it has more rights than its caller (setuid), sits in a
// container, runs inside a package manager, or its unit forbids the move
// (package contain says which do). What runs in a job's cgroup is that job;
// what shares the process group and the login of a live job, and sat where the
// job came from, joins it.
//
// What `npm run NAME` runs is told by the name alone here, and by package.json
// only to those who ask (explain, run, hook). The thread that judges must wait
// for no disk; a file that its user may change the next moment is no reason to
// let a command go; and what the name gets wrong costs little: a light script
// has a cap that it does not feel, a heavy one is taken when it execs.
//
// A caught process stands still for at most 250 ms without progress in its
// placing and 1 s in all; then it runs on, is moved running, and what it
// touched meanwhile is taken off its cap. What is found by a scan or while it
// was being traced by another is treated the same way, with its descendants.
//
// A scan looks at what started since the last time that all was known to be
// seen (30 s at the start): what ran long before is left to run.
//
// Heavy commands are not held yet: each is admitted at once, with the cap that
// package admission grants.
package governor
