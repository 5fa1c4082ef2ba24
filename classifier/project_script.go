package classifier

import (
	"slices"
	"strconv"
	"strings"
)

// scriptAnswer is what a script, or a line of a script, came to.
type scriptAnswer struct {
	r    result
	text string // the script
	sure bool   // false: light only as far as anyone knows
}

// packageScript judges a command that runs scripts of a package.json by what
// they run. ok is false where that cannot be told: then the name decides.
func (j *judge) packageScript(p *program, name string, words []string) (result, bool) {
	c, ok := p.scriptCall(name, words)
	if !ok {
		return result{}, false
	}
	l := j.look
	l.calls += 1 + len(c.names) + len(c.lines)
	if l.calls > maxCalls {
		l.unsure = true
		return result{}, false
	}
	dir := l.dir
	if c.moved {
		dir = join(dir, c.dir)
	}
	a, why := j.scripts(&c, dir)
	if a.r.heavy {
		return a.heavyResult(&c, words), true
	}
	if !a.sure {
		l.unsure = true
		if j.t != nil {
			j.t.add("%s: %s, so the name decides", shown(c.title), why)
		}
		return result{}, false
	}
	return result{reason: c.title + " runs `" + told(a.text) + "`, and nothing in it is heavy", words: words}, true
}

// scripts judges all that c names: its first heavy one, or else whether all are
// surely light; why they are not.
func (j *judge) scripts(c *scriptCall, dir string) (a scriptAnswer, why string) {
	if dir == "" {
		return a, "the directory that it runs in is not known"
	}
	m := j.look.manifest(dir)
	if m.why != "" && len(c.names) > 0 {
		return a, m.why
	}
	all := scriptAnswer{sure: true}
	take := func(a scriptAnswer) bool {
		if all.text == "" || a.r.heavy {
			all.text = a.text
		}
		all.r, all.sure = a.r, all.sure && a.sure
		return a.r.heavy
	}
	for _, pattern := range c.names {
		names := m.named(pattern)
		if len(names) == 0 {
			all.sure = false
			why = "package.json has no such script"
		}
		for _, name := range names {
			if take(j.withHooks(c, m, name)) {
				return all, ""
			}
		}
	}
	for _, line := range c.lines {
		if take(j.runScript(dir, "", line)) {
			return all, ""
		}
	}
	if why == "" {
		why = "what `" + told(all.text) + "` starts is not known"
	}
	return all, why
}

// named returns the scripts that a pattern names, in an order that does not
// change.
func (m *manifest) named(pattern string) []string {
	if m.scripts[pattern] != "" {
		return []string{pattern}
	}
	if !strings.Contains(pattern, "*") {
		return nil
	}
	var names []string
	for name, text := range m.scripts {
		if text != "" && matchScript(pattern, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxRuns)]
}

// withHooks judges the script called name and those that run before and after.
func (j *judge) withHooks(c *scriptCall, m *manifest, name string) scriptAnswer {
	a := scriptAnswer{text: m.scripts[name]}
	if len(a.text) <= maxScript {
		a = j.runScript(m.dir, name, a.text+quoted(c.args))
	}
	if a.r.heavy || !c.hooks {
		return a
	}
	for _, hook := range [...]string{"pre" + name, "post" + name} {
		text := m.scripts[hook]
		if text == "" {
			continue
		}
		h := j.runScript(m.dir, hook, text)
		if h.r.heavy {
			return h
		}
		a.sure = a.sure && h.sure
	}
	return a
}

// scriptKey tells a script from all others.
type scriptKey struct{ dir, name, text string }

// runScript judges the text of the script called name, which runs in dir.
func (j *judge) runScript(dir, name, text string) scriptAnswer {
	l := j.look
	a := scriptAnswer{text: text}
	key := scriptKey{dir, name, text}
	if len(text) > maxScript {
		return a
	}
	if a, ok := l.known[key]; ok {
		return a
	}
	if l.text+len(text) > maxText || len(l.known) >= maxRuns ||
		len(l.running) >= maxNested || slices.Contains(l.running, key) {
		return a
	}
	l.text += len(text)
	if j.t != nil && name != "" {
		j.t.add("the script %s in %s is %s", shown(name), shown(dir), shown(text))
	}
	noted, unsure, at := l.noted, l.unsure, l.dir
	l.noted, l.unsure, l.dir = 0, false, dir
	l.running = append(l.running, key)
	inner := judge{s: j.s, t: j.t, look: l, env: slices.Clip(j.env)}
	w := lineWalk{j: &inner}
	a.r = w.run(text)
	a.sure = l.noted > 0 && !l.unsure && !w.fallback
	l.running = l.running[:len(l.running)-1]
	l.noted, l.unsure, l.dir = noted, unsure, at
	l.known[key] = a
	return a
}

// heavyResult is the answer for a command whose script is heavy.
func (a *scriptAnswer) heavyResult(c *scriptCall, words []string) result {
	why := a.r.reason
	if !strings.HasPrefix(why, a.r.matched) {
		why = a.r.matched + " " + why
	}
	return result{
		rule: a.r.rule, heavy: true, captures: true,
		// The package manager's process is no compiler and no shell for running one.
		kind:    a.r.kind & (Supervisor | Daemon),
		matched: c.title,
		reason:  bounded(c.title+" runs `"+told(a.text)+"`; "+why, 400),
		words:   words,
	}
}

// quoted writes arguments as a package manager appends them to a script. What
// only the shell knows stays unquoted, and so of an unknown number.
func quoted(args []string) string {
	var b strings.Builder
	for _, a := range args {
		if b.Len() > maxScript {
			break
		}
		b.WriteByte(' ')
		if strings.HasPrefix(a, "$") && !strings.ContainsAny(a, "'\"\\`;&|<>()$ \t\n{}"[1:]) {
			b.WriteString(a)
			continue
		}
		b.WriteString("'" + strings.ReplaceAll(a, "'", `'\''`) + "'")
	}
	return b.String()
}

// told is a script's text as it stands in a sentence: bounded, escaped, and
// without the values that look like secrets.
func told(text string) string {
	const most = 120
	words := strings.Split(strings.ReplaceAll(bounded(text, most), "`", "'"), " ")
	for i, w := range words {
		if name, v, ok := strings.Cut(w, "="); ok && v != "" && secret(name) {
			words[i] = name + "=…"
		}
	}
	return strings.Join(words, " ")
}

func secret(name string) bool {
	name = strings.ToUpper(name)
	for _, part := range [...]string{"TOKEN", "SECRET", "PASS", "KEY", "AUTH", "CREDENTIAL"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// bounded cuts text to about most bytes and escapes what does not print.
func bounded(text string, most int) string {
	cut := len(text) > most
	if cut {
		text = strings.ToValidUTF8(text[:most], "")
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		}
	}
	if cut {
		b.WriteString("…")
	}
	return b.String()
}
