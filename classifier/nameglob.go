package classifier

import (
	"maps"
	"slices"
)

// nameGlob is what the owner's files know of all programs whose name matches a
// pattern: `my-*`.
type nameGlob struct {
	pattern string
	program *program
}

// globbed adds to p, which may be nil, what the patterns say of name. It makes
// a program anew for each question, and only for a name that a pattern matches.
func (s *Set) globbed(name string, p *program) *program {
	var merged *program
	for i := range s.globs {
		if !glob(s.globs[i].pattern, name) {
			continue
		}
		if merged == nil {
			merged = &program{}
		}
		merged.take(s.globs[i].program)
	}
	if merged == nil {
		return p
	}
	if p != nil {
		merged.take(p)
	}
	merged.settle()
	return merged
}

// take adds what is known of another name; what p knows already goes first.
func (p *program) take(q *program) {
	p.rules = append(p.rules, q.rules...)
	p.off = append(p.off, q.off...)
	p.carriers = append(p.carriers, q.carriers...)
	if p.interp == nil {
		p.interp = q.interp
	}
	if p.grammar == nil {
		p.grammar = q.grammar
	}
}

// settle puts rules that were taken together into the order of all rules. One
// may name several of the names that were taken.
func (p *program) settle() {
	slices.SortFunc(p.rules, func(a, b *rule) int { return a.seq - b.seq })
	p.rules = slices.Compact(p.rules)
	p.own = 0
	for _, r := range p.rules {
		if r.front {
			p.own++
		}
	}
}

// inherit gives a name that is only the owner's (gcc-13, python3.12) what is
// built in for the name without its version or target: a rule for one version
// must not make all its other uses unknown.
func (s *Set) inherit(files []*ruleFile) {
	embedded, own := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		to := embedded
		if f.own {
			to = own
		}
		for _, names := range f.tables.named() {
			for _, name := range names {
				to[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		p := s.programs[name]
		if embedded[name] || p == nil {
			continue
		}
		delete(s.programs, name)
		q := s.known(name)
		s.programs[name] = p
		if q != nil {
			p.take(q)
			p.settle()
		}
	}
}

// named lists the programs that the tables are about.
func (t *fileTables) named() [][]string {
	var all [][]string
	for i := range t.Tools {
		all = append(all, t.Tools[i].Programs)
	}
	for i := range t.Carriers {
		all = append(all, t.Carriers[i].Programs)
	}
	for i := range t.Interpreters {
		all = append(all, t.Interpreters[i].Programs)
	}
	for i := range t.Rules {
		all = append(all, t.Rules[i].Programs)
	}
	return all
}
