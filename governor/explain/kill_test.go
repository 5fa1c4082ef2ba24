package explain

import (
	"strings"
	"testing"
	"time"
)

func TestKernelKill(t *testing.T) {
	tests := []struct {
		name, line string
		want       Kill
		ok         bool
	}{
		{"at a cap", "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/user.slice/user-1000.slice/headroom-node-test-3f9a01bc.scope,task_memcg=/user.slice/user-1000.slice/headroom-node-test-3f9a01bc.scope,task=node,pid=812,uid=1000",
			Kill{By: "kernel", PID: 812, Comm: "node", UID: 1000, RSSMB: -1, Cgroup: "/user.slice/user-1000.slice/headroom-node-test-3f9a01bc.scope"}, true},
		{"of the machine", "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/user.slice/user-1000.slice/session-2.scope,task=a.out,pid=900,uid=1001",
			Kill{By: "kernel", PID: 900, Comm: "a.out", UID: 1001, RSSMB: -1}, true},
		{"what died at a cap", "Memory cgroup out of memory: Killed process 812 (node) total-vm:1049376kB, anon-rss:498220kB, file-rss:1844kB, shmem-rss:0kB, UID:1000 pgtables:1032kB oom_score_adj:900",
			Kill{By: "kernel", PID: 812, Comm: "node", UID: 1000, RSSMB: 486}, true},
		{"what died", "Out of memory: Killed process 900 (a) b (c) total-vm:104kB, anon-rss:2048kB, file-rss:4kB, shmem-rss:1024kB, UID:1001 pgtables:1kB oom_score_adj:0",
			Kill{By: "kernel", PID: 900, Comm: "a) b (c", UID: 1001, RSSMB: 3}, true},
		{"a name with words of the line in it", "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/,task=x,pid=1,uid=0,pid=77,uid=5",
			Kill{By: "kernel", PID: 77, Comm: "x,pid=1,uid=0", UID: 5, RSSMB: -1}, true},
		{"another line", "node invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=900", Kill{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := KernelKill(tt.line); got != tt.want || ok != tt.ok {
				t.Errorf("got  %+v, %v\nwant %+v, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestGuardKill(t *testing.T) {
	tests := []struct {
		name, guard, line string
		want              Kill
		ok                bool
	}{
		{"earlyoom", "earlyoom", `sending SIGTERM to process 8049 uid 1000 "tail": badness 1301, VmRSS 1023 MiB`,
			Kill{By: "earlyoom", Signal: "SIGTERM", PID: 8049, UID: 1000, Comm: "tail", RSSMB: 1023}, true},
		{"earlyoom's older form", "earlyoom", `sending SIGKILL to process 12 "stress": badness 1000, VmRSS 3 MiB`,
			Kill{By: "earlyoom", Signal: "SIGKILL", PID: 12, UID: -1, Comm: "stress", RSSMB: 3}, true},
		{"systemd-oomd", "systemd-oomd", "Killed /user.slice/user-1000.slice/session-2.scope due to memory used (1000) / total (1100) and swap used (5) / total (5) being more than 90.00%",
			Kill{By: "systemd-oomd", Signal: "SIGKILL", UID: -1, RSSMB: -1, Cgroup: "/user.slice/user-1000.slice/session-2.scope"}, true},
		{"nohang", "nohang", "Sending SIGTERM to the process with PID 55", Kill{By: "nohang", Signal: "SIGTERM", PID: 55, UID: -1, RSSMB: -1}, true},
		{"what is none", "earlyoom", "mem avail:  712 of  981 MiB (72.58%), swap free:    0 of    0 MiB ( 0.00%)", Kill{}, false},
		{"nobody known", "mine", "sending SIGTERM to process 1", Kill{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := GuardKill(tt.guard, tt.line); got != tt.want || ok != tt.ok {
				t.Errorf("got  %+v, %v\nwant %+v, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	at := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	var kills []Kill
	for _, k := range []Kill{
		{Time: at, By: "kernel", PID: 8, UID: 1000, RSSMB: -1, Cgroup: "/a/headroom-x-1.scope"},
		{Time: at, By: "kernel", PID: 8, UID: -1, RSSMB: 40},
		{Time: at.Add(time.Minute), By: "kernel", PID: 8, UID: -1, RSSMB: 50},
	} {
		kills = Merge(kills, k)
	}
	if len(kills) != 2 || kills[0].RSSMB != 40 || kills[0].UID != 1000 || kills[1].RSSMB != 50 {
		t.Errorf("got %+v, want two, the first with 40 MB", kills)
	}
	if !kills[0].In("headroom-x-1.scope") || kills[1].In("headroom-x-1.scope") || kills[0].In("") {
		t.Error("which of them was in the scope")
	}
}

func TestKillSentence(t *testing.T) {
	at := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	tests := []struct {
		name string
		k    Kill
		ours bool
		want string
	}{
		{"ours", Kill{Time: at, By: "kernel", PID: 8, Comm: "node", RSSMB: 40, Cgroup: "/x"}, true, "it killed node (pid 8), which had 40 MB at the job's own cap."},
		{"the machine's", Kill{Time: at, By: "kernel", PID: 8, Comm: "node", RSSMB: -1}, false, "the whole machine was out of memory. That was not the governor."},
		{"another limit", Kill{Time: at, By: "kernel", PID: 8, RSSMB: -1, Cgroup: "/docker/1"}, false, "at the limit of /docker/1, which the governor did not set."},
		{"a guard", Kill{Time: at, By: "earlyoom", PID: 8, Comm: "tail", RSSMB: 5, Signal: "SIGTERM"}, false, "earlyoom ended tail (pid 8), which had 5 MB (SIGTERM). That was not the governor."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.k.Sentence(tt.ours); !strings.HasSuffix(got, tt.want) {
				t.Errorf("got %q, want it to end with %q", got, tt.want)
			}
		})
	}
}
