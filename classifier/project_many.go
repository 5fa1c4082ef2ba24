package classifier

import "strings"

// manyCall reads `run-s build:* lint` and its likes: patterns of script names,
// each perhaps with arguments in the same word.
func manyCall(name string, words []string) (c scriptCall, ok bool) {
	c.title = name
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch {
		case i > maxArgs || strings.HasPrefix(w, "$"):
			return c, false
		case w == "--":
			i = len(words) // what follows are values for {1} in the patterns
		case w == "--max-parallel" || w == "--npm-path":
			i++
		case w == "-h" || w == "--help" || w == "-v" || w == "--version":
			return c, false
		case strings.HasPrefix(w, "-"):
		default:
			pattern, _, _ := strings.Cut(strings.TrimSpace(w), " ")
			c.names = append(c.names, pattern)
		}
	}
	c.hooks = true
	return c, len(c.names) > 0
}

// concurrentCall reads `concurrently "LINE" npm:NAME "yarn:watch-*"`.
func concurrentCall(name string, words []string) (c scriptCall, ok bool) {
	c.title = name
	for i := 1; i < len(words); i++ {
		w := words[i]
		if i > maxArgs || strings.HasPrefix(w, "$") {
			return c, false
		}
		switch w {
		case "-m", "--max-processes", "-n", "--names", "--name-separator", "-s", "--success", "-l", "--prefix-length",
			"-p", "--prefix", "-c", "--prefix-colors", "-t", "--timestamp-format", "--default-input-target",
			"--restart-tries", "--restart-after", "--hide", "--teardown":
			i++
			continue
		case "-h", "--help", "-v", "-V", "--version", "--":
			return c, false
		}
		if strings.HasPrefix(w, "-") {
			continue
		}
		manager, script, short := strings.Cut(w, ":")
		switch manager {
		case "npm", "pnpm", "yarn", "bun", "node":
			if short {
				pattern, _, _ := strings.Cut(script, " ")
				c.names = append(c.names, pattern)
				continue
			}
		}
		c.lines = append(c.lines, w)
	}
	c.hooks = true
	return c, len(c.names)+len(c.lines) > 0
}

// matchScript matches a script's name as npm-run-all does: "*" stands for a
// part between colons, "**" for any number of parts.
func matchScript(pattern, name string) bool {
	for {
		p, restP, moreP := strings.Cut(pattern, ":")
		if p == "**" && !moreP {
			return true
		}
		n, restN, moreN := strings.Cut(name, ":")
		if !glob(p, n) || moreP != moreN {
			return false
		}
		if !moreP {
			return true
		}
		pattern, name = restP, restN
	}
}
