package lighten

import (
	"fmt"
	"strings"
)

// plan is what is to be done to one simple command.
type plan struct {
	r       *rewrite
	src     *source // nil for an argv
	words   []word  // of the command, what carries it taken off
	program string  // what words[0] counts as, "" as it is written
	name    string  // the tool's name
	done    bool    // nothing carries it further

	front  *word      // before which a variable can be set that reaches the command; nil: nowhere
	inEnv  bool       // front stands behind an env
	env    []variable // set for this command in its own words
	heaped bool       // the heap is bounded by an option already

	ops  []op
	said []string
}

type opKind uint8

const (
	replaced opKind = iota // by words[0], as it is to be read
	swapped                // its raw text, by words[0]
	removed
	before // words stand before it
	after  // words stand behind it
)

// op is one change of one word.
type op struct {
	kind  opKind
	w     word
	words []string
}

// change has w replaced by text.
func (p *plan) change(w word, text string) { p.ops = append(p.ops, op{replaced, w, []string{text}}) }

// add has words put behind the word at i.
func (p *plan) add(i int, why string, words ...string) {
	p.ops = append(p.ops, op{after, p.words[i], words})
	p.say("%s added (%s)", strings.Join(words, " "), why)
}

// say describes a change of the tool's own words.
func (p *plan) say(format string, args ...any) {
	p.said = append(p.said, p.name+": "+fmt.Sprintf(format, args...))
}

// commit turns the plan into edits. One that cannot be made drops them all.
func (p *plan) commit() {
	var edits []Edit
	for _, o := range p.ops {
		e, ok := p.edit(o)
		if !ok {
			return
		}
		edits = append(edits, e)
	}
	p.r.edits = append(p.r.edits, edits...)
	for _, s := range p.said {
		p.r.say(s)
	}
}

// edit is one op as an edit of the line.
func (p *plan) edit(o op) (Edit, bool) {
	if o.w.at < 0 {
		return Edit{}, false
	}
	var texts []string
	for _, w := range o.words {
		q := w
		if o.kind != swapped {
			var ok bool
			if q, ok = assignQuote(w, p.src.banned); !ok {
				return Edit{}, false
			}
		}
		texts = append(texts, q)
	}
	text := strings.Join(texts, " ")
	switch o.kind {
	case before:
		return Edit{o.w.pos, o.w.pos, text + " "}, true
	case after:
		return Edit{o.w.end, o.w.end, " " + text}, true
	case removed:
		start := o.w.pos - p.src.base
		for start > 0 && (p.src.text[start-1] == ' ' || p.src.text[start-1] == '\t') {
			start--
		}
		return Edit{p.src.base + start, o.w.end, ""}, start > 0
	}
	return Edit{o.w.pos, o.w.end, text}, true
}

// assignQuote quotes a word, and of NAME=value only the value: a quoted name
// would be no assignment.
func assignQuote(w, banned string) (string, bool) {
	name, value, ok := strings.Cut(w, "=")
	if !ok || value == "" || strings.ContainsFunc(name, func(c rune) bool { return !safe(c) }) {
		return quote(w, banned)
	}
	q, ok := quote(value, banned)
	return name + "=" + q, ok
}
