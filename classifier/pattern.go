package classifier

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// pattern is one of the owner's regular expressions.
type pattern struct {
	re   *regexp.Regexp
	rule *rule
	name string // the program that it can only match, "" when no name expresses it
}

func compilePatterns(setting string, exprs []string) (ps []pattern, faults []error) {
	for i, expr := range exprs {
		re, err := regexp.Compile(expr)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: pattern %q: %w", setting, expr, err))
			continue
		}
		ps = append(ps, pattern{
			re:   re,
			name: programOf(expr),
			rule: &rule{Rule: Rule{ID: fmt.Sprintf("%s[%d]", setting, i), Family: "custom", Class: Heavy, Source: "settings: " + setting}},
		})
	}
	return ps, faults
}

// programOf returns the program's name when expr begins with "^name" and a
// blank, a word boundary or the end: such a pattern can match no other command.
func programOf(expr string) string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil || re.Op != syntax.OpConcat || len(re.Sub) < 2 || re.Sub[0].Op != syntax.OpBeginText {
		return ""
	}
	lit := re.Sub[1]
	if lit.Op != syntax.OpLiteral || lit.Flags&syntax.FoldCase != 0 {
		return ""
	}
	word, _, blank := strings.Cut(string(lit.Rune), " ")
	if !blank {
		if len(re.Sub) < 3 {
			return ""
		}
		switch re.Sub[2].Op {
		case syntax.OpEndText, syntax.OpWordBoundary:
		default:
			return ""
		}
	}
	if strings.Contains(word, "/") {
		word = base(word)
	}
	return word
}

// applyPatterns lets the owner's patterns overrule r. They see the command as
// it was given and the command that decided, what carried it taken off: an
// owner who writes `^npm test` means also `node /usr/bin/npm test`.
func (s *Set) applyPatterns(r result, t *trace, whole, inner []string) result {
	text := joined(whole)
	short := text
	if len(inner) > 0 {
		short = base(inner[0]) + strings.TrimPrefix(joined(inner), inner[0])
	}
	if p := first(s.exclude, text, short); p != nil {
		if t != nil {
			t.add("%s %s: never heavy", p.rule.Source, shown(p.re.String()))
		}
		return result{rule: p.rule, kind: r.kind, matched: p.re.FindString(text), reason: "the settings exclude it", words: r.words}
	}
	if r.heavy {
		return r
	}
	if p := first(s.extra, text, short); p != nil {
		if t != nil {
			t.add("%s %s: heavy", p.rule.Source, shown(p.re.String()))
		}
		r.rule, r.heavy, r.reason = p.rule, true, "the settings call it heavy"
		r.matched = p.re.FindString(text)
		r.captures = r.kind&(Carrier|Shell) == 0
	}
	return r
}

func first(ps []pattern, texts ...string) *pattern {
	for i := range ps {
		for _, text := range texts {
			if ps[i].re.MatchString(text) {
				return &ps[i]
			}
		}
	}
	return nil
}

// maxJoined bounds the text that patterns see: RE2 is linear, but a linker's
// command line may have a megabyte.
const maxJoined = 16 << 10

func joined(words []string) string {
	n := 0
	for i, w := range words {
		if n += len(w) + 1; n > maxJoined {
			words = words[:i+1]
			break
		}
	}
	text := strings.Join(words, " ")
	return text[:min(len(text), maxJoined)]
}
