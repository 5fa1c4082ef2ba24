package classifier

import (
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// LineVerdict is the answer for a shell line: that of its first heavy command,
// and one for each simple command seen, in order. Capture says whether the line
// runs something that will be captured at its own exec.
type LineVerdict struct {
	Verdict
	Parsed   bool             `json:"parsed"` // false: the line is no bash, its words were looked at one by one
	Commands []CommandVerdict `json:"commands"`
}

// CommandVerdict is one simple command of a line, with its words after the
// shell's quoting; what is known only when it runs stays as it is written.
type CommandVerdict struct {
	Verdict
	Words []string `json:"words"`
}

// maxCommands bounds how many commands of one line are kept for the answer.
// All are judged.
const maxCommands = 256

var parsers = sync.Pool{New: func() any {
	return syntax.NewParser(syntax.Variant(syntax.LangBash))
}}

// Line judges a shell line.
func (s *Set) Line(line string) LineVerdict { return s.LineIn(line, "", nil) }

// LineIn judges a shell line that runs in the directory cwd, an absolute path.
// What `npm run NAME` and its likes start is looked up in the package.json
// there, or where a cd of the line goes; what that cannot tell, the name does.
func (s *Set) LineIn(line, cwd string, files Files) LineVerdict {
	t := &trace{steps: make([]string, 0, 12)} // most lines need no more
	j := judge{s: s, t: t, look: newProject(cwd, files)}
	w := lineWalk{j: &j, keep: true, commands: make([]CommandVerdict, 0, 4)}
	r := w.run(line)
	if s.extra != nil || s.exclude != nil {
		r = s.applyPatterns(r, t, []string{line}, nil)
	}
	if len(w.commands) == 1 && !r.heavy && r.rule == nil {
		r.reason = w.commands[0].Reason // what the only command is says more
	}
	v := LineVerdict{Parsed: !w.fallback, Commands: w.commands}
	v.Verdict = s.verdict(r, t)
	v.Trace[len(v.Trace)-1] = lineConclusion(v.Verdict)
	return v
}

func lineConclusion(v Verdict) string {
	switch {
	case v.Class == Light:
		return "light: nothing in the line is heavy"
	case v.Kind.Has(Supervisor):
		return "heavy, but it supervises others: what it runs is taken, never itself"
	default:
		return "heavy: taken when it execs"
	}
}

// line judges a line inside a command: sh -c LINE. Most such lines hold no word
// that any rule knows, and are not worth a parse.
func (j *judge) line(line string) result {
	if j.depth >= maxDepth {
		return result{reason: "nested deeper than is looked through"}
	}
	if j.atExec && len(line) > maxLineAtExec {
		return result{reason: "the line is longer than is read at an exec"}
	}
	if !j.s.tempting(line) {
		if j.t != nil {
			j.t.add("the line %s: no word of it is known", shown(line))
		}
		return result{reason: "no command of the line is known"}
	}
	// A copy: the walk keeps its judge, which would put every judge on the heap.
	inner := *j
	inner.depth++
	w := lineWalk{j: &inner}
	return w.run(line)
}

// lines judges operands that are a line each: hyperfine 'npm test' 'make'.
func (j *judge) lines(lines []string) result {
	var last result
	for _, l := range lines {
		if last = j.line(l); last.heavy {
			break
		}
	}
	return last
}

// tempting reports whether line holds a word, quotes ignored, that a rule or an
// interpreter knows: the cheap superset of what a parse could find.
func (s *Set) tempting(line string) bool {
	var word [64]byte
	n := 0
	for i := 0; i <= len(line); i++ {
		c := byte(' ')
		if i < len(line) {
			c = line[i]
		}
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '+', c == '.':
			if n < len(word) {
				word[n] = c
			}
			n++
			continue
		case c == '\'', c == '"', c == '\\':
			continue
		}
		if n > 0 && n <= len(word) {
			if p := s.lookup(string(word[:n])); p != nil && (len(p.rules) > 0 || p.interp != nil) {
				return true
			}
		}
		n = 0
	}
	return false
}

// A line may set a variable and put it in often (A=$A$A, again and again): the
// values that are put in are bounded, one by one and together.
const (
	maxVar  = 1 << 10
	maxRoom = 64 << 10
)

// lineWalk is the walk over one line.
type lineWalk struct {
	j        *judge
	keep     bool // the commands are wanted
	commands []CommandVerdict
	best     result
	fallback bool
	funcs    map[string]*function
	params   []string // of the function that is walked
	vars     map[string]string
	room     int         // bytes of variables that may still be put in
	again    int         // bytes of functions that may still be walked once more
	inside   syntax.Node // the part of the line that scoped has entered
}

// run judges line and returns its first heavy command.
func (w *lineWalk) run(line string) result {
	w.best = result{reason: "no command of the line is known"}
	w.room, w.again = maxRoom, maxRoom
	if tooDeep(line) {
		w.words(line, "is too long, or nests too deeply, to be parsed")
		return w.best
	}
	p := parsers.Get().(*syntax.Parser)
	f, err := p.Parse(strings.NewReader(line), "")
	if err != nil && strings.Contains(line, "${{") {
		f, err = p.Parse(strings.NewReader(withoutTemplates(line)), "")
	}
	parsers.Put(p)
	if err != nil {
		w.words(line, "is not bash")
		return w.best
	}
	w.walk(f)
	return w.best
}

// walk visits a tree. A function's body counts when it is called.
func (w *lineWalk) walk(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if w.j.look != nil && n != nil && w.scoped(n) {
			return false
		}
		switch n := n.(type) {
		case *syntax.FuncDecl:
			w.define(n)
			return false
		case *syntax.Stmt:
			w.redirected(n)
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				w.piped(n)
			}
		case *syntax.CallExpr:
			w.call(n)
		}
		return true
	})
}

// call judges a simple command, or notes a line's own variables.
func (w *lineWalk) call(c *syntax.CallExpr) {
	mark := len(w.j.env)
	for _, a := range c.Assigns {
		if a.Name == nil || a.Value == nil {
			continue
		}
		text := w.text(a.Value)
		if len(c.Args) == 0 {
			if w.vars == nil {
				w.vars = map[string]string{}
			}
			if len(text) <= maxVar {
				w.vars[a.Name.Value] = text
			}
		} else {
			w.j.env = append(w.j.env, a.Name.Value+"="+text)
		}
	}
	if words := w.expand(c.Args); len(words) > 0 {
		w.judge(words)
	}
	w.j.env = w.j.env[:mark]
}

// judge judges the words of a simple command.
func (w *lineWalk) judge(words []string) {
	if f := w.funcs[words[0]]; f != nil {
		w.enter(f, words[1:])
		return
	}
	if words[0] == "shift" && len(w.params) > 0 {
		w.params = w.params[1:]
	}
	if c := words[0]; len(c) > 1 && (c[0] == '$' || c[0] == '{') {
		words = w.guess(words)
	}
	if w.j.look != nil {
		w.j.look.moved(words)
	}
	var r result
	if rest, isLine := builtinCarries(words); isLine {
		r = w.j.line(strings.Join(rest, " "))
	} else if rest != nil {
		r = w.j.command(rest, "")
	} else {
		r = w.j.command(words, "")
	}
	w.note(words, r)
}

// note keeps a command's answer.
func (w *lineWalk) note(words []string, r result) {
	if w.j.s.extra != nil || w.j.s.exclude != nil {
		r = w.j.s.applyPatterns(r, w.j.t, words, r.words)
	}
	if w.j.look != nil {
		w.j.look.seen(w.j.s, r)
	}
	// On a line, what a carrier runs will be captured at its own exec.
	r.captures = r.heavy
	if r.heavy && !w.best.heavy || !w.best.heavy && w.best.rule == nil && r.rule != nil {
		w.best = r
	}
	if w.keep && len(w.commands) < maxCommands {
		w.commands = append(w.commands, CommandVerdict{Verdict: w.j.s.verdict(r, nil), Words: words})
	}
}

// builtinCarries unwraps the shell's own words that run others.
func builtinCarries(words []string) (rest []string, isLine bool) {
	switch words[0] {
	case "eval":
		return words[1:], true
	case "trap": // what runs at the end runs
		if n := len(words); n > 2 && (words[n-1] == "EXIT" || words[n-1] == "0") {
			return words[1:2], true
		}
	case ".", "source":
		if len(words) > 1 && base(words[1]) == "piped-installer" {
			return words[1:2], false
		}
	case "exec", "command", "builtin":
		rest = words[1:]
		for len(rest) > 0 && len(rest[0]) > 1 && rest[0][0] == '-' {
			switch {
			case words[0] == "command" && strings.ContainsAny(rest[0], "vV"):
				return []string{"command"}, false // asks where it is
			case words[0] == "exec" && rest[0] == "-a" && len(rest) > 1:
				rest = rest[2:]
			default:
				rest = rest[1:]
			}
		}
		if len(rest) == 0 {
			return []string{words[0]}, false
		}
		return rest, false
	}
	return nil, false
}
