package classifier

import "strings"

// Carriage says where among a command's words stands what the command runs.
type Carriage struct {
	// Program is the name that words[Start] counts as, where that differs from
	// the word itself: "pytest" in `python -m pytest`. "" otherwise.
	Program string

	As         []string // words that the carrier puts before words[Start:End]
	Start, End int      // words[Start:End] is the command that it runs; both 0 if there is none
	Appends    bool     // it adds words of its own behind them (xargs)
	Joined     bool     // it joins words[Start:End] by blanks and runs them as a shell line (watch)
	Lines      []int    // the words that are a shell line each (sh -c, hyperfine)
}

// Carried returns what words run by the carrier and interpreter tables, one
// level down, in the order in which Argv tries them. A program may have several
// readings; only the caller knows which of them it is after. nil: words carry
// nothing.
func (s *Set) Carried(words []string) []Carriage {
	if len(words) == 0 {
		return nil
	}
	p := s.lookup(base(words[0]))
	if p == nil {
		return nil
	}
	var all []Carriage
	j := judge{s: s}
	for _, c := range p.carriers {
		if got, ok := c.carriage(&j, words); ok {
			all = append(all, got)
		}
	}
	if p.interp != nil {
		if got, ok := s.interpreted(p.interp, &j.args, words); ok {
			all = append(all, got)
		}
	}
	return all
}

// carriage is where words hold what c carries.
func (c *carrier) carriage(j *judge, words []string) (Carriage, bool) {
	args, ok := c.applies(j, words[1:])
	if !ok {
		return Carriage{}, false
	}
	// What is looked at is always a tail of words, so that lengths tell places.
	from := len(words) - len(args)
	if c.line != nil {
		if line, ok := lineOption(c, args); ok {
			for i, a := range args {
				if a == line && i > 0 && len(args[i-1]) > 1 && args[i-1][0] == '-' {
					return Carriage{Lines: []int{from + i}}, true
				}
			}
			return Carriage{}, false // a part of a word: --command=LINE
		}
	}
	rest := c.command(args, j)
	if len(rest) == 0 || c.rest == "none" {
		return Carriage{}, false
	}
	// rest is a piece of args, and a piece keeps the capacity up to their end.
	start := from + cap(args) - cap(rest)
	end := start + len(rest)
	if end > len(words) || words[start] != rest[0] {
		return Carriage{}, false
	}
	if c.rest == "lines" || len(rest) == 1 && (c.rest == "line" || c.rest == "either") {
		var lines []int
		for i := start; i < end; i++ {
			lines = append(lines, i)
		}
		return Carriage{Lines: lines}, true
	}
	return Carriage{As: c.as, Start: start, End: end, Appends: c.appends, Joined: c.rest == "line"}, true
}

// applies reports whether args make c carry something, and cuts them down to
// what stands behind its subcommand, which is parsed anew: its first operand
// ends it.
func (c *carrier) applies(j *judge, args []string) ([]string, bool) {
	if c.after != nil && c.subs == nil {
		return args, true
	}
	a := &j.args
	a.parse(args, &c.g, c.subs == nil)
	if a.has(c.nothing, len(a.args)) >= 0 {
		return nil, false
	}
	if c.subs == nil {
		return args, true
	}
	from := c.sub(a)
	if from < 0 {
		return nil, false
	}
	args = args[min(from, len(args)):]
	a.parse(args, &c.g, true)
	return args, a.has(c.nothing, len(a.args)) < 0
}

// interpreted is where words hold the line, module, archive or script that an
// interpreter runs.
func (s *Set) interpreted(in *interpreter, a *parsed, words []string) (Carriage, bool) {
	args := words[1:]
	a.parse(args, &in.g, true)
	n := len(a.args)
	if a.has(in.asks, n) >= 0 {
		return Carriage{}, false
	}
	operand := a.next(0)
	if in.shell && a.has(in.code, n) >= 0 {
		return Carriage{Lines: []int{1 + operand}}, operand >= 0
	}
	if i := a.has(in.module, n); i >= 0 && !in.shell {
		module, rest, ok := optionValue(in, args, i, 'm')
		if !ok {
			return Carriage{}, false
		}
		at := len(words) - len(rest) - 1
		return Carriage{Program: s.moduleProgram(module), Start: at, End: len(words)}, true
	}
	if a.has(in.code, n) >= 0 {
		return Carriage{}, false
	}
	if i := a.has(in.jar, n); i >= 0 && i+1 < len(args) {
		operand = i + 1
	}
	if operand < 0 {
		return Carriage{}, false
	}
	c := Carriage{Start: 1 + operand, End: len(words)}
	if in.language == "java" {
		for _, class := range s.classes {
			if glob(class[0], args[operand]) || glob(class[0], base(args[operand])) {
				c.Program = class[1]
				return c, true
			}
		}
		return Carriage{}, false
	}
	p, name := s.script(args[operand])
	c.Program = name
	return c, p != nil
}

// moduleProgram is the program that a Python module counts as.
func (s *Set) moduleProgram(module string) string {
	if alias := s.modules[module]; alias != "" {
		return alias
	}
	top, _, _ := strings.Cut(module, ".")
	if alias := s.modules[top]; alias != "" {
		return alias
	}
	return top
}
