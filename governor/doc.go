// Package governor decides what becomes of heavy commands.
//
// One loop (Governor.Run) owns the jobs, the queue and the budget. It takes
// findings from the tracer's thread (Judge looks at each exec there), makes jobs
// of them or joins them to one, gives orders to the placers, and takes in
// outcomes and readings. It never waits for a disk, a bus or a process, and it
// records a decision before it acts on it. What a job can go through is the
// table in job.go.
//
// # Who is captured
//
// What the rules call heavy and to be captured by its own exec, unless it has
// more rights than its caller (setuid), sits in a container, runs inside a
// package manager, or its unit forbids the move (package contain says which
// do). A caught process stands still for at most 250 ms without progress in its
// placing and 1 s in all; then it runs on, is moved running, and what it touched
// meanwhile is taken off its cap. What is found by a scan or while it was being
// traced by another is treated the same way, with its descendants. A scan looks
// at what started since the last time that all was known to be seen (30 s at
// the start): what ran long before is left to run.
//
// # Who waits for whom
//
// A queue that makes processes wait can have them wait for each other. At each
// heavy exec, in this order:
//
//   - What runs in a job's cgroup is that job and never waits; but a quiet job is
//     a supervisor: what it starts is a job of its own, in a scope beside it.
//   - What shares the process group and the login of a live, waiting or lingering
//     job, and sat where that job came from, joins it (kin.go). What joins a job
//     that waits stands still with it.
//   - What shares a pipe with a job on descriptors 0 to 2, directly or through
//     light processes, joins it (pipes.go); where it may not join, since it is
//     another user's or came from elsewhere, it is never held.
//   - What was started with a locked file, and what had run for seconds when it
//     was found, is never held.
//   - A user has at most 8 jobs waiting and gets at most 4 scopes a second; what
//     is beyond joins his last waiting, or his newest, job of the same origin.
//   - All others ask the book of package admission. If it is not their turn they
//     are placed frozen, held to a small cap, and wait.
//
// Patience ends each wait (patience.go): the command then starts all the same,
// unless the settings have it refused. A holder of a slot that does nothing for
// 5 s while somebody waits gives it up (quiet.go), so that no circle of waits
// lasts, whatever it goes through. Ctrl-Z, and signals that a frozen process
// handles itself, let it go and take it out of the queue; what then neither
// stops nor ends within 2 s, or is told to go on, waits again with the time at
// which it first asked.
//
// Nothing is left frozen: an order that fails on the way of a hold lets go, what
// cannot be let go is tried again four times a second, and at the end of Run
// everything is let go but what Options.KeepHeld leaves to the next governor,
// which finds in Options.HeldFile since when it waits.
//
// # Caps
//
// A job starts with the cap that the book grants and follows the readings from
// then on. A quiet job counts with what it uses and keeps its cap: one that
// wakes up grows by more than a margin within one reading.
//
// # Containers
//
// What runs in a container is never moved, stopped or made to wait; by default
// it is only recorded. With contain_containers = "cap" the first heavy command
// in a container is a job, which further ones there are part of: the container's
// own memory.max comes down to what it has that cannot be dropped and what the
// job is granted, but never to less than is charged at that moment and 64 MB,
// since the kernel would reclaim, and then kill, until it fits. A limit that is
// lower stays, and none is raised above what it was. The job's processes get
// their oom_score_adj, so that the kernel takes them and not the container's
// other ones; where it would take all of them (memory.oom.group, a unit that
// systemd stops) nothing is done. What somebody puts back meanwhile, as a reload
// of systemd does, is lowered again at the next reading; what somebody lowers
// further is left to him. The former values are written to
// Options.Containers' file before they are changed, and given back 5 s after
// the last command, at the end, at the next start, or by `headroomd release`.
//
// # Watching
//
// A third clock reads the memory as often as package watchdog wants it: each
// second while nothing is wrong, and up to fifty times a second near the critical
// line. At an alarm the process table is read off the loop, and compared with
// what it was when the machine was last calm; then the memory is read once more,
// and one victim is chosen (victim.go):
//
//   - what no rule knows and grew most, or a job that has more than it was
//     promised; if these are different users', the former. Above the critical
//     line it is only kept from growing, by a scope whose cap is half of what is
//     left (latecapture.go), where the kernel enforces caps; a job is stopped there
//     only if its cap lets it cross the line by itself.
//   - below the line, or when a protected unit stands still: the newest job of the
//     user whose processes grew most, then the newest of all. What waits frozen
//     comes after what runs.
//
// What no rule knows is a tree: the process below a shell, a supervisor or a
// login that its user would stop, with all that it started (survey.go). Never
// touched (spare.go) are supervisors, shells, logins, ssh, display servers,
// multiplexers, services, containers, package managers and what runs inside
// them, protected units, setuid programs, the governor and what started it, and
// for a governor of one user everybody else. That is told by binary, cgroup and
// uid: a program at home may call itself sshd. Package managers are never stopped,
// not even as the last: half an installation is worse than a reboot.
//
// A victim is stopped whole, with the grace that is left (0 to 5 s), by its scope
// or as a tree by pidfds, and nobody else before its memory is back. An alarm at
// which nothing can be done is recorded once, with the largest processes and why
// each was spared. With mode = "observe" all of it is recorded and nothing done.
//
// # Orphans
//
// A job whose coding agent is gone, or whose first process is, is ended after
// 30 s if nothing speaks for its staying: no rule that says so, no session of
// its own, no SIGHUP ignored, no standard input from /dev/null as a shell gives
// it to what it starts in the background. In doubt it is kept.
//
// # Modes
//
// In observe mode nothing is touched: what would have been done, and who would
// have waited for whom, is recorded. Jobs are followed by their first process.
package governor
