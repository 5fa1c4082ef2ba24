package classifier

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// function is one that the line defines. Its body counts when it is called.
type function struct {
	body   *syntax.Stmt
	walked bool
	inside bool // it is being walked: it may call itself
}

func (w *lineWalk) define(n *syntax.FuncDecl) {
	if n.Name == nil || n.Body == nil {
		return
	}
	if w.funcs == nil {
		w.funcs = map[string]*function{}
	}
	w.funcs[n.Name.Value] = &function{body: n.Body}
}

// enter walks a function's body with the arguments of its call: run() { "$@"; }
// does what it is told. Once is enough for a call without arguments, and the
// bytes that are walked again are bounded: functions that call each other twice
// double at each level.
func (w *lineWalk) enter(f *function, args []string) {
	if f.inside || w.j.depth >= maxDepth {
		return
	}
	if f.walked {
		size := int(f.body.End().Offset() - f.body.Pos().Offset())
		if len(args) == 0 || size > w.again {
			return
		}
		w.again -= size
	}
	outer := w.params
	w.params = args
	f.inside, f.walked = true, true
	w.j.depth++
	w.walk(f.body)
	w.j.depth--
	f.inside = false
	w.params = outer
}

// allParams reports whether word is "$@" and nothing else.
func allParams(word *syntax.Word) bool {
	if len(word.Parts) != 1 {
		return false
	}
	part := word.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	return ok && p.Param != nil && (p.Param.Value == "@" || p.Param.Value == "*") && plain(p)
}

// plain reports whether p is a variable as it is: no default, no cut.
func plain(p *syntax.ParamExp) bool {
	return p.Exp == nil && p.Repl == nil && p.Slice == nil && p.Index == nil && !p.Length && !p.Excl
}

// value is what the line itself says of a variable or a parameter.
func (w *lineWalk) value(name string) (string, bool) {
	if v, ok := w.vars[name]; ok {
		return v, true
	}
	if len(w.params) == 0 || len(name) != 1 {
		return "", false
	}
	switch c := name[0]; {
	case c == '@' || c == '*':
		return strings.Join(w.params, " "), true
	case c >= '1' && c <= '9' && int(c-'1') < len(w.params):
		return w.params[c-'1'], true
	}
	return "", false
}

// guess reads a command word that only the environment knows: $PYTHON is
// python and "$MAKE" is make by their names, and what else stands unquoted
// before a command is most often a wrapper or nothing ($SUDO, $DRY_RUN).
func (w *lineWalk) guess(words []string) []string {
	if strings.IndexByte(words[0], '/') >= 0 {
		return words // $VIRTUAL_ENV/bin/pip: the end of a path says enough
	}
	name := strings.ToLower(strings.Trim(words[0], "${}"))
	p := w.j.s.lookup(name)
	known := p != nil && (len(p.rules) > 0 || len(p.carriers) > 0 || p.interp != nil)
	if !known && (words[0][0] == '{' || len(words) == 1 || strings.HasPrefix(words[1], "-")) {
		return words
	}
	guessed := append(make([]string, 0, len(words)), words...)
	if known {
		guessed[0] = name
	} else {
		guessed = guessed[1:]
	}
	if w.j.t != nil {
		w.j.t.add("%s is known only to the environment: taken for %s", shown(words[0]), shown(guessed[0]))
	}
	return guessed
}
