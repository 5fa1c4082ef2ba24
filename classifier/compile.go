package classifier

import (
	"fmt"
	"strings"
)

// program is everything known of one program name.
type program struct {
	rules    []*rule
	carriers []*carrier
	interp   *interpreter
	grammar  *grammar
	compiler bool // may have a target before its name
}

type rule struct {
	Rule
	paths       []string
	subs        map[string]struct{} // one-word subcommands without a "*"
	subWords    [][]string          // the others: several words, or patterns
	anySub      bool
	except      []string
	bare        bool
	flags       *flagSet
	withFlags   *flagSet
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

// add compiles the tables of one file into s. Rules keep the order of the
// files: the first that matches decides.
func (s *Set) add(file string, data []byte) error {
	t, err := parseFile(file, data)
	if err != nil {
		return err
	}
	s.families = append(s.families, t.Families...)
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
	for _, a := range t.Aliases {
		s.addAlias(a)
	}
	for i := range t.Interpreters {
		s.addInterpreter(&t.Interpreters[i])
	}
	at := tableLines(data, "carrier")
	for i := range t.Carriers {
		if err := s.addCarrier(&t.Carriers[i]); err != nil {
			return fmt.Errorf("%s:%d: %w", file, at[i], err)
		}
	}
	at = tableLines(data, "rule")
	for i := range t.Rules {
		if err := s.addRule(&t.Rules[i], fmt.Sprintf("built in: %s:%d", file, at[i])); err != nil {
			return fmt.Errorf("%s:%d: %w", file, at[i], err)
		}
	}
	return nil
}

func (s *Set) program(name string) *program {
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

func (s *Set) addAlias(a aliasTable) {
	for _, m := range a.Modules {
		s.modules[m] = a.Program
	}
	for _, c := range a.Classes {
		s.classes = append(s.classes, [2]string{c, a.Program})
	}
	for _, sc := range a.Scripts {
		s.scripts = append(s.scripts, [2]string{sc, a.Program})
	}
	for _, c := range a.Code {
		s.code = append(s.code, [2]string{c, a.Program})
	}
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

func (s *Set) addCarrier(t *carrierTable) error {
	c := &carrier{
		g:    grammar{values: set(t.Values), cluster: t.Cluster, shortValues: t.ShortValues},
		skip: t.Skip, assign: t.Assignments, line: newFlagSet(t.Line), rest: t.Rest,
		after: t.After, until: t.Until, nothing: newFlagSet(t.Nothing), as: t.As, captures: t.Captures, appends: t.Appends,
	}
	switch c.rest {
	case "", "argv", "line", "lines", "either", "none":
	default:
		return fmt.Errorf("rest %q is not known, want argv, line, lines, either or none", c.rest)
	}
	for _, k := range t.Kind {
		c.kind |= kindWords[k]
	}
	for _, sub := range t.Subcommands {
		c.subs = append(c.subs, strings.Fields(sub))
	}
	for _, name := range t.Programs {
		p := s.program(name)
		p.carriers = append(p.carriers, c)
	}
	return nil
}

func (s *Set) addRule(t *ruleTable, source string) error {
	if t.ID == "" {
		return fmt.Errorf("a rule has no id")
	}
	if s.ids[t.ID] {
		return fmt.Errorf("rule id %q is used twice", t.ID)
	}
	s.ids[t.ID] = true
	if s.familyIndex(t.Family) < 0 {
		return fmt.Errorf("rule %q: unknown family %q%s", t.ID, t.Family, suggest(t.Family, s.families))
	}
	if len(t.Programs) == 0 {
		return fmt.Errorf("rule %q names no program", t.ID)
	}
	r := &rule{
		Rule: Rule{ID: t.ID, Family: t.Family, Class: Heavy, Programs: t.Programs,
			Source: source, WeightMB: t.WeightMB, Remedy: t.Remedy},
		paths: t.Paths, except: t.Except, bare: t.Bare, anySub: len(t.Subcommands) == 0 && !t.Bare,
		flags: newFlagSet(t.Flags), withFlags: newFlagSet(t.WithFlags), operands: t.Operands,
		needOperand: t.NeedOperand, leading: t.Leading, lightOps: t.LightOperands, lightEnv: t.LightEnv,
		reason: t.Reason, lightReason: "only asks, lists or prints",
	}
	switch Class(t.Class) {
	case "", Heavy:
	case Light:
		r.Class = Light
	default:
		return fmt.Errorf("rule %q: class %q is neither heavy nor light", t.ID, t.Class)
	}
	for _, k := range t.Kind {
		bit, ok := kindWords[k]
		if !ok {
			return fmt.Errorf("rule %q: unknown kind %q", t.ID, k)
		}
		r.kind |= bit
	}
	r.Rule.Kind = r.kind
	if r.reason == "" {
		return fmt.Errorf("rule %q has no reason", t.ID)
	}
	for _, sub := range t.Subcommands {
		words := strings.Fields(sub)
		if len(words) == 1 && !strings.Contains(sub, "*") {
			if r.subs == nil {
				r.subs = map[string]struct{}{}
			}
			r.subs[sub] = struct{}{}
			continue
		}
		r.subWords = append(r.subWords, words)
	}
	r.always = r.anySub && r.flags == nil && !r.needOperand && r.operands == nil && r.except == nil
	own := []string(nil)
	if p := s.programs[t.Programs[0]]; p != nil && p.grammar != nil {
		own = p.grammar.light // a tool's own asking options; its table stands before its rules
	}
	common := commonLight
	if t.NoCommon {
		common = nil
	}
	r.light = newFlagSet(common, own, t.LightFlags)
	for _, name := range t.Programs {
		p := s.program(name)
		p.rules = append(p.rules, r)
		p.compiler = p.compiler || r.kind.Has(Compiler)
	}
	s.rules = append(s.rules, r)
	return nil
}

func suggest(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ""
}

func (s *Set) familyIndex(name string) int {
	for i, f := range s.families {
		if f == name {
			return i
		}
	}
	return -1
}
