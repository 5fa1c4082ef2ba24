package classifier

import "strings"

// maxDepth bounds how many carriers, interpreters and nested lines are looked
// through: `sudo env nice timeout sh -c …` is 5, nothing real is deeper than 8.
const maxDepth = 12

// result is the engine's own answer, turned into a Verdict at the end.
type result struct {
	rule     *rule
	heavy    bool
	captures bool
	kind     Kind
	matched  string
	reason   string
	words    []string // the command that decided, what carried it taken off
}

// judge is one question with what stays the same while it is looked through.
type judge struct {
	s      *Set
	t      *trace // nil on the hot path
	env    []string
	look   *project // nil where no file is looked at
	atExec bool     // only what is captured at this exec counts
	near   string   // the rule that nearly matched, for a reason; with a trace only
	depth  int
	args   parsed
}

// command judges words; exe is the resolved binary of words[0], or "".
func (j *judge) command(words []string, exe string) result {
	if len(words) == 0 || words[0] == "" && len(words) == 1 {
		return result{reason: "no command word"}
	}
	if j.depth >= maxDepth {
		return result{reason: "nested deeper than is looked through", words: words}
	}
	j.depth++
	defer func() { j.depth-- }()

	name := base(words[0])
	if exe != "" && words[0] == "/proc/self/exe" {
		name = base(exe)
	}
	p := j.s.lookup(name)
	if p == nil && len(words) == 1 && strings.IndexByte(words[0], ' ') > 0 {
		// A process.title that overwrote the argv: one string, `npm test`.
		words = strings.Fields(words[0])
		if len(words) == 0 {
			return result{reason: "no command word"}
		}
		if j.t != nil {
			j.t.add("the process wrote its own title over its arguments: split at blanks")
		}
		name = base(words[0])
		p = j.s.lookup(name)
	}
	if p == nil {
		if j.t != nil {
			j.t.add("%s: no rule knows this program", shown(name))
		}
		return result{reason: "no rule knows this program", words: words}
	}
	if j.s.contradicts(name, exe) {
		if j.t != nil {
			j.t.add("%s is the binary %s: its name is not believed", shown(name), shown(exe))
		}
		return result{reason: "its binary is another program than it calls itself", words: words}
	}
	path := words[0]
	if exe != "" {
		path = exe
	}
	return j.program(p, name, path, words)
}

// program judges words by what is known of p: first what it carries, then what
// it interprets, then its own rules.
func (j *judge) program(p *program, name, path string, words []string) result {
	var near result
	j.near = ""
	if j.t != nil && p.off != nil {
		j.switchedOff(p, path, words)
	}
	if p.own > 0 { // the owner's word is heard first
		if got, ok := j.rules(p, p.rules[:p.own], name, path, words); ok {
			return got
		}
	}
	if j.skips(p) {
		return result{kind: Carrier, reason: "what it carries execs by itself", words: words}
	}
	if j.look != nil {
		defer j.look.enter(name, p, words)()
		if got, ok := j.packageScript(p, name, words); ok {
			return got
		}
	}
	for _, c := range p.carriers {
		got, ok := j.carry(c, name, words)
		if !ok {
			continue
		}
		if got.heavy || c.own {
			return got
		}
		if near.reason == "" {
			near = got
		}
	}
	if len(p.rules) > p.own {
		if got, ok := j.rules(p, p.rules[p.own:], name, path, words); ok {
			return got
		}
	}
	if p.interp != nil {
		return j.interpret(p.interp, name, words)
	}
	if near.reason != "" {
		return near
	}
	if j.t != nil {
		j.t.add("%s: none of its rules matches", shown(name))
	}
	return result{reason: "this use of " + name + " is light" + j.near, words: words}
}

// rules tries rules of p in order; the first that matches decides.
func (j *judge) rules(p *program, rules []*rule, name, path string, words []string) (result, bool) {
	g := p.grammar
	if g == nil {
		g = &noGrammar
	}
	a := &j.args
	a.parse(words[1:], g, p.interp != nil)
	for _, r := range rules {
		o, sub, why := r.match(a, path, j.env)
		switch o {
		case miss:
			continue
		case hit:
			res := result{rule: r, heavy: r.Class == Heavy, captures: true, kind: r.kind, reason: r.reason, words: words}
			if res.heavy || j.t != nil {
				res.matched = matchedWords(name, a, sub)
			}
			if j.t != nil {
				j.t.add("%s: rule %s (%s): %s", shown(res.matched), r.ID, r.Source, r.reason)
			}
			return res, true
		case asks:
			res := result{rule: r, kind: r.kind, reason: r.lightReason, words: words}
			if j.t != nil {
				res.matched = matchedWords(name, a, sub)
				if why >= 0 {
					j.t.add("%s: rule %s (%s) would be heavy, but %s makes it light", shown(res.matched), r.ID, r.Source, shown(a.args[why]))
				} else {
					j.t.add("%s: rule %s (%s) would be heavy, but there is nothing to work on", shown(res.matched), r.ID, r.Source)
				}
			}
			return res, true
		}
	}
	if j.t != nil {
		j.nearMisses(rules, a, path)
	}
	return result{}, false
}

// matchedWords are the program's name and its subcommand.
func matchedWords(name string, a *parsed, sub int) string {
	for i := range min(sub, len(a.args)) {
		if a.kinds[i] == operand {
			name += " " + a.args[i]
		}
	}
	return name
}
