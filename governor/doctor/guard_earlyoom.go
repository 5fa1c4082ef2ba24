package doctor

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/headroomd/headroomd/loader/proc"
)

func runsAs(g Guard) string { return fmt.Sprintf("%s runs here (pid %d)", g.Name, g.PID) }

// lines are the levels of free memory and free swap below both of which a guard
// kills, each in percent.
type lines struct{ memory, swap float64 }

// earlyoom goes by its arguments. What is a percentage of user memory is
// reckoned as one of all memory, which is at most a tenth too much.
func earlyoom(f *facts, x proc.Exec) Guard {
	l := earlyoomLines(x.Argv, f.memory)
	g := Guard{}
	g.byLines(f, "earlyoom", l)
	percent := f.lowerPercent()
	g.Remedy = fmt.Sprintf("have it act after headroomd: -m %d among the EARLYOOM_ARGS in /etc/default/earlyoom, and restart it; or stop it", percent)
	g.Commands = f.stop(x, "earlyoom")
	return g
}

// byLines fills a guard that kills a process when memory and swap are low.
func (g *Guard) byLines(f *facts, name string, l lines) {
	m := f.memory
	g.ActsAtMB = -1
	if m.total < 0 {
		g.First = true
		g.Note = name + " kills processes when memory is low, perhaps before headroomd stops a job; it may take one outside of any job"
		return
	}
	g.ActsAtMB = int64(float64(m.total) * l.memory / 100)
	when := fmt.Sprintf("when less than %d MB (%s %%) is available", g.ActsAtMB, number(l.memory))
	if m.swap > 0 && l.swap < 100 {
		when += fmt.Sprintf(" and less than %d MB of swap is free", int64(float64(m.swap)*l.swap/100))
	}
	ours := f.ours()
	switch {
	case ours < 0:
		g.First = true
		g.Note = fmt.Sprintf("%s kills a process %s; it may take one outside of any job", name, when)
	case g.ActsAtMB*10 >= ours*9:
		// Within a tenth the two act in the same moment.
		g.First = true
		g.Note = fmt.Sprintf("%s acts first: it kills a process %s, headroomd stops a job below %d MB. It goes by size and not by jobs: it may take one outside of any job", name, when, ours)
	default:
		g.Note = fmt.Sprintf("headroomd acts first, below %d MB; %s kills a process only %s", ours, name, when)
	}
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// lowerPercent is a level well below headroomd's own line.
func (f *facts) lowerPercent() int64 {
	ours := f.ours()
	if ours < 0 || f.memory.total <= 0 {
		return 4
	}
	return max(1, ours*100/f.memory.total/2)
}

// earlyoomLines reads the options as getopt does: values stand behind their
// letter or in the next word, letters without one may stand together.
func earlyoomLines(argv []string, m memory) lines {
	const valued = "mMsSrNPw"
	given := map[byte]float64{}
	for i := 1; i < len(argv); i++ {
		word := argv[i]
		if strings.HasPrefix(word, "--") {
			switch name, _, joined := strings.Cut(word, "="); name {
			case "--prefer", "--avoid", "--ignore":
				if !joined {
					i++
				}
			}
			continue
		}
		for j := 1; j < len(word) && word[0] == '-'; j++ {
			letter := word[j]
			if !strings.ContainsRune(valued, rune(letter)) {
				continue
			}
			value := word[j+1:]
			if value == "" && i+1 < len(argv) {
				i++
				value = argv[i]
			}
			value, _, _ = strings.Cut(value, ",")
			if n, err := strconv.ParseFloat(value, 64); err == nil && n >= 0 {
				given[letter] = n
			}
			break
		}
	}
	level := func(percent, size byte, total int64) float64 {
		p, hasPercent := given[percent]
		kb, hasSize := given[size]
		if hasSize && total > 0 {
			if s := kb / 1024 / float64(total) * 100; !hasPercent || s < p {
				return s
			}
		}
		if hasPercent {
			return p
		}
		return 10
	}
	return lines{level('m', 'M', m.total), level('s', 'S', m.swap)}
}
