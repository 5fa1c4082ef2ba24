package classifier

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// expand turns a command's words into strings. A variable that the line itself
// set is put in, split at blanks where the shell would split it.
func (w *lineWalk) expand(args []*syntax.Word) []string {
	words := make([]string, 0, len(args))
	for _, a := range args {
		if w.params != nil && allParams(a) {
			words = append(words, w.params...)
			continue
		}
		text := w.text(a)
		if len(a.Parts) == 1 && (text == "" || strings.IndexByte(text, ' ') >= 0) {
			if _, bare := a.Parts[0].(*syntax.ParamExp); bare {
				words = append(words, strings.Fields(text)...)
				continue
			}
		}
		words = append(words, text)
	}
	return words
}

// text is a word after quote removal. What only the shell can know is written
// as "$…", which the argument parser takes for any number of words.
func (w *lineWalk) text(word *syntax.Word) string {
	if len(word.Parts) == 1 {
		if lit, ok := word.Parts[0].(*syntax.Lit); ok {
			return unescape(lit.Value)
		}
	}
	var b strings.Builder
	w.parts(&b, word.Parts, false)
	return b.String()
}

func (w *lineWalk) parts(b *strings.Builder, parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if quoted {
				b.WriteString(unescapeQuoted(p.Value))
			} else {
				b.WriteString(unescape(p.Value))
			}
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			w.parts(b, p.Parts, true)
		case *syntax.ParamExp:
			w.param(b, p, quoted)
		case *syntax.CmdSubst:
			w.subst(b, p, quoted)
		case *syntax.ArithmExp:
			b.WriteByte('1')
		case *syntax.ProcSubst:
			if downloads(p.Stmts) {
				b.WriteString("/dev/fd/piped-installer")
			} else {
				b.WriteString("/dev/fd/63")
			}
		case *syntax.ExtGlob:
			b.WriteString("*")
		default:
			b.WriteString("$…")
		}
	}
}

// param writes a variable's value where the line set it. A quoted one that is
// unknown is one word and no option: it is written so that it stays an operand.
func (w *lineWalk) param(b *strings.Builder, p *syntax.ParamExp, quoted bool) {
	if p.Param != nil {
		if v, ok := w.value(p.Param.Value); ok && plain(p) && len(v) <= w.room {
			w.room -= len(v)
			b.WriteString(v)
			return
		}
		if p.Exp != nil && p.Exp.Word != nil && (p.Exp.Op == syntax.DefaultUnset || p.Exp.Op == syntax.DefaultUnsetOrNull) {
			w.parts(b, p.Exp.Word.Parts, quoted)
			return
		}
		if quoted && b.Len() == 0 {
			b.WriteString("{" + p.Param.Value + "}")
			return
		}
		b.WriteString("$" + p.Param.Value)
		return
	}
	b.WriteString("$…")
}

// subst writes what `$(which npm)` and its like print; anything else is unknown.
func (w *lineWalk) subst(b *strings.Builder, c *syntax.CmdSubst, quoted bool) {
	if len(c.Stmts) == 1 {
		if call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr); ok && len(call.Args) == 1 && b.Len() == 0 {
			if name := call.Args[0].Lit(); name != "" && name == strings.ToUpper(name) {
				b.WriteString("$" + name) // a makefile's variable: $(MAKE) -C doc
				return
			}
		} else if ok && len(call.Args) > 1 {
			words := make([]string, 0, 4)
			for _, a := range call.Args[:min(len(call.Args), 4)] {
				words = append(words, a.Lit())
			}
			switch words[0] {
			case "which", "command", "type", "readlink", "realpath", "yarn":
				if words[0] == "yarn" && (len(words) < 3 || words[1] != "bin") {
					break
				}
				if last := words[len(words)-1]; last != "" && last[0] != '-' {
					b.WriteString(last)
					return
				}
			}
		}
	}
	switch {
	case downloads(c.Stmts):
		b.WriteString("piped-installer") // a shell that runs this word runs what was fetched
	case quoted && b.Len() == 0:
		b.WriteString("{…}")
	default:
		b.WriteString("$…")
	}
}

// downloads reports whether the only command is curl or wget.
func downloads(stmts []*syntax.Stmt) bool {
	if len(stmts) != 1 {
		return false
	}
	call, ok := stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 2 {
		return false
	}
	name := call.Args[0].Lit()
	return name == "curl" || name == "wget"
}

// unescape takes the backslashes off an unquoted word.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

// unescapeQuoted takes off the backslashes that count inside double quotes.
func unescapeQuoted(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}
