package classifier

import "strings"

// maxArgs bounds how many arguments are looked at. A linker's command line has
// thousands of object files; what decides stands at its beginning.
const maxArgs = 192

// argKind says what one argument is to its program.
type argKind uint8

const (
	operand argKind = iota
	option
	value    // of the option before it
	trailing // after "--"
	opaque   // an unquoted expansion of a shell line: any number of words, or none
)

// grammar is how a program reads its options.
type grammar struct {
	values      map[string]struct{}
	noValues    map[string]struct{}
	allValues   bool // every option takes a value but those in noValues (ffmpeg)
	cluster     bool // -xvf is -x -v -f
	shortValues string
	oldStyle    bool // the first word is a cluster without a dash (tar xvf)
	assignments bool // NAME=value words are settings, not operands
	marks       string
	light       []string
}

// parsed is an argument list with the kind of each argument.
type parsed struct {
	args  []string
	kinds [maxArgs]argKind
	g     *grammar
}

// parse sets the kinds of args. stop ends the parse at the first operand: what
// follows belongs to a script or to another command.
func (p *parsed) parse(args []string, g *grammar, stop bool) {
	if len(args) > maxArgs {
		args = args[:maxArgs]
	}
	p.args, p.g = args, g
	rest := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case rest:
			p.kinds[i] = trailing
		case a == "--":
			p.kinds[i] = option
			rest = true
		case len(a) > 1 && a[0] == '-':
			p.kinds[i] = option
			if g.takesValue(a) && i+1 < len(args) {
				i++
				p.kinds[i] = value
			}
		case len(a) > 1 && a[0] == '$':
			p.kinds[i] = opaque
		case i == 0 && g.oldStyle:
			p.kinds[i] = option
		case len(a) > 0 && g.marks != "" && strings.IndexByte(g.marks, a[0]) >= 0,
			g.assignments && isAssignment(a):
			p.kinds[i] = option
			if len(a) == 2 && a[0] == '+' && g.takesValue(a) && i+1 < len(args) {
				i++
				p.kinds[i] = value
			}
		default:
			p.kinds[i] = operand
			if stop {
				p.args = args[:i+1]
				return
			}
		}
	}
}

// takesValue reports whether the next word belongs to the option a.
func (g *grammar) takesValue(a string) bool {
	if g.allValues {
		_, none := g.noValues[a]
		return !none
	}
	if _, ok := g.values[a]; ok {
		return true
	}
	if g.cluster && a[1] != '-' {
		for j := 1; j < len(a); j++ {
			if strings.IndexByte(g.shortValues, a[j]) >= 0 {
				return j == len(a)-1
			}
		}
	}
	return false
}

// has reports the first option in f among those before limit, or -1.
func (p *parsed) has(f *flagSet, limit int) int {
	if f == nil {
		return -1
	}
	for i, a := range p.args[:min(limit, len(p.args))] {
		if p.kinds[i] != option {
			continue
		}
		if f.has(a) {
			return i
		}
		for _, pair := range f.pairs {
			if a == pair[0] && i+1 < len(p.args) && glob(pair[1], p.args[i+1]) {
				return i
			}
		}
		if p.g.cluster && (len(a) > 2 && a[0] == '-' && a[1] != '-' || p.g.oldStyle && i == 0) && p.clusterHas(a, f) {
			return i
		}
	}
	return -1
}

// asks reports the first option that only asks, or -1. -v and -V mean "verbose"
// to one program and "version" to the next: they ask only when they stand
// alone. -h asks only when nothing but a subcommand stands beside it.
func (p *parsed) asks(f *flagSet, limit, sub int) int {
	i := p.has(f, limit)
	if i < 0 {
		return -1
	}
	switch p.args[i] {
	case "-v", "-V":
		if len(p.args) > 1 {
			return -1
		}
	case "-h":
		if p.next(sub) >= 0 {
			return -1
		}
	}
	return i
}

// clusterHas looks for a one-letter option of f inside the cluster a.
func (p *parsed) clusterHas(a string, f *flagSet) bool {
	for j := 0; j < len(a); j++ {
		c := a[j]
		if c == '-' {
			continue
		}
		if c < 128 && f.letters[c] {
			return true
		}
		if strings.IndexByte(p.g.shortValues, c) >= 0 && !p.g.oldStyle {
			return false
		}
	}
	return false
}

// next returns the index of the first operand from i on, or -1. After "--"
// everything is an operand.
func (p *parsed) next(i int) int {
	for ; i < len(p.args); i++ {
		if k := p.kinds[i]; k == operand || k == trailing {
			return i
		}
	}
	return -1
}

// isAssignment reports whether word is NAME=value with a shell's NAME.
func isAssignment(word string) bool {
	i := strings.IndexByte(word, '=')
	if i <= 0 {
		return false
	}
	if word[i-1] == '+' || word[i-1] == ':' || word[i-1] == '?' { // make's FLAGS+=x
		i--
	}
	for j := 0; j < i; j++ {
		c := word[j]
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (j == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return i > 0
}
