package lighten

import (
	"fmt"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/headroomd/headroomd/classifier"
)

// variable is one that is set by the words of a line: NAME=value before a
// command, in an export, or among the arguments of env.
type variable struct {
	name  string
	word  word // of the value; of the whole NAME=value when whole is set
	whole bool
}

// value is the text of the value.
func (v variable) value() string {
	if v.whole {
		return v.word.text[len(v.name)+1:]
	}
	return v.word.text
}

// variable reads an assignment of the source.
func (s *source) variable(a *syntax.Assign) (variable, bool) {
	if a.Name == nil || a.Naked || a.Array != nil || a.Append || a.Index != nil {
		return variable{}, false
	}
	if a.Value == nil { // NAME=
		end := s.base + int(a.End().Offset())
		return variable{name: a.Name.Value, word: word{known: true, pos: end, end: end}}, end <= s.base+len(s.text)
	}
	return variable{name: a.Name.Value, word: s.word(a.Value, 0)}, true
}

// assigns rewrites variables that are set for the whole line.
func (r *rewrite) assigns(s *source, all []*syntax.Assign) {
	for _, a := range all {
		v, ok := s.variable(a)
		if !ok || s.broken {
			continue
		}
		p := &plan{r: r, src: s, env: []variable{v}}
		p.variables()
		if v.name == "NODE_OPTIONS" {
			p.heapIn(v)
		}
		p.commit()
	}
}

// pass notes what a carrier does to the variables of what it carries.
func (p *plan) pass(c classifier.Carriage) {
	carrier := name(p.words[0].text)
	own := p.words[1:min(c.Start, len(p.words))]
	switch {
	case carrier == "env" || carrier == "cross-env":
		for _, w := range own {
			p.carriedVariable(w)
		}
		if carrier == "env" {
			// env may have emptied the environment; behind its own words it is safe.
			p.front, p.inEnv = &p.words[c.Start], true
		}
	case clears[carrier]:
		p.front = nil
		for _, w := range own {
			p.carriedVariable(w)
			if w.text == "-E" || w.text == "--preserve-env" {
				p.front = &p.words[0]
			}
		}
		if p.front != nil && p.front.at != 0 {
			p.front = nil
		}
	}
}

func (p *plan) carriedVariable(w word) {
	if n, _, ok := strings.Cut(w.text, "="); ok && n != "" && !strings.HasPrefix(n, "-") {
		p.env = append(p.env, variable{name: n, word: w, whole: true})
	}
}

// clears are the carriers that start what they run with another environment.
// sudo takes NAME=value words, but refuses the whole command where its policy
// does not like the name.
var clears = words("sudo sudo-rs doas pkexec su runuser systemd-run schroot dchroot tmux screen dtach abduco pm2 capsh setpriv unshare nsenter bwrap proot chroot arch-chroot cgexec nix nix-shell guix")

// variables lowers what the command's own variables ask for.
func (p *plan) variables() {
	n := p.r.o.Workers
	for _, v := range p.env {
		switch v.name {
		case "MAKEFLAGS", "GNUMAKEFLAGS", "MAKEOPTS", "MAKE_OPTS", "RUBY_MAKE_OPTS":
			p.lowerIn(v, makeJobs, n, p.r.o.why())
		case "GOFLAGS":
			p.lowerIn(v, goJobs, n, p.r.o.why())
		case "XZ_OPT", "XZ_DEFAULTS":
			p.lowerIn(v, threads, 1, oneWorker)
		case "PYTEST_ADDOPTS":
			p.lowerIn(v, xdistJobs, 0, "no workers")
		case "CARGO_BUILD_JOBS", "CMAKE_BUILD_PARALLEL_LEVEL", "CTEST_PARALLEL_LEVEL", "UV_CONCURRENT_BUILDS":
			p.lowerNumber(v, n, p.r.o.why())
		case "ZSTD_NBTHREADS":
			p.lowerNumber(v, 1, oneWorker)
		}
	}
}

// lowerNumber lowers a variable that is a number.
func (p *plan) lowerNumber(v variable, n int, why string) {
	have, err := strconv.Atoi(v.value())
	if !v.word.known && n == 1 && !strings.ContainsAny(v.value(), " \t\n") {
		have, err = all, nil
	}
	if err != nil || have <= n && have > 0 {
		return
	}
	p.swap(v, strconv.Itoa(n))
	p.said = append(p.said, fmt.Sprintf("%s: %s → %d (%s)", v.name, short(v.value()), n, why))
}

// lowerIn lowers an option inside a variable's value.
func (p *plan) lowerIn(v variable, o option, n int, why string) {
	fields := strings.Fields(v.value())
	if len(fields) > 64 {
		return
	}
	q := plan{r: p.r, name: v.name}
	for i, f := range fields {
		q.words = append(q.words, word{text: f, raw: f, at: i, known: v.word.known || !strings.Contains(f, unknown)})
	}
	q.lower(o, 0, len(fields), n, why)
	if len(q.ops) == 0 {
		return
	}
	if len(fields) == 1 && len(q.ops) == 1 && q.ops[0].kind == replaced {
		if _, plain := swapToken(v.word.raw, fields[0], ""); !plain {
			p.swap(v, q.ops[0].words[0])
			p.said = append(p.said, q.said...)
			return
		}
	}
	raw := v.word.raw
	for _, o := range q.ops {
		old, next := o.w.text, strings.Join(o.words, " ")
		if o.kind == after {
			next = old + " " + next
		}
		var ok bool
		if raw, ok = swapToken(raw, old, next); !ok {
			return
		}
	}
	p.ops = append(p.ops, op{swapped, v.word, []string{raw}})
	p.said = append(p.said, q.said...)
}

// swap puts another value in the place of a variable's whole one.
func (p *plan) swap(v variable, value string) {
	if v.whole {
		p.change(v.word, v.name+"="+value)
		return
	}
	p.change(v.word, value)
}

// swapToken replaces old, which must stand there exactly once between blanks,
// quotes or the ends.
func swapToken(raw, old, next string) (string, bool) {
	at := -1
	for i := 0; i+len(old) <= len(raw); i++ {
		if raw[i:i+len(old)] != old || i > 0 && !ends(raw[i-1]) || i+len(old) < len(raw) && !ends(raw[i+len(old)]) {
			continue
		}
		if at >= 0 {
			return raw, false
		}
		at = i
	}
	if at < 0 {
		return raw, false
	}
	return raw[:at] + next + raw[at+len(old):], true
}

func ends(c byte) bool { return c == ' ' || c == '\t' || c == '\'' || c == '"' || c == '=' }

// set is the value of a variable that the command will see: its own, or that of
// the environment. One that the line exports is rewritten where it stands.
func (p *plan) set(name string) (string, bool) {
	for _, v := range p.env {
		if v.name == name {
			return v.value(), true
		}
	}
	if p.r.exported[name] {
		return "", false
	}
	return p.r.o.Env(name)
}

// short bounds a word that is shown.
func short(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
