package lighten

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command.
type word struct {
	text     string // after quote removal; "$…" stands for what only the shell knows
	raw      string // as it is written
	known    bool   // text has nothing unknown in it
	at       int    // its place among the written words; -1 if a carrier puts it there
	pos, end int    // bytes in the line
	inner    inner  // where its text may be edited as a line of its own
}

// inner is the part of a word that holds a shell line byte by byte.
type inner struct {
	ok    bool
	pos   int    // of its first byte in the line
	quote string // the quote around it, which must not be written inside
}

// unknown stands in a text for what only the shell can know.
const unknown = "$…"

// text reads words of one source.
type text struct {
	b     strings.Builder
	src   *source
	known bool
}

// word reads a word of the source.
func (s *source) word(w *syntax.Word, at int) word {
	t := text{src: s, known: true}
	t.parts(w.Parts, false)
	pos, end := int(w.Pos().Offset()), int(w.End().Offset())
	out := word{text: t.b.String(), known: t.known, at: at, pos: s.base + pos, end: s.base + end}
	if pos > end || end > len(s.text) {
		s.broken = true
		return out
	}
	out.raw = s.text[pos:end]
	if !starts(w.Parts[0], out.raw) {
		s.broken = true // inside backquotes the offsets need not be those of the bytes
	}
	out.inner = s.inner(w)
	return out
}

// starts reports whether raw begins as a word of this first part is written.
func starts(part syntax.WordPart, raw string) bool {
	begin := ""
	switch p := part.(type) {
	case *syntax.Lit:
		begin = p.Value
	case *syntax.SglQuoted:
		begin = "'"
		if p.Dollar {
			begin = "$'"
		}
	case *syntax.DblQuoted:
		begin = `"`
		if p.Dollar {
			begin = `$"`
		}
	}
	return strings.HasPrefix(raw, begin)
}

func onlyLit(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok {
		return "", false
	}
	return lit.Value, true
}

// inner finds the text of a quoted word if each byte of it stands for itself.
func (s *source) inner(w *syntax.Word) inner {
	if len(w.Parts) != 1 {
		return inner{}
	}
	at := int(w.Pos().Offset()) + 1
	var value, quote string
	switch q := w.Parts[0].(type) {
	case *syntax.SglQuoted:
		if q.Dollar {
			return inner{}
		}
		value, quote = q.Value, "'"
	case *syntax.DblQuoted:
		if q.Dollar || len(q.Parts) != 1 {
			return inner{}
		}
		lit, ok := q.Parts[0].(*syntax.Lit)
		if !ok || strings.ContainsAny(lit.Value, "\\\"$`!") {
			return inner{}
		}
		value, quote = lit.Value, `"`
	default:
		return inner{}
	}
	if at+len(value) > len(s.text) || s.text[at:at+len(value)] != value {
		return inner{}
	}
	return inner{ok: true, pos: s.base + at, quote: quote}
}

func (t *text) parts(parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			t.b.WriteString(unescape(p.Value, quoted))
		case *syntax.SglQuoted:
			if p.Dollar && strings.Contains(p.Value, `\`) {
				t.unknown(quoted)
				continue
			}
			t.b.WriteString(p.Value)
		case *syntax.DblQuoted:
			t.parts(p.Parts, true)
		default:
			if n, ok := t.src.number(part, 0); ok {
				t.b.WriteString(n)
				continue
			}
			if program := located(part); program != "" && t.b.Len() == 0 {
				t.b.WriteString(program)
				continue
			}
			t.unknown(quoted)
		}
	}
}

// located is the program whose path a $(which npm) or $(command -v npm) prints;
// "" for any other part.
func located(part syntax.WordPart) string {
	c, ok := part.(*syntax.CmdSubst)
	if !ok || len(c.Stmts) != 1 {
		return ""
	}
	call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 2 || len(call.Args) > 3 {
		return ""
	}
	last := call.Args[len(call.Args)-1].Lit()
	switch call.Args[0].Lit() {
	case "which":
	case "command":
		if call.Args[1].Lit() != "-v" {
			return ""
		}
	default:
		return ""
	}
	if strings.HasPrefix(last, "-") {
		return ""
	}
	return last
}

// unknown marks what is not known. Quoted it is one word, and no option.
func (t *text) unknown(quoted bool) {
	t.known = false
	if quoted && t.b.Len() == 0 {
		t.b.WriteString("{…}")
		return
	}
	t.b.WriteString(unknown)
}

// unescape takes off the backslashes that the shell takes off.
func unescape(s string, quoted bool) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

// quote writes a word so that the shell reads it as it is. banned are the quotes
// that stand around the place already. ok is false when there is no way.
func quote(s, banned string) (string, bool) {
	if !strings.ContainsFunc(s, func(c rune) bool { return !safe(c) }) {
		return s, true
	}
	for _, q := range []string{"'", `"`} {
		if strings.Contains(banned, q) || strings.Contains(s, q) || q == `"` && strings.ContainsAny(s, "\\$`!") {
			continue
		}
		return q + s + q, true
	}
	return "", false
}

func safe(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_=./:,+@%", c)
}
