package doctor

import (
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/headroomd/headroomd/loader/proc"
)

// byPressure are guards that go by pressure, and by rules of their own.
func byPressure(f *facts, x proc.Exec) Guard {
	return Guard{ActsAtMB: -1, First: true,
		Note:     x.Comm + " kills by memory pressure and by its own rules, perhaps before headroomd stops a job; it may take a process outside of any job",
		Remedy:   "headroomd does its work here: stop it, or leave it as the second net",
		Commands: f.stop(x, x.Comm)}
}

func thrashProtect(f *facts, x proc.Exec) Guard {
	return Guard{ActsAtMB: -1, First: true,
		Note:     "thrash-protect stops processes by SIGSTOP while the machine swaps: a job that it stopped looks idle to headroomd and gives its slot to the next",
		Remedy:   "stop it: headroomd lets heavy commands wait before they make the machine swap",
		Commands: f.stop(x, "thrash-protect")}
}

// ananicy gives processes other priorities by their names; rules may move them
// to other cgroups, too.
func ananicy(f *facts, x proc.Exec) Guard {
	g := Guard{ActsAtMB: -1,
		Note:     x.Comm + " sets nice, ionice and oom_score_adj of processes by their names: a job's own may be lowered again, and the kernel then takes another process first",
		Commands: f.stop(x, x.Comm)}
	// Its files end in .rules, .types and .cgroups; a type may have the cgroup.
	moves := f.ruleWith("/etc/ananicy.d", `"cgroup"`, 3)
	scores := f.ruleWith("/etc/ananicy.d", `"oom_score_adj"`, 3)
	switch {
	case moves != "":
		g.First = true
		g.Note += fmt.Sprintf(". Some of its rules name a cgroup (%s): they take processes out of their job and its cap", moves)
		g.Remedy = `take "cgroup" out of the rules of build tools, or stop it`
	case scores != "":
		g.First = true
		g.Remedy = `take "oom_score_adj" out of the rules of build tools (` + scores + `), or stop it`
	}
	return g
}

// cgrulesengd moves processes between cgroups as soon as they start.
func cgrulesengd(f *facts, x proc.Exec) Guard {
	g := Guard{ActsAtMB: -1, First: true, Commands: f.stop(x, "cgred"),
		Note:   "cgrulesengd moves processes to the cgroups that /etc/cgrules.conf names, as soon as they start: one that it moves leaves its job and the cap",
		Remedy: "leave build tools and their users out of /etc/cgrules.conf, or stop it"}
	text, err := f.read("/etc/cgrules.conf")
	if err != nil {
		return g
	}
	rules := 0
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			rules++
		}
	}
	if rules == 0 && len(f.filesIn("/etc/cgrules.d", ".conf")) == 0 {
		g.First = false
		g.Note = "cgrulesengd runs, and /etc/cgrules.conf has no rule: it moves nothing"
	}
	return g
}

// ruleWith is the first file below a directory that has a text in it, so many
// levels deep; "" for none.
func (f *facts) ruleWith(dir, text string, depth int) string {
	entries, err := os.ReadDir(f.path(dir))
	if err != nil || depth == 0 {
		return ""
	}
	for _, e := range entries[:min(len(entries), 512)] {
		at := path.Join(dir, e.Name())
		if e.IsDir() {
			if found := f.ruleWith(at, text, depth-1); found != "" {
				return found
			}
			continue
		}
		data, err := f.read(at)
		if err != nil {
			continue
		}
		for line := range strings.Lines(data) {
			if !strings.HasPrefix(strings.TrimSpace(line), "#") && strings.Contains(line, text) {
				return at
			}
		}
	}
	return ""
}
