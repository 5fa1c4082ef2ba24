package classifier

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// scoped walks a part of a line that may not change the directory of what
// follows it, or that perhaps changes it. It reports whether n was such a part.
func (w *lineWalk) scoped(n syntax.Node) bool {
	l := w.j.look
	if n == w.inside {
		return false // entered just now
	}
	apart := false // in a process of its own
	switch n := n.(type) {
	case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.CoprocClause:
		apart = true
	case *syntax.Stmt:
		if !n.Background && !n.Coprocess {
			return false
		}
		apart = true
	case *syntax.BinaryCmd:
		switch n.Op {
		case syntax.Pipe, syntax.PipeAll:
			w.piped(n)
			dir := l.dir
			w.walk(n.X)
			l.dir = dir
			w.walk(n.Y)
			l.dir = dir
			return true
		case syntax.OrStmt:
			w.walk(n.X)
			dir := l.dir
			w.walk(n.Y)
			l.perhaps(dir)
			return true
		default:
			return false
		}
	case *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
	default:
		return false
	}
	outer, dir := w.inside, l.dir
	w.inside = n
	w.walk(n)
	w.inside = outer
	if apart {
		l.dir = dir
	} else {
		l.perhaps(dir)
	}
	return true
}

// perhaps forgets the directory if it is no longer dir.
func (l *project) perhaps(dir string) {
	if l.dir != dir {
		l.dir = ""
	}
}

// moved follows a `cd DIR` of the line.
func (l *project) moved(words []string) {
	for len(words) > 1 && (words[0] == "command" || words[0] == "builtin") {
		words = words[1:]
	}
	switch words[0] {
	case "cd", "pushd":
		words = words[1:]
		for len(words) > 0 && (words[0] == "--" || words[0] == "-P" || words[0] == "-L" || words[0] == "-e") {
			words = words[1:]
		}
		if len(words) != 1 || words[0] == "" || words[0][0] == '-' || words[0][0] == '+' {
			l.dir = "" // home, or where it was before
			return
		}
		l.dir = join(l.dir, words[0])
	case "popd":
		l.dir = ""
	case "eval":
		if strings.Contains(strings.Join(words[1:min(len(words), 20)], " "), "cd ") {
			l.dir = ""
		}
	}
}
