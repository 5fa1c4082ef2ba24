package classifier

import "strings"

// interpret looks through an interpreter: what counts is the script, the
// module, the class or the shell line that it runs.
func (j *judge) interpret(in *interpreter, name string, words []string) result {
	args := words[1:]
	a := &j.args
	a.parse(args, &in.g, true)
	if in.shell {
		return j.shell(in, a, name, words)
	}
	n := len(a.args)
	if i := a.has(in.module, n); i >= 0 {
		if module, rest, ok := optionValue(in, args, i, 'm'); ok {
			return j.module(name, module, rest)
		}
	}
	if i := a.has(in.code, n); i >= 0 {
		code, _, _ := optionValue(in, args, i, args[i][len(args[i])-1])
		return j.code(name, code, words)
	}
	if i := a.has(in.asks, n); i >= 0 {
		if j.t != nil {
			j.t.add("%s %s only asks", shown(name), shown(a.args[i]))
		}
		return result{reason: "the interpreter is only asked", words: words}
	}
	if i := a.has(in.jar, n); i >= 0 && i+1 < len(args) {
		return j.class("java-program", args[i+1], args[i+1:])
	}
	i := a.next(0)
	if i < 0 {
		return result{reason: "an interpreter without a script", words: words}
	}
	if in.language == "java" {
		return j.class("java-program", args[i], args[i:])
	}
	return j.script(args[i], args[i:])
}

// optionValue is the value of the option at i: the next word, what follows "=",
// or what follows the letter inside a cluster (-mpytest, -um pytest).
func optionValue(in *interpreter, args []string, i int, letter byte) (val string, rest []string, ok bool) {
	o := args[i]
	if eq := strings.IndexByte(o, '='); eq > 0 && strings.HasPrefix(o, "--") {
		return o[eq+1:], args[i+1:], true
	}
	if in.g.cluster && !strings.HasPrefix(o, "--") {
		if k := strings.IndexByte(o, letter); k > 0 && k+1 < len(o) {
			return o[k+1:], args[i+1:], true
		}
	}
	if i+1 < len(args) {
		return args[i+1], args[i+2:], true
	}
	return "", nil, false
}

// shell judges a shell's -c line, or the script that it runs.
func (j *judge) shell(in *interpreter, a *parsed, name string, words []string) result {
	i := a.next(0)
	if a.has(in.asks, len(a.args)) >= 0 {
		return result{kind: Shell, reason: "the shell is only asked", words: words}
	}
	if a.has(in.code, len(a.args)) >= 0 {
		if i < 0 {
			return result{kind: Shell, reason: "a shell without a line", words: words}
		}
		if j.t != nil {
			j.t.add("%s runs a line", shown(name))
		}
		if j.atExec && j.depth == 1 {
			return result{kind: Shell, reason: "what the line runs execs by itself", words: words}
		}
		r := j.line(words[1+i])
		r.kind |= Shell
		r.captures = false
		return r
	}
	if i < 0 || a.args[i] == "-" {
		return result{kind: Shell, reason: "a shell without a script", words: words}
	}
	r := j.script(a.args[i], words[1+i:])
	if !r.heavy {
		r.kind |= Shell
	}
	return r
}

// script judges the script at path; words begin with it.
func (j *judge) script(path string, words []string) result {
	p, name := j.s.script(path)
	if p == nil {
		if j.t != nil {
			j.t.add("the script %s: no rule knows it", shown(path))
		}
		return result{reason: "a plain script", words: words}
	}
	if j.t != nil {
		j.t.add("the script %s counts as %s", shown(path), shown(name))
	}
	return j.inside(p, name, path, words)
}

// inside judges a program found inside an interpreter.
func (j *judge) inside(p *program, name, path string, words []string) result {
	if j.depth >= maxDepth {
		return result{reason: "nested deeper than is looked through", words: words}
	}
	j.depth++
	defer func() { j.depth-- }()
	return j.program(p, name, path, words)
}

// script finds the program that a script's path stands for: by its name, by its
// name without an extension, by a pattern, or by its package in node_modules.
func (s *Set) script(path string) (*program, string) {
	name := strings.TrimLeft(base(path), "(")
	if p := s.lookup(name); p != nil {
		return p, name
	}
	if cut := cutExt(path, name); cut != "" {
		if p := s.lookup(cut); p != nil && !isEntry(cut) {
			return p, cut
		}
		name = cut
	}
	for _, a := range s.scripts {
		if strings.Contains(path, a[0]) {
			return s.programs[a[1]], a[1]
		}
	}
	_, pkg, ok := cutLast(path, "node_modules/")
	if !ok || !isEntry(name) {
		return nil, ""
	}
	pkg, _, _ = strings.Cut(pkg, "/")
	if p := s.lookup(pkg); p != nil {
		return p, pkg
	}
	return nil, ""
}

// isEntry reports whether a script is named for its part in a package, not for
// what it does: the package's name tells.
func isEntry(name string) bool {
	switch name {
	case "cli", "index", "main", "run", "bin", "server":
		return true
	}
	return false
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// module judges `python -m NAME`: by the aliases, then as a program.
func (j *judge) module(name, module string, rest []string) result {
	words := append(append(make([]string, 0, len(rest)+1), module), rest...)
	alias := j.s.modules[module]
	if alias == "" {
		top, _, _ := strings.Cut(module, ".")
		if alias = j.s.modules[top]; alias == "" {
			alias = top
		}
	}
	p := j.s.programs[alias]
	if p == nil || p.interp != nil {
		if j.t != nil {
			j.t.add("%s -m %s: no rule knows the module", shown(name), shown(module))
		}
		return result{reason: "a plain module", words: words}
	}
	if j.t != nil {
		j.t.add("the module %s counts as %s", shown(module), shown(alias))
	}
	return j.inside(p, alias, module, words)
}

// class judges a JVM's main class or archive. Any JVM is heavy: 40 MB and more
// before the first line of the program.
func (j *judge) class(fallback, class string, words []string) result {
	alias := fallback
	for _, c := range j.s.classes {
		if glob(c[0], class) || glob(c[0], base(class)) {
			alias = c[1]
			break
		}
	}
	p := j.s.programs[alias]
	if p == nil {
		return result{reason: "a JVM program", words: words}
	}
	if j.t != nil {
		j.t.add("the JVM's %s counts as %s", shown(class), shown(alias))
	}
	return j.inside(p, alias, class, words)
}

// code judges an interpreter's inline code: light, but for the few lines by
// which tools start their workers.
func (j *judge) code(name, code string, words []string) result {
	for _, c := range j.s.code {
		if strings.Contains(code, c[0]) {
			if p := j.s.programs[c[1]]; p != nil {
				if j.t != nil {
					j.t.add("the code has %s: %s", shown(c[0]), c[1])
				}
				return j.inside(p, c[1], "", words[:1])
			}
		}
	}
	if j.t != nil {
		j.t.add("%s runs inline code; what that starts shows at its own exec", shown(name))
	}
	return result{reason: "inline code", words: words}
}
