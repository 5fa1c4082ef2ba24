package classifier

import "strings"

// outcome of one rule for one command.
type outcome uint8

const (
	miss outcome = iota
	hit
	asks // the rule's command, made light by an option or an operand
)

var noGrammar grammar

// match tries r on the arguments p of a program called path. sub is the index
// behind the subcommand's words; why is the argument that made it light, or -1.
func (r *rule) match(p *parsed, path string, env []string) (o outcome, sub, why int) {
	if r.paths != nil && !containsAny(path, r.paths) {
		return miss, 0, -1
	}
	first := p.next(0)
	sub = 0
	if !r.anySub {
		sub = r.matchSub(p, first)
		if sub < 0 {
			return miss, 0, -1
		}
	}
	if r.except != nil && first >= 0 && globAny(r.except, p.args[first]) {
		return miss, 0, -1
	}
	limit := len(p.args)
	if r.leading {
		if i := p.next(sub); i >= 0 {
			limit = i
		}
	}
	if r.flags != nil && p.has(r.flags, limit) < 0 || r.withFlags != nil && p.has(r.withFlags, limit) < 0 {
		return miss, 0, -1
	}
	if r.operands != nil && !r.hasOperand(p, sub) {
		return miss, 0, -1
	}
	if i := p.asks(r.light, limit, sub); i >= 0 {
		return asks, sub, i
	}
	if r.needOperand && p.next(sub) < 0 && !p.hasOpaque() {
		return asks, sub, -1
	}
	if r.lightOps != nil && r.allLight(p, sub) {
		return asks, sub, p.next(sub)
	}
	for _, e := range env {
		if globAny(r.lightEnv, e) {
			return asks, sub, -1
		}
	}
	return hit, sub, -1
}

// matchSub returns the index behind the subcommand, or -1.
func (r *rule) matchSub(p *parsed, first int) int {
	if first < 0 {
		if r.bare {
			return len(p.args)
		}
		return -1
	}
	if _, ok := r.subs[p.args[first]]; ok {
		return first + 1
	}
	for _, words := range r.subWords {
		if i := p.follow(words, first); i >= 0 {
			return i
		}
	}
	return -1
}

// follow matches words against the operands from index i on.
func (p *parsed) follow(words []string, i int) int {
	for _, w := range words {
		if i = p.next(i); i < 0 || !glob(w, p.args[i]) {
			return -1
		}
		i++
	}
	return i
}

func (r *rule) hasOperand(p *parsed, from int) bool {
	for i := p.next(from); i >= 0; i = p.next(i + 1) {
		if globAny(r.operands, p.args[i]) {
			return true
		}
	}
	return false
}

// allLight reports whether there is an operand and all are light: `make clean`,
// but not `make clean all`.
func (r *rule) allLight(p *parsed, from int) bool {
	i := p.next(from)
	if i < 0 || p.hasOpaque() {
		return false
	}
	for ; i >= 0; i = p.next(i + 1) {
		if !globAny(r.lightOps, p.args[i]) {
			return false
		}
	}
	return true
}

func (p *parsed) hasOpaque() bool {
	for i := range p.args {
		if p.kinds[i] == opaque {
			return true
		}
	}
	return false
}

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
