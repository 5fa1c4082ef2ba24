package classifier

import (
	"mvdan.cc/sh/v3/syntax"
)

// A shell that reads its commands from standard input runs text that stands
// elsewhere on the line: in a here-document, a here-string, or an echo.

// redirected judges `bash <<< 'npm test'` and `bash <<EOF`.
func (w *lineWalk) redirected(s *syntax.Stmt) {
	if len(s.Redirs) == 0 {
		return
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || !w.readsCommands(call) {
		return
	}
	w.documents(s)
}

// documents judges the here-documents of a command as lines.
func (w *lineWalk) documents(s *syntax.Stmt) {
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Hdoc != nil {
				w.given(w.text(r.Hdoc))
			}
		case syntax.WordHdoc:
			if r.Word != nil {
				w.given(w.text(r.Word))
			}
		}
	}
}

// piped judges `echo make | sh`, and `curl … | sh`, whose text nobody knows.
func (w *lineWalk) piped(b *syntax.BinaryCmd) {
	if b.X == nil || b.Y == nil {
		return
	}
	to, ok := b.Y.Cmd.(*syntax.CallExpr)
	if !ok {
		return
	}
	shell, reads := w.reads(to)
	if !reads {
		return
	}
	from, ok := b.X.Cmd.(*syntax.CallExpr)
	if !ok || len(from.Args) == 0 {
		return
	}
	if shell {
		w.documents(b.X) // cat <<EOF | sh
	}
	words := w.expand(from.Args)
	if len(words) == 0 {
		return
	}
	switch base(words[0]) {
	case "echo", "printf":
		if !shell {
			return
		}
		for _, word := range words[1:] {
			w.given(word)
		}
	case "curl", "wget":
		if p := w.j.s.programs["piped-installer"]; p != nil && len(p.rules) > 0 {
			r := p.rules[0]
			w.note(words, result{rule: r, heavy: true, kind: r.kind, matched: words[0] + " | sh", reason: r.reason, words: words})
		}
	}
}

// given judges text that a shell will run.
func (w *lineWalk) given(text string) {
	if w.j.t != nil {
		w.j.t.add("a shell is given %s to run", shown(text))
	}
	if r := w.j.line(text); r.heavy {
		w.note([]string{text}, r)
	}
}

// readsCommands reports whether the call ends in a shell that reads its commands.
func (w *lineWalk) readsCommands(call *syntax.CallExpr) bool {
	shell, ok := w.reads(call)
	return shell && ok
}

// reads reports whether the call ends in a shell, or in another interpreter,
// without a script and without -c: `sh`, `sudo bash`, `bash -s -- -y`, `python3 -`.
func (w *lineWalk) reads(call *syntax.CallExpr) (shell, ok bool) {
	words := w.expand(call.Args)
	for len(words) > 0 {
		p := w.j.s.lookup(base(words[0]))
		if p == nil {
			return false, false
		}
		if in := p.interp; in != nil && in.language != "java" {
			var a parsed
			a.parse(words[1:], &in.g, true)
			n := len(a.args)
			if a.has(in.code, n) >= 0 || a.has(in.asks, n) >= 0 || a.has(in.module, n) >= 0 {
				return false, false
			}
			reads := false
			for i, arg := range a.args {
				reads = reads || in.shell && a.kinds[i] == option && arg == "-s"
			}
			i := a.next(0)
			return in.shell, reads || i < 0 || a.args[i] == "-"
		}
		if len(p.carriers) == 0 || p.carriers[0].subs != nil || p.carriers[0].after != nil {
			return false, false
		}
		words = p.carriers[0].command(words[1:], w.j)
	}
	return false, false
}
