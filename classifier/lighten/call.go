package lighten

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/headroomd/headroomd/classifier"
)

// maxCarriers bounds how many carriers are looked through, as the classifier's
// own bound does.
const maxCarriers = 12

// call rewrites a simple command.
func (r *rewrite) call(s *source, n *syntax.CallExpr) {
	if len(n.Args) > 4096 {
		return
	}
	words := make([]word, len(n.Args))
	for i, a := range n.Args {
		words[i] = s.word(a, i)
	}
	if s.broken || !words[0].known || s.funcs[words[0].text] {
		return
	}
	p := &plan{r: r, src: s, words: words, front: &words[0]}
	for _, a := range n.Assigns {
		if v, ok := s.variable(a); ok {
			p.env = append(p.env, v)
		}
	}
	if s.broken {
		return
	}
	p.reach()
	p.commit()
}

// reach follows what carries the command to the command itself, and has that
// rewritten.
func (p *plan) reach() {
	p.builtins()
	for range maxCarriers {
		if len(p.words) == 0 || !p.heavy(p.words, p.program) {
			return
		}
		p.nodeFlags()
		if !p.step() {
			return
		}
		if p.done {
			break
		}
	}
	if len(p.words) == 0 {
		return
	}
	p.name = p.program
	if p.name == "" {
		p.name = name(p.words[0].text)
	}
	p.variables()
	if tool := tools[p.name]; tool != nil {
		tool(p)
	}
	p.heap()
}

// builtins takes off what the shell itself runs others with. `eval` of one
// quoted word is a line.
func (p *plan) builtins() {
	for len(p.words) > 1 {
		switch p.words[0].text {
		case "command", "builtin", "exec":
			if strings.HasPrefix(p.words[1].text, "-") {
				p.words = nil // options, some of which run nothing
				return
			}
			p.words = p.words[1:]
		case "eval":
			rest := p.words[1:]
			if len(rest) == 1 {
				p.nested(rest[0])
				p.words = nil
				return
			}
			if p.words = rest; !plainWords(rest) {
				p.words = nil
			}
		default:
			return
		}
	}
}

// step goes one carrier further, towards what makes the command heavy. done is
// set when there is no further one; false means that there is nothing to do.
func (p *plan) step() bool {
	if elsewhere[name(p.words[0].text)] {
		return false // another machine's or container's memory
	}
	for _, c := range p.r.set.Carried(p.texts(p.words, p.program)) {
		if len(c.Lines) > 0 {
			for _, i := range c.Lines {
				p.nested(p.words[i])
			}
			return false
		}
		next := p.words[c.Start:c.End]
		if c.Joined && !plainWords(next) {
			return false
		}
		if len(c.As) > 0 {
			with := make([]word, 0, len(c.As)+len(next))
			for _, as := range c.As {
				with = append(with, word{text: as, known: true, at: -1})
			}
			next = append(with, next...)
		}
		if c.Appends {
			next = append(next[:len(next):len(next)], word{text: unknown, at: -1})
		}
		if !p.heavy(next, c.Program) {
			// npx jest@29: the classifier knows jest alone.
			if c.Program = name(next[0].text); !strings.Contains(next[0].text, "@") || !p.heavy(next, c.Program) {
				continue
			}
		}
		p.pass(c)
		p.words, p.program = next, c.Program
		return true
	}
	p.done = true
	return true
}

// nested rewrites a word that is a line of its own.
func (p *plan) nested(w word) {
	if p.src == nil {
		if res := Line(p.r.set, w.text, p.r.o); res.Changes != nil && w.at >= 0 {
			p.ops = append(p.ops, op{kind: replaced, w: w, words: []string{res.Line}})
			p.said = append(p.said, res.Changes...)
		}
		return
	}
	if w.inner.ok && !strings.Contains(p.src.banned, w.inner.quote) {
		p.r.line(w.text, w.inner.pos, p.src.banned+w.inner.quote, p.src.depth+1)
	}
}

// heredocs rewrites a here-document or here-string that a shell reads its
// commands from, if each byte of it stands for itself.
func (r *rewrite) heredocs(s *source, n *syntax.Stmt) {
	call, ok := n.Cmd.(*syntax.CallExpr)
	if !ok || len(n.Redirs) == 0 || len(call.Args) == 0 || len(call.Args) > 64 {
		return
	}
	for _, redir := range n.Redirs {
		if redir.Op == syntax.WordHdoc && redir.Word != nil && r.readsCommands(s, call) {
			w := s.word(redir.Word, 0)
			if w.inner.ok && !strings.Contains(s.banned, w.inner.quote) {
				r.line(w.text, w.inner.pos, s.banned+w.inner.quote, s.depth+1)
			}
			continue
		}
		if redir.Op != syntax.Hdoc || redir.Hdoc == nil {
			continue
		}
		body, ok := onlyLit(redir.Hdoc)
		if !ok || !r.readsCommands(s, call) {
			continue
		}
		quoted := false
		for _, part := range redir.Word.Parts {
			if _, plain := part.(*syntax.Lit); !plain {
				quoted = true
			}
		}
		at := int(redir.Hdoc.Pos().Offset())
		if !quoted && strings.Contains(body, `\`) || at+len(body) > len(s.text) || s.text[at:at+len(body)] != body {
			continue
		}
		banned := s.banned
		if !quoted {
			banned += "$"
		}
		r.line(body, s.base+at, banned, s.depth+1)
	}
}

// readsCommands reports whether the call ends in a shell with neither a line
// nor a script.
func (r *rewrite) readsCommands(s *source, call *syntax.CallExpr) bool {
	texts := make([]string, len(call.Args))
	for i, a := range call.Args {
		texts[i] = s.word(a, i).text
	}
	for range maxCarriers {
		switch name(texts[0]) {
		case "sh", "bash", "dash", "zsh", "ksh", "ash":
			for _, t := range texts[1:] {
				if t == "-s" {
					return true
				}
				if !strings.HasPrefix(t, "-") || strings.HasPrefix(t, "--") || strings.Contains(t, "c") {
					return false
				}
			}
			return true
		}
		carried := r.set.Carried(texts)
		if elsewhere[name(texts[0])] || len(carried) != 1 || carried[0].End == 0 || carried[0].Joined {
			return false
		}
		texts = texts[carried[0].Start:carried[0].End]
	}
	return false
}

// heavy asks the classifier about words.
func (p *plan) heavy(words []word, program string) bool {
	return p.r.set.Argv(p.asked(p.texts(words, program))).Class == classifier.Heavy
}

func (p *plan) texts(words []word, program string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	if program != "" && len(out) > 0 {
		out[0] = program
	}
	return out
}

// plainWords reports whether words say the same to a second shell.
func plainWords(words []word) bool {
	for _, w := range words {
		if !w.known || strings.ContainsFunc(w.text, func(c rune) bool { return !safe(c) }) {
			return false
		}
	}
	return true
}

// name is the last part of a program's path, without .exe and without the
// version that npx takes behind an "@".
func name(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 && i+1 < len(path) {
		path = path[i+1:]
	}
	if i := strings.IndexByte(path, '@'); i > 0 {
		path = path[:i]
	}
	return strings.TrimSuffix(path, ".exe")
}

// elsewhere are carriers whose command takes another machine's memory, or that
// of a container with limits of its own.
var elsewhere = words("ssh docker podman nerdctl docker-compose podman-compose lxc incus multipass machinectl devcontainer systemd-nspawn distrobox toolbox waydroid flatpak-spawn host-spawn kubectl apptainer")

// words is a set of words.
func words(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}
