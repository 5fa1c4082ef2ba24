package lighten

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxNested bounds how deep arithmetic and variables are followed.
const maxNested = 8

// number is the value of an expansion that says how many CPUs there are:
// $(nproc), $(($(nproc) + 1)), or a variable that the line sets once. Anything
// else is not known.
func (s *source) number(part syntax.WordPart, depth int) (string, bool) {
	if depth > maxNested {
		return "", false
	}
	switch p := part.(type) {
	case *syntax.CmdSubst:
		if s.o.CPUs > 0 && countsCPUs(p) {
			return strconv.Itoa(s.o.CPUs), true
		}
	case *syntax.ArithmExp:
		if n, ok := s.arithmetic(p.X, depth+1); ok {
			return strconv.Itoa(n), true
		}
	case *syntax.ParamExp:
		if p.Param == nil || p.Exp != nil || p.Repl != nil || p.Slice != nil || p.Index != nil || p.Length || p.Excl {
			return "", false
		}
		value := s.vars[p.Param.Value]
		if value == nil {
			return "", false
		}
		return s.digits(value, depth+1)
	}
	return "", false
}

// digits is a word that is a number, or expands to one.
func (s *source) digits(w *syntax.Word, depth int) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	if lit, ok := part.(*syntax.Lit); ok {
		if _, err := strconv.ParseUint(lit.Value, 10, 16); err != nil {
			return "", false
		}
		return lit.Value, true
	}
	return s.number(part, depth)
}

// countsCPUs reports whether a command substitution is `nproc`, or
// `getconf _NPROCESSORS_ONLN`.
func countsCPUs(c *syntax.CmdSubst) bool {
	if len(c.Stmts) != 1 {
		return false
	}
	call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Args) > 2 || len(call.Assigns) > 0 {
		return false
	}
	words := make([]string, 2)
	for i, a := range call.Args {
		words[i] = a.Lit()
	}
	switch strings.TrimPrefix(words[0], "/usr/bin/") {
	case "nproc":
		return len(call.Args) == 1 || words[1] == "--all"
	case "getconf":
		return words[1] == "_NPROCESSORS_ONLN" || words[1] == "_NPROCESSORS_CONF"
	}
	return false
}

func (s *source) arithmetic(x syntax.ArithmExpr, depth int) (int, bool) {
	if depth > maxNested {
		return 0, false
	}
	switch x := x.(type) {
	case *syntax.ParenArithm:
		return s.arithmetic(x.X, depth+1)
	case *syntax.Word:
		text, ok := s.digits(x, depth+1)
		if !ok {
			if name, lit := onlyLit(x); lit && s.vars[name] != nil {
				text, ok = s.digits(s.vars[name], depth+1)
			}
		}
		n, err := strconv.Atoi(text)
		return n, ok && err == nil
	case *syntax.BinaryArithm:
		a, ok := s.arithmetic(x.X, depth+1)
		if !ok {
			return 0, false
		}
		b, ok := s.arithmetic(x.Y, depth+1)
		if !ok || a > 1<<16 || b > 1<<16 {
			return 0, false
		}
		switch x.Op {
		case syntax.Add:
			return a + b, true
		case syntax.Sub:
			return max(0, a-b), true
		case syntax.Mul:
			return a * b, true
		case syntax.Quo:
			return a / max(b, 1), b > 0
		}
	}
	return 0, false
}
