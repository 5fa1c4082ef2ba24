package classifier

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A person who asks why a command is light wants to know which rule nearly
// took it. Only traces ask, and only where no rule matched.

// nearMisses tells of rules whose subcommand is there but something else is
// not, or whose subcommand is a letter away.
func (j *judge) nearMisses(rules []*rule, a *parsed, path string) {
	for _, r := range rules {
		if r.Class == Light {
			continue
		}
		if why := r.missed(a, path); why != "" {
			j.nearly("rule %s (%s) does not match: %s", r.ID, r.Source, why)
		}
	}
}

// nearly adds a step, of which the first is also told in the reason.
func (j *judge) nearly(format string, args ...any) {
	j.t.add(format, args...)
	if j.near == "" {
		j.near = "; " + fmt.Sprintf(format, args...)
	}
}

// missed says what r lacks in the arguments p; "" when it is about other things.
func (r *rule) missed(p *parsed, path string) string {
	if r.paths != nil && !containsAny(path, r.paths) {
		return ""
	}
	first, sub := p.next(0), 0
	if !r.anySub {
		if sub = r.matchSub(p, first); sub < 0 {
			return r.misspelt(p, first)
		}
	}
	if r.except != nil && first >= 0 && globAny(r.except, p.args[first]) {
		return shown(p.args[first]) + " is one of its exceptions"
	}
	limit := len(p.args)
	if r.leading {
		if i := p.next(sub); i >= 0 {
			limit = i
		}
	}
	switch {
	case r.flags != nil && p.has(r.flags, limit) < 0:
		return "it wants " + r.flagWords
	case r.withFlags != nil && p.has(r.withFlags, limit) < 0:
		return "it wants " + r.withWords + " besides"
	case r.operands != nil && !r.hasOperand(p, sub):
		return "it wants an argument like " + choice(r.operands)
	}
	return ""
}

// misspelt says which subcommand may have been meant.
func (r *rule) misspelt(p *parsed, first int) string {
	if first < 0 || len(p.args[first]) < 4 {
		return "" // what is that short is near to anything
	}
	word, meant := p.args[first], ""
	for sub := range r.subs {
		if len(sub) >= 4 && (meant == "" || sub < meant) && oneEdit(word, sub) {
			meant = sub
		}
	}
	if meant == "" {
		return ""
	}
	return shown(word) + " is not its " + shown(meant)
}

// oneEdit reports whether one letter more, less or different, or two that are
// swapped, make b of a.
func oneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 || a == b {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	return a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

// choice lists a few of the options.
func (f *flagSet) choice() string {
	if f == nil {
		return ""
	}
	words := slices.Sorted(maps.Keys(f.exact))
	for _, p := range f.prefix {
		words = append(words, p+"*")
	}
	for _, p := range f.pairs {
		words = append(words, p[0]+" "+p[1])
	}
	return choice(words)
}

func choice(words []string) string {
	const most = 6
	if len(words) > most {
		return strings.Join(words[:most], ", ") + " or another one"
	}
	return orList(words)
}

// switchedOff tells of rules that would have matched, were they in force.
func (j *judge) switchedOff(p *program, path string, words []string) {
	g := p.grammar
	if g == nil {
		g = &noGrammar
	}
	j.args.parse(words[1:], g, p.interp != nil)
	for _, r := range p.off {
		if o, _, _ := r.match(&j.args, path, j.env); o != miss {
			j.nearly("rule %s (%s) would match, but %s switches it off", r.ID, r.Source, r.disabledAt)
		}
	}
}
