package main

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/governor/explain"
	"github.com/headroomd/headroomd/governor/journal"
)

func TestJournalKills(t *testing.T) {
	const lines = `{"__REALTIME_TIMESTAMP":"1764460000000000","_TRANSPORT":"kernel","SYSLOG_IDENTIFIER":"kernel","MESSAGE":"oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/,task=a.out,pid=900,uid=1001"}
{"__REALTIME_TIMESTAMP":"1764460000100000","_TRANSPORT":"kernel","SYSLOG_IDENTIFIER":"kernel","MESSAGE":"Out of memory: Killed process 900 (a.out) total-vm:1kB, anon-rss:2048kB, file-rss:0kB, shmem-rss:0kB, UID:1001 pgtables:1kB oom_score_adj:0"}
{"__REALTIME_TIMESTAMP":"1764460000200000","_TRANSPORT":"kernel","SYSLOG_IDENTIFIER":"kernel","MESSAGE":[1,2,3]}
no json
{"__REALTIME_TIMESTAMP":"1764460000300000","_TRANSPORT":"stdout","SYSLOG_IDENTIFIER":"earlyoom","MESSAGE":"sending SIGTERM to process 7 uid 1000 \"x\": badness 1, VmRSS 5 MiB"}
{"__REALTIME_TIMESTAMP":"1764460000400000","_TRANSPORT":"syslog","SYSLOG_IDENTIFIER":"earlyoom","MESSAGE":"oom-kill:constraint=CONSTRAINT_NONE,task_memcg=/,task=a,pid=1,uid=0"}
`
	kills, n := journalKills(strings.NewReader(lines))
	if n != 5 || len(kills) != 2 {
		t.Fatalf("%d entries, kills %+v; want 5 and 2", n, kills)
	}
	if k := kills[0]; k.By != "kernel" || k.PID != 900 || k.RSSMB != 2 || k.Time.Unix() != 1764460000 {
		t.Errorf("the kernel's is %+v", k)
	}
	if k := kills[1]; k.By != "earlyoom" || k.PID != 7 || k.Signal != "SIGTERM" {
		t.Errorf("earlyoom's is %+v", k)
	}
}

// records answers as /dev/kmsg does: a record a read.
type records []string

func (r *records) Read(p []byte) (int, error) {
	if len(*r) == 0 {
		return 0, unix.EAGAIN
	}
	line := (*r)[0]
	*r = (*r)[1:]
	if line == "" {
		return 0, unix.EPIPE
	}
	return copy(p, line), nil
}

func TestKmsgKills(t *testing.T) {
	const why = "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/,task=a.out,pid="
	boot := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	lines := records{
		"6,1,1000000,-;" + why + "1,uid=0\n SUBSYSTEM=x\n", // before the time that was asked for
		"", // overwritten
		"6,2,9000000,-;" + why + "2,uid=0\n",
		"14,3,9100000,-;" + why + "3,uid=0\n", // written by a program, and not by the kernel
		"nonsense",
	}
	kills := kmsgKills(&lines, boot, boot.Add(5*time.Second))
	if len(kills) != 1 || kills[0].PID != 2 || !kills[0].Time.Equal(boot.Add(9*time.Second)) {
		t.Errorf("got %+v, want pid 2 alone", kills)
	}
}

func TestWhyOf(t *testing.T) {
	at := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	all := []journal.Record{
		{Time: at, Event: journal.Captured, Job: "make-1", PID: 10, Command: "make", Unit: "headroom-make-1.scope"},
		{Time: at.Add(time.Second), Event: journal.Joined, Job: "make-1", PID: 11},
		{Time: at.Add(9 * time.Second), Event: journal.Ended, Job: "make-1", PID: 10},
	}
	kill := func(after time.Duration, pid int, cgroup string) explain.Kill {
		return explain.Kill{Time: at.Add(after), By: "kernel", PID: pid, Cgroup: cgroup, RSSMB: -1, UID: -1}
	}
	kills := []explain.Kill{
		kill(2*time.Second, 12, "/x/headroom-make-1.scope"), // at its cap
		kill(3*time.Second, 11, ""),                         // of it, for the whole machine's memory
		kill(4*time.Second, 99, ""),                         // a stranger
		kill(time.Hour, 10, ""),                             // another process of that number
	}
	tests := []struct {
		name, word string
		job        string
		kills      int
		says       string // of the last sentence
		fails      string
	}{
		{"the last", "last", "make-1", 2, "the whole machine was out of memory", ""},
		{"by name", "make-1", "make-1", 2, "not the governor", ""},
		{"by a pid in it", "11", "make-1", 2, "not the governor", ""},
		{"a stranger's pid", "99", "", 1, "pid 99", ""},
		{"nobody's pid", "98", "", 0, "", "nothing is on record of pid 98"},
		{"no such job", "make-2", "", 0, "", `no job "make-2"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := whyOf(all, kills, tt.word)
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Errorf("got %v, want %q", err, tt.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if a.Job != tt.job || len(a.Kills) != tt.kills || !strings.Contains(a.Story[len(a.Story)-1], tt.says) {
				t.Errorf("job %q, %d kills, story %q; want %q, %d, %q", a.Job, len(a.Kills), a.Story, tt.job, tt.kills, tt.says)
			}
		})
	}
	if _, err := whyOf(nil, nil, "last"); err == nil {
		t.Error("a story of nothing")
	}
}
