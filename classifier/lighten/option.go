package lighten

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// option is how a program spells an option that takes a number.
type option struct {
	short string   // "-j": -j8, -j 8
	long  []string // "--jobs": --jobs=8, --jobs 8
	bare  string   // what to put between the option and a number where it may stand without one; "" if it needs one
	colon bool     // -m:8 instead of -m8
	plain bool     // -p=8 or -p 8, never -p8
	zero  bool     // 0 means none rather than all
	every int      // how many it means without a number; 0 all that it likes
}

// use is one use of an option among the words.
type use struct {
	opt    word
	value  *word  // holds the number: a word of its own, or opt; nil without a number
	prefix string // of value's text, before the number
	number string
	known  bool
}

// uses finds o among the words from i to j.
func (p *plan) uses(o option, i, j int) []use {
	var found []use
	for ; i < j; i++ {
		w := p.words[i]
		prefix, bare := o.reads(w.text)
		switch {
		case prefix != "":
			found = append(found, use{w, &p.words[i], prefix, w.text[len(prefix):], w.known})
		case bare:
			u := use{opt: w}
			if i+1 < j && (o.bare == "" || isNumber(p.words[i+1])) {
				i++
				v := &p.words[i]
				u.value, u.number, u.known = v, v.text, v.known
			}
			found = append(found, u)
		}
	}
	return found
}

// reads takes a word apart: the prefix before the number of an attached form, or
// whether it is the option alone.
func (o option) reads(text string) (prefix string, alone bool) {
	for _, l := range o.long {
		if text == l {
			return "", true
		}
		if strings.HasPrefix(text, l+"=") {
			return l + "=", false
		}
		if o.colon && strings.HasPrefix(text, l+":") {
			return l + ":", false
		}
	}
	if o.short == "" || !strings.HasPrefix(text, o.short) {
		return "", false
	}
	rest := text[len(o.short):]
	switch {
	case rest == "":
		return "", true
	case o.colon && rest[0] == ':', rest[0] == '=':
		return o.short + rest[:1], false
	case o.colon || o.plain:
		return "", false
	case rest[0] >= '0' && rest[0] <= '9' || strings.HasPrefix(rest, unknown) || rest == "auto" || rest == "logical":
		return o.short, false
	}
	return "", false
}

func isNumber(w word) bool {
	if !w.known {
		return strings.HasPrefix(w.text, unknown) || strings.HasPrefix(w.text, "{")
	}
	return w.text != "" && w.text[0] >= '0' && w.text[0] <= '9'
}

// all is more than any number of workers.
const all = math.MaxInt32

// amount is how many a use asks for. ok is false when nobody can know.
func (p *plan) amount(o option, u use) (n int, ok bool) {
	if u.value == nil {
		if o.every > 0 {
			return o.every, true
		}
		return all, o.bare != ""
	}
	if !u.known {
		return 0, false
	}
	cpus := p.r.o.CPUs
	if cpus < 1 {
		cpus = all / 1000 // for shares of the CPUs: more than are wanted
	}
	if percent, ok := strings.CutSuffix(u.number, "%"); ok {
		n, err := strconv.Atoi(percent)
		return max(1, n*cpus/100), err == nil && n > 0 && n <= 1000
	}
	if perCPU, ok := strings.CutSuffix(u.number, "C"); ok { // Maven's 1.5C
		f, err := strconv.ParseFloat(perCPU, 64)
		return int(max(1, f*float64(cpus))), err == nil && f > 0 && f <= 100
	}
	switch u.number {
	case "auto", "logical", "max", "all", "default", "unlimited":
		return all, true
	case "false", "":
		return 0, false
	}
	n, err := strconv.Atoi(u.number)
	switch {
	case err != nil:
		return 0, false
	case n < 0: // cargo's -1: all but one
		return max(1, cpus+n), true
	case n == 0 && !o.zero:
		return all, true
	}
	return n, true
}

// lower brings every use of o between i and j down to n, and reports whether
// there was any.
func (p *plan) lower(o option, i, j, n int, why string) bool {
	found := p.uses(o, i, j)
	for _, u := range found {
		have, ok := p.amount(o, u)
		if ok && have <= n || !ok && (n > 1 || u.value == nil || u.known) {
			continue
		}
		old, next := u.opt.raw, ""
		switch {
		case u.value == nil:
			next = u.opt.text + o.bare + strconv.Itoa(n)
			if sep := strings.TrimSpace(o.bare); sep != o.bare && strings.HasPrefix(u.opt.text, "--") {
				p.ops = append(p.ops, op{after, u.opt, []string{strconv.Itoa(n)}})
				break
			}
			if !strings.HasPrefix(u.opt.text, "--") && !o.colon {
				next = u.opt.text + strconv.Itoa(n)
			}
			p.change(u.opt, next)
		case u.prefix != "":
			next = u.prefix + strconv.Itoa(n)
			p.change(*u.value, next)
		default:
			old += " " + u.value.raw
			next = u.opt.raw + " " + strconv.Itoa(n)
			p.change(*u.value, strconv.Itoa(n))
		}
		p.say("%s → %s (%s)", old, next, why)
	}
	return len(found) > 0
}

// end is the index of "--", or the number of words.
func (p *plan) end() int {
	for i, w := range p.words {
		if i > 0 && w.text == "--" {
			return i
		}
	}
	return len(p.words)
}

// sub is the index of the next operand from i on, or -1. values are the options
// whose value is a word of its own.
func (p *plan) sub(i int, values map[string]bool) int {
	for end := p.end(); i < end; i++ {
		t := p.words[i].text
		switch {
		case !p.words[i].known && strings.HasPrefix(t, unknown):
			return -1
		case values[t]:
			i++
		case strings.HasPrefix(t, "-") || strings.HasPrefix(t, "+"):
		default:
			return i
		}
	}
	return -1
}

// text is the word at i, "" where there is none.
func (p *plan) text(i int) string {
	if i < 0 || i >= len(p.words) {
		return ""
	}
	return p.words[i].text
}

// has reports whether one of the words is among those before end.
func (p *plan) has(set map[string]bool, end int) bool {
	for _, w := range p.words[:end] {
		if set[w.text] {
			return true
		}
		if flag, _, ok := strings.Cut(w.text, "="); ok && set[flag] {
			return true
		}
	}
	return false
}

// jobs is an option with a number of workers.
func jobs(n int) string { return fmt.Sprintf("-j%d", n) }

const oneWorker = "one worker"
