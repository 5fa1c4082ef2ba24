package classifier

import "strings"

// scriptCall is what a command says of the scripts that it runs.
type scriptCall struct {
	title string   // the command up to the script's name: "npm run check"
	dir   string   // of an option such as --prefix; "" for where the command runs
	moved bool     // such an option is there
	names []string // of scripts; patterns where the command takes them
	lines []string // shell lines that it runs beside them
	args  []string // passed on to the script
	hooks bool     // pre and post scripts run too
}

// scriptCall reads a command that runs scripts of a package.json. ok is false
// for any other, and where only the name tells: another workspace's package,
// a name that the shell has yet to fill in.
func (p *program) scriptCall(name string, words []string) (c scriptCall, ok bool) {
	switch name {
	case "npm", "pnpm", "yarn", "yarnpkg", "bun":
		return p.managerCall(name, words)
	case "node", "nodejs":
		return nodeCall(name, words)
	case "npm-run-all", "npm-run-all2", "run-s", "run-p":
		return manyCall(name, words)
	case "concurrently", "conc":
		return concurrentCall(name, words)
	}
	return c, false
}

// managerCall reads `npm [OPTIONS] run NAME [ARGS]` and its likes.
func (p *program) managerCall(name string, words []string) (c scriptCall, ok bool) {
	g := p.grammar
	if g == nil {
		g = &noGrammar
	}
	var a parsed
	a.parse(words[1:], g, false)
	if len(words)-1 > len(a.args) {
		return c, false // more arguments than are looked at
	}
	at := a.word(0)
	if at < 0 {
		return c, false
	}
	sub, script := a.args[at], ""
	switch {
	case sub == "run" || name != "bun" && sub == "run-script" || name == "npm" && (sub == "rum" || sub == "urn"):
		if at = a.word(at + 1); at < 0 {
			return c, false
		}
		script = a.args[at]
		c.title = name + " " + sub + " " + bounded(script, 60)
	case name == "npm" || name == "pnpm":
		switch sub {
		case "test", "t", "tst":
			script = "test"
		case "start", "stop", "restart":
			script = sub
		}
	}
	if script == "" {
		if name == "npm" || isCommandOf(name, sub) {
			return c, false
		}
		script = sub
	}
	if c.title == "" {
		c.title = name + " " + bounded(sub, 60)
	}
	// npm reads options wherever they stand, the others pass on what follows
	// the script's name.
	own := at
	if name == "npm" {
		own = len(a.args)
	}
	c.names, c.hooks = []string{script}, true
	if !c.options(&a, own) {
		return c, false
	}
	for i := at + 1; i < len(a.args); i++ {
		k := a.kinds[i]
		if name == "npm" && (k == option || k == value) || a.args[i] == "--" && k == option {
			continue
		}
		c.args = append(c.args, a.args[i])
	}
	return c, true
}

// options reads the package manager's own options among the first n arguments.
// It reports false for those with which something else runs than the script of
// the package at hand.
func (c *scriptCall) options(a *parsed, n int) bool {
	for i := range n {
		if a.kinds[i] != option {
			continue
		}
		o, v, eq := strings.Cut(a.args[i], "=")
		if !eq && i+1 < len(a.args) && a.kinds[i+1] == value {
			v = a.args[i+1]
		}
		switch o {
		case "--prefix", "-C", "--cwd", "--dir":
			c.dir, c.moved = v, true
		case "-w", "--workspace", "--workspaces", "-ws", "--filter", "-F", "--filter-prod", "-r", "--recursive",
			"-g", "--global", "--location", "-h", "--help", "-v", "--version", "-?", "-l", "--script-shell", "--top-level":
			return false
		case "--ignore-scripts":
			c.hooks = false
		}
	}
	return true
}

// word is the index of the first word from i on that is no option, -1 if there
// is none or only the shell knows it.
func (p *parsed) word(i int) int {
	for ; i < len(p.args); i++ {
		switch p.kinds[i] {
		case operand, trailing:
			return i
		case opaque:
			return -1
		}
	}
	return -1
}

// nodeCall reads `node --run NAME [-- ARGS]`, which runs no pre or post scripts.
func nodeCall(name string, words []string) (c scriptCall, ok bool) {
	for i := 1; i < len(words) && i <= maxArgs; i++ {
		o, v, eq := strings.Cut(words[i], "=")
		switch {
		case len(o) == 0 || o[0] != '-' || o == "--":
			return c, false
		case o != "--run":
			continue
		case !eq && i+1 == len(words):
			return c, false
		}
		rest := words[i+1:]
		if !eq {
			v, rest = rest[0], rest[1:]
		}
		if len(rest) > 0 && rest[0] == "--" {
			c.args = rest[1:]
		}
		c.names, c.title = []string{v}, name+" --run "+bounded(v, 60)
		return c, v != ""
	}
	return c, false
}

// isCommandOf knows the package managers' own commands, which win over scripts
// of the same name where `pnpm NAME` runs the script NAME. bun's test is one.
func isCommandOf(manager, sub string) bool {
	switch sub {
	case "add", "audit", "bin", "cache", "config", "create", "dlx", "exec", "help", "info", "init", "install", "link",
		"list", "login", "logout", "outdated", "pack", "patch", "patch-commit", "publish", "remove", "search", "unlink", "up",
		"upgrade", "version", "why", "x":
		return true
	}
	switch manager {
	case "pnpm":
		switch sub {
		case "c", "ci", "clean-install", "completion", "dedupe", "deploy", "doctor", "env", "execute", "fetch", "get",
			"i", "import", "install-test", "it", "la", "licenses", "ll", "ln", "ls", "prune", "rb", "rebuild", "recursive",
			"rm", "root", "self-update", "server", "set", "setup", "store", "un", "uninstall", "update", "view", "whoami":
			return true
		}
	case "yarn", "yarnpkg":
		switch sub {
		case "autoclean", "check", "constraints", "dedupe", "explain", "generate-lock-entry", "global", "import",
			"licenses", "node", "npm", "owner", "plugin", "policies", "rebuild", "set", "stage", "tag", "team", "unplug",
			"upgrade-interactive", "versions", "workspace", "workspaces":
			return true
		}
	case "bun":
		switch sub {
		case "a", "build", "c", "i", "pm", "repl", "rm", "test", "update":
			return true
		}
	}
	return false
}
