package explain

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/headroomd/headroomd/governor/journal"
)

// Kill is a process that was killed for its memory, as the kernel's log or
// another guard's tells it. It says who did it: the governor is not the only
// one who acts when memory runs out.
type Kill struct {
	Time   time.Time `json:"time"`
	By     string    `json:"by"`               // "kernel", "earlyoom", "systemd-oomd", "nohang"
	PID    int       `json:"pid,omitempty"`    // 0 where a whole cgroup was killed
	Comm   string    `json:"comm,omitempty"`   // the process's own word, escaped
	UID    int64     `json:"uid"`              // -1 where it is not told
	Cgroup string    `json:"cgroup,omitempty"` // whose limit was reached, or what was killed; "" for the whole machine's memory
	RSSMB  int64     `json:"rss_mb"`           // -1 where it is not told
	Signal string    `json:"signal,omitempty"` // of a guard that asks first
}

var (
	// The kernel writes two lines: whose limit was reached (Linux ≥ 5.0) …
	kernelWhy = regexp.MustCompile(`oom-kill:constraint=(\w+),.*?(?:oom_memcg=([^,]*),)?(?:global_oom,)?task_memcg=([^,]*),task=(.*),pid=(\d+),uid=(\d+)$`)
	// … and what died. "Memory cgroup out of memory: …" or "Out of memory: …".
	kernelKilled = regexp.MustCompile(`(Memory cgroup out of memory|Out of memory)[^:]*: Killed process (\d+) \((.*)\) total-vm:\d+kB, anon-rss:(\d+)kB, file-rss:\d+kB, shmem-rss:(\d+)kB(?:, UID:(\d+))?`)

	earlyoomKill = regexp.MustCompile(`sending (SIG\w+) to process (\d+) (?:uid (\d+) )?"(.*)":.*?VmRSS (\d+) MiB`)
	oomdKill     = regexp.MustCompile(`^Killed (/\S+) due to `)
	nohangKill   = regexp.MustCompile(`Sending (SIG\w+) to the process with PID (\d+)|Sending (SIG\w+) to (.*), PID: (\d+)`)
)

// KernelKill reads one line of the kernel's log. Half of what it tells is in
// each of two lines: those of one kill are put together by Kills.
func KernelKill(line string) (Kill, bool) {
	if m := kernelWhy.FindStringSubmatch(line); m != nil {
		k := Kill{By: "kernel", PID: atoi(m[5]), Comm: m[4], UID: int64(atoi(m[6])), RSSMB: -1}
		if m[1] == "CONSTRAINT_MEMCG" {
			k.Cgroup = m[2]
		}
		return k.clean(), true
	}
	if m := kernelKilled.FindStringSubmatch(line); m != nil {
		k := Kill{By: "kernel", PID: atoi(m[2]), Comm: m[3], UID: -1, RSSMB: int64(atoi(m[4])+atoi(m[5])) >> 10}
		if m[6] != "" {
			k.UID = int64(atoi(m[6]))
		}
		return k.clean(), true
	}
	return Kill{}, false
}

// GuardKill reads one line of another guard's log; guard is the name under
// which it logs.
func GuardKill(guard, line string) (Kill, bool) {
	k := Kill{By: guard, UID: -1, RSSMB: -1}
	switch guard {
	case "earlyoom":
		m := earlyoomKill.FindStringSubmatch(line)
		if m == nil {
			return Kill{}, false
		}
		k.Signal, k.PID, k.Comm, k.RSSMB = m[1], atoi(m[2]), m[4], int64(atoi(m[5]))
		if m[3] != "" {
			k.UID = int64(atoi(m[3]))
		}
	case "systemd-oomd":
		m := oomdKill.FindStringSubmatch(line)
		if m == nil {
			return Kill{}, false
		}
		k.Cgroup, k.Signal = m[1], "SIGKILL"
	case "nohang":
		m := nohangKill.FindStringSubmatch(line)
		if m == nil {
			return Kill{}, false
		}
		k.Signal, k.PID, k.Comm = m[1]+m[3], atoi(m[2]+m[5]), m[4]
	default:
		return Kill{}, false
	}
	return k.clean(), true
}

// Merge adds a kill to those in order of time, or completes the one that it is
// the second half of.
func Merge(kills []Kill, k Kill) []Kill {
	for i := len(kills) - 1; i >= 0 && k.Time.Sub(kills[i].Time) < 2*time.Second; i-- {
		was := &kills[i]
		if was.By != k.By || was.PID != k.PID || was.By != "kernel" {
			continue
		}
		if was.RSSMB < 0 {
			was.RSSMB = k.RSSMB
		}
		if was.UID < 0 {
			was.UID = k.UID
		}
		if was.Cgroup == "" {
			was.Cgroup = k.Cgroup
		}
		return kills
	}
	return append(kills, k)
}

// In reports whether the kill was at the limit of the job's own scope, or was
// that of the scope.
func (k Kill) In(unit string) bool {
	if unit == "" {
		return false
	}
	for part := range strings.SplitSeq(k.Cgroup, "/") {
		if part == unit {
			return true
		}
	}
	return false
}

// Sentence tells the kill. ours says that it was at the cap of a job.
func (k Kill) Sentence(ours bool) string {
	what := "a process"
	switch {
	case k.PID == 0:
		what = "everything in " + k.Cgroup
	case k.Comm != "":
		what = fmt.Sprintf("%s (pid %d)", k.Comm, k.PID)
	default:
		what = fmt.Sprintf("pid %d", k.PID)
	}
	size := ""
	if k.RSSMB >= 0 {
		size = fmt.Sprintf(", which had %d MB", k.RSSMB)
	}
	clock := k.Time.Local().Format("15:04:05")
	var text string
	switch {
	case k.By == "kernel" && ours:
		text = fmt.Sprintf("The kernel's log has it too: at %s it killed %s%s at the job's own cap.", clock, what, size)
	case k.By == "kernel" && k.Cgroup != "":
		text = fmt.Sprintf("At %s the kernel killed %s%s at the limit of %s, which the governor did not set.", clock, what, size, k.Cgroup)
	case k.By == "kernel":
		text = fmt.Sprintf("At %s the kernel killed %s%s, because the whole machine was out of memory. That was not the governor.", clock, what, size)
	default:
		text = fmt.Sprintf("At %s %s ended %s%s (%s). That was not the governor.", clock, k.By, what, size, k.Signal)
	}
	return journal.Escape(text, sentenceBytes)
}

// clean bounds and escapes what a process or a cgroup had a hand in.
func (k Kill) clean() Kill {
	k.Comm, k.Cgroup = journal.Escape(k.Comm, 64), journal.Escape(k.Cgroup, 256)
	return k
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
