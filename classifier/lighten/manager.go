package lighten

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var (
	managerValues = words("--cwd --filter -F --filter-prod -C --dir --prefix --workspace -w --modules-folder --loglevel --reporter --registry")
	managerDirs   = words("--cwd -C --dir --prefix")
	npmTests      = words("test t tst")
	npmRuns       = words("run run-script rum urn")
	// binaries are what yarn, pnpm and bun run by name like a script.
	binaries    = words("jest vitest mocha playwright turbo nx lerna react-scripts craco webpack ava")
	workspaces  = option{long: []string{"--workspace-concurrency", "--child-concurrency"}}
	handedOn    = option{long: []string{"--maxWorkers", "--max-workers"}}
	handedTests = option{long: []string{"--maxWorkers", "--max-workers", "--workers"}}
	appendables = words("jest vitest playwright react-scripts craco")
)

// npm hands what stands behind "--" to the script.
func (p *plan) npm() {
	i := p.sub(1, managerValues)
	if i < 0 {
		return
	}
	script := ""
	switch {
	case npmTests[p.text(i)]:
		script = "test"
	case npmRuns[p.text(i)]:
		i = p.sub(i+1, managerValues)
		script = p.text(i)
	}
	if script == "" {
		return
	}
	end := p.end()
	if p.lower(handed(script), end, len(p.words), 1, oneWorker) {
		return
	}
	if more := p.forScript(script, p.words[end:]); more != nil {
		if end == len(p.words) {
			more = append([]string{"--"}, more...)
		}
		p.add(len(p.words)-1, oneWorker, more...)
	}
}

// handed are the options for a script that say by themselves what they are for.
// --workers does so only for tests: elsewhere it may be a server's.
func handed(script string) option {
	for _, s := range [...]string{"test", "e2e", "spec", "playwright", "unit"} {
		if strings.Contains(script, s) {
			return handedTests
		}
	}
	return handedOn
}

// packageManager is pnpm, yarn and bun: a script or a program of the package by
// its name, and what follows is handed on without a "--".
func (p *plan) packageManager() {
	n, why := p.r.o.Workers, p.r.o.why()
	i := p.sub(1, managerValues)
	if p.text(i) == "workspace" { // yarn workspace NAME
		i = p.sub(i+2, managerValues)
	}
	if i >= 0 && (p.text(i) == "run" || p.text(i) == "run-script") {
		i = p.sub(i+1, managerValues)
	}
	if i < 0 || p.text(i) == "install" {
		return
	}
	if !p.anyStays() {
		p.lower(workspaces, 1, i, n, why)
	}
	script := p.text(i)
	if npmTests[script] && p.name == "pnpm" {
		script = "test"
	}
	if !p.words[i].known || p.name == "bun" && script == "test" {
		return
	}
	if binaries[script] {
		manager := p.name
		p.words, p.name = p.words[i:], script
		tools[script](p)
		p.name = manager
		return
	}
	if p.lower(handed(script), i+1, len(p.words), 1, oneWorker) {
		return
	}
	if more := p.forScript(script, p.words[i+1:]); more != nil {
		p.add(len(p.words)-1, oneWorker, more...)
	}
}

// forScript returns the words that make a script lighter when they stand at its
// end, nil if it is not known or needs none. More given words are those that the
// line hands to it.
func (p *plan) forScript(script string, given []word) []string {
	dir, ok := p.dir()
	if !ok {
		return nil
	}
	text, ok := p.r.script(dir, p.name, script)
	if !ok || len(text) > maxLine {
		return nil
	}
	last := lastCommand(text)
	if last == nil || !appendables[name(last[0].text)] {
		return nil
	}
	for _, w := range given {
		if w.text != "--" {
			last = append(last, word{text: w.text, raw: w.raw, known: w.known})
		}
	}
	q := &plan{r: &rewrite{set: p.r.set, o: p.r.o}, words: last, name: name(last[0].text)}
	tools[q.name](q)
	var more []string
	for _, o := range q.ops {
		if o.kind != after {
			return nil // what the script says itself is not changed from outside
		}
		more = append(more, o.words...)
	}
	return more
}

// dir is where the manager looks for the package.
func (p *plan) dir() (string, bool) {
	dir, ok := p.where()
	if !ok {
		return "", false
	}
	for i, w := range p.words {
		value, ok := "", false
		if flag, v, eq := strings.Cut(w.text, "="); eq && managerDirs[flag] {
			value, ok = v, true
		} else if managerDirs[w.text] && i+1 < len(p.words) {
			value, ok = p.words[i+1].text, true
		}
		if managerValues[w.text] && !managerDirs[w.text] || !w.known {
			return "", false // a workspace's package stands elsewhere
		}
		if ok && path.IsAbs(value) {
			dir = value
		} else if ok {
			dir = path.Join(dir, value)
		}
	}
	return dir, true
}

// lastCommand returns the words of a script's last command, to which a manager
// adds what it hands on. nil if they are not plain.
func lastCommand(script string) []word {
	p := parsers.Get().(*syntax.Parser)
	f, err := p.Parse(strings.NewReader(script), "")
	parsers.Put(p)
	if err != nil || len(f.Stmts) == 0 {
		return nil
	}
	stmt := f.Stmts[len(f.Stmts)-1]
	for stmt != nil {
		switch c := stmt.Cmd.(type) {
		case *syntax.BinaryCmd:
			stmt = c.Y
			continue
		case *syntax.CallExpr:
			if len(stmt.Redirs) > 0 || stmt.Background || len(c.Args) == 0 {
				return nil
			}
			var words []word
			for i, a := range c.Args {
				text := a.Lit()
				if text == "" {
					return nil
				}
				words = append(words, word{text: text, raw: text, known: true, at: i})
			}
			if first := name(words[0].text); first == "cross-env" || first == "npx" {
				for len(words) > 1 && (strings.Contains(words[1].text, "=") || words[1].text == "--yes") {
					words = words[1:]
				}
				words = words[1:]
			}
			if len(words) == 0 {
				return nil
			}
			return words
		}
		return nil
	}
	return nil
}
