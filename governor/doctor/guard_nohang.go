package doctor

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/headroomd/headroomd/loader/proc"
)

// nohang goes by its file, which its arguments name.
func nohang(f *facts, x proc.Exec) Guard {
	file := "/etc/nohang/nohang.conf"
	for i, word := range x.Argv {
		if value, ok := strings.CutPrefix(word, "--config="); ok {
			file = value
		} else if (word == "--config" || word == "-c") && i+1 < len(x.Argv) {
			file = x.Argv[i+1]
		}
	}
	g := Guard{ActsAtMB: -1, First: true, Commands: f.stop(x, "nohang")}
	text := ""
	if filepath.IsAbs(file) {
		text, _ = f.read(file)
	}
	keys := assignments(text)
	l := lines{5, 10} // what it comes with
	l.memory = share(keys["soft_threshold_min_mem"], f.memory.total, l.memory)
	l.swap = share(keys["soft_threshold_min_swap"], f.memory.swap, l.swap)
	g.First = false
	g.byLines(f, "nohang", l)
	if text == "" {
		g.Note += " (its settings could not be read: these are those it comes with)"
	}
	if keys["psi_checking_enabled"] == "True" {
		g.First = true
		g.Note += fmt.Sprintf(". It also goes by pressure (%s above %s), which rises before memory is low",
			word(keys["psi_metrics"], "some_avg10"), word(keys["soft_threshold_max_psi"], "40"))
	}
	g.Remedy = fmt.Sprintf("have it act after headroomd: soft_threshold_min_mem = %d %% and psi_checking_enabled = False in its settings, and restart it; or stop it", f.lowerPercent())
	return g
}

// assignments reads "name = value" lines; the last of a name counts.
func assignments(text string) map[string]string {
	keys := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(line, "=")
		if ok && !strings.HasPrefix(line, "#") {
			keys[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return keys
}

// share reads "5 %" and "120 M" as percent of a total in MB.
func share(value string, total int64, otherwise float64) float64 {
	number := strings.TrimSpace(strings.TrimRight(value, "%M "))
	n, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || n < 0:
		return otherwise
	case strings.HasSuffix(value, "%"):
		return n
	case strings.HasSuffix(value, "M") && total > 0:
		return n * 100 / float64(total)
	}
	return otherwise
}

// word is a value that may be shown: what is in a file of somebody else's is
// not repeated unless it is as plain as it should be.
func word(value, otherwise string) string {
	if !plainName(value) || len(value) > 20 {
		return otherwise
	}
	return value
}
