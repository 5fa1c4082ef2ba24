package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/headroomd/headroomd/loader/proc"
)

// witness is what is seen of a process that must not be touched.
type witness struct {
	id     proc.ID
	cgroup string
	kills  int64 // oom_kill of its cgroup alone; -1 where nothing counts
}

func (s *selftest) witness(pid int) witness {
	w := witness{kills: -1}
	if st, err := s.fs.Stat(pid); err == nil && st.State != 'Z' {
		w.id = st.ID
	}
	w.cgroup, _ = s.cgroupOf(pid)
	for _, file := range []string{"memory.events.local", "memory.events"} { // the former since Linux 5.2
		if s.mount == "" || w.kills >= 0 {
			break
		}
		w.kills = fieldOf(s.cgroupFile(w.cgroup, file), "oom_kill")
	}
	return w
}

// oomKills are those of the kernel on the whole machine; -1 unknown (Linux
// before 4.13).
func (s *selftest) oomKills() int64 { return fieldOf(s.fs.Root()+"/vmstat", "oom_kill") }

// fieldOf reads one line of a file of names and numbers; -1 where there is none.
func fieldOf(path, name string) int64 {
	data, err := os.ReadFile(path)
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		if len(words) != 2 || words[0] != name {
			continue
		}
		if n, err := strconv.ParseInt(words[1], 10, 64); err == nil {
			return n
		}
	}
	return -1
}

// judgeOthers looks at this process and at the sibling after the hog's end.
func (s *selftest) judgeOthers(ctx context.Context, capMB int64) {
	const name = "others"
	var hurt []string
	for i, who := range []string{"this process", "its other child"} {
		before := s.before[i]
		if why := before.hurt(s.witness(before.id.PID)); why != "" {
			hurt = append(hurt, fmt.Sprintf("%s (pid %d) %s", who, before.id.PID, why))
		}
	}
	if len(hurt) == 0 {
		if err := s.sibling.echoes(ctx, "still here"); err != nil {
			hurt = append(hurt, fmt.Sprintf("its other child (pid %d) does not answer: %v", s.sibling.id.PID, err))
		}
	}
	if len(hurt) > 0 {
		s.failed(name, askDoctor, "a job that outgrew its cap hurt others: %s", strings.Join(hurt, "; "))
		return
	}
	text := fmt.Sprintf("this process (pid %d) and its other child (pid %d, which holds %d MB and answers) were not touched",
		os.Getpid(), s.sibling.id.PID, capMB/4)
	inJob := s.report.Job.OOMKills
	if s.report.Job.Soft {
		inJob = 0
	}
	if after := s.oomKills(); s.killed >= 0 && after >= 0 && inJob >= 0 {
		if more := after - s.killed - inJob; more > 0 {
			text += fmt.Sprintf("; the kernel killed %d more elsewhere meanwhile, in cgroups of others", more)
		} else {
			text += "; the kernel killed nothing else on this machine meanwhile"
		}
	}
	s.passed(name, "%s", text)
}

// hurt says what became of a process, "" if nothing.
func (w witness) hurt(now witness) string {
	switch {
	case now.id != w.id:
		return "is gone"
	case now.cgroup != w.cgroup:
		return fmt.Sprintf("is in %s now, and was in %s", now.cgroup, w.cgroup)
	case w.kills >= 0 && now.kills > w.kills:
		return fmt.Sprintf("is in a cgroup in which the kernel killed %d", now.kills-w.kills)
	}
	return ""
}
