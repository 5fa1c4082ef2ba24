package classifier

import (
	"slices"
	"strings"
)

// program is everything known of one program name.
type program struct {
	rules    []*rule // in the order in which they are tried
	own      int     // how many of them, at the front, stand before what is built in
	off      []*rule // switched off; only a trace asks for them
	carriers []*carrier
	interp   *interpreter
	grammar  *grammar
	compiler bool // may have a target before its name
}

type rule struct {
	Rule
	seq         int // its place among all rules
	front       bool
	disabledAt  string              // file:line, "" in force
	paths       []string            // see ruleTable for these
	subs        map[string]struct{} // one-word subcommands without a "*"
	subWords    [][]string          // the others: several words, or patterns
	anySub      bool
	except      []string
	bare        bool
	flags       *flagSet
	withFlags   *flagSet
	flagWords   string // the two in words, for a trace
	withWords   string
	operands    []string
	needOperand bool
	leading     bool
	light       *flagSet
	lightOps    []string
	lightEnv    []string
	kind        Kind
	reason      string
	lightReason string
	always      bool // the name alone decides
}

type carrier struct {
	own      bool // the owner's: if it applies, it decides
	subs     [][]string
	g        grammar
	skip     int
	assign   bool
	line     *flagSet
	rest     string
	after    []string
	until    []string
	nothing  *flagSet
	as       []string
	captures bool
	appends  bool
	where    string // in another place than this machine's shell: "in a container"
	kind     Kind
}

type interpreter struct {
	language string
	shell    bool
	g        grammar
	code     *flagSet
	module   *flagSet
	jar      *flagSet
	asks     *flagSet
}

// commonLight are the options that only ask, whatever the program.
var commonLight = []string{"--version", "--help", "-help", "-version"}

// addTables compiles everything of a file but its rules, which need all of it.
func (s *Set) addTables(f *ruleFile) {
	t := &f.tables
	s.crossWords = append(s.crossWords, t.CrossWords...)
	s.crossNames = append(s.crossNames, t.CrossNames...)
	for _, p := range t.Pairs {
		for _, exe := range p.Exe {
			s.pairs[exe] = append(s.pairs[exe], p.As...)
		}
	}
	for i := range t.Tools {
		s.addTool(&t.Tools[i])
	}
	for i := range t.Interpreters {
		s.addInterpreter(&t.Interpreters[i])
	}
	for i := range t.Carriers {
		s.addCarrier(&t.Carriers[i], f.own)
	}
	s.addAliases(t.Aliases, f.own)
	for i := range t.Rules {
		for _, name := range t.Rules[i].Programs {
			s.program(name)
		}
	}
}

// program is the entry of a name, or of a pattern of names.
func (s *Set) program(name string) *program {
	if strings.Contains(name, "*") {
		p := s.globAt[name]
		if p == nil {
			p = &program{}
			s.globAt[name] = p
			s.globs = append(s.globs, nameGlob{name, p})
		}
		return p
	}
	p := s.programs[name]
	if p == nil {
		p = &program{}
		s.programs[name] = p
	}
	return p
}

func set(words []string) map[string]struct{} {
	if len(words) == 0 {
		return nil
	}
	m := make(map[string]struct{}, len(words))
	for _, w := range words {
		m[w] = struct{}{}
	}
	return m
}

func (s *Set) addTool(t *toolTable) {
	g := &grammar{
		values: set(t.Values), noValues: set(t.NoValues), allValues: t.AllValues,
		cluster: t.Cluster, shortValues: t.ShortValues, oldStyle: t.OldStyle,
		assignments: t.Assignments, marks: t.Marks, light: t.Light,
	}
	for _, name := range t.Programs {
		s.program(name).grammar = g
	}
}

// addAliases puts the owner's in front of what is built in: of classes,
// scripts and code the first that fits decides.
func (s *Set) addAliases(aliases []aliasTable, own bool) {
	var classes, scripts, code [][2]string
	for _, a := range aliases {
		for _, m := range a.Modules {
			s.modules[m] = a.Program
		}
		for _, c := range a.Classes {
			classes = append(classes, [2]string{c, a.Program})
		}
		for _, sc := range a.Scripts {
			scripts = append(scripts, [2]string{sc, a.Program})
		}
		for _, c := range a.Code {
			code = append(code, [2]string{c, a.Program})
		}
	}
	if own {
		s.classes, s.scripts, s.code = append(classes, s.classes...), append(scripts, s.scripts...), append(code, s.code...)
		return
	}
	s.classes, s.scripts, s.code = append(s.classes, classes...), append(s.scripts, scripts...), append(s.code, code...)
}

func (s *Set) addInterpreter(t *interpreterTable) {
	in := &interpreter{
		language: t.Language,
		shell:    t.Language == "shell",
		g:        grammar{values: set(t.Values), cluster: t.Cluster, shortValues: t.ShortValues, marks: t.Marks},
		code:     newFlagSet(t.Code),
		module:   newFlagSet(t.Module),
		jar:      newFlagSet(t.Jar),
		asks:     newFlagSet(commonLight, t.Asks),
	}
	for _, name := range t.Programs {
		p := s.program(name)
		p.interp, p.grammar = in, &in.g
	}
}

func (s *Set) addCarrier(t *carrierTable, own bool) {
	c := &carrier{
		own:  own,
		g:    grammar{values: set(t.Values), cluster: t.Cluster, shortValues: t.ShortValues},
		skip: t.Skip, assign: t.Assignments, line: newFlagSet(t.Line), rest: t.Rest,
		after: t.After, until: t.Until, nothing: newFlagSet(t.Nothing), as: t.As, captures: t.Captures, appends: t.Appends, where: t.Where,
	}
	for _, k := range t.Kind {
		c.kind |= kindWords[k]
	}
	for _, sub := range t.Subcommands {
		c.subs = append(c.subs, strings.Fields(sub))
	}
	for _, name := range t.Programs {
		p := s.program(name)
		at := len(p.carriers)
		if own {
			at = 0
			for at < len(p.carriers) && p.carriers[at].own {
				at++
			}
		}
		p.carriers = slices.Insert(p.carriers, at, c)
	}
}
