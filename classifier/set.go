package classifier

import (
	"embed"
	"errors"
	"slices"
	"sync"
)

//go:embed rules/*.toml
var builtinFiles embed.FS

// Options are the owner's own rules and patterns.
type Options struct {
	// Files are tried in their order, before what is built in.
	Files []File
	// Patterns, from the settings: regular expressions (RE2) over a whole
	// command, its words joined by single blanks.
	ExtraHeavy []string // heavy, whatever the rules say
	Exclude    []string // never heavy; wins over ExtraHeavy and over every rule
}

// File is a file of rules as rules/00-words.toml documents it.
type File struct {
	Name string // its path, for people
	Data []byte
}

// Set is a compiled set of rules. It is read-only after New and may be used by
// several goroutines.
type Set struct {
	programs   map[string]*program
	globs      []nameGlob          // patterns of program names, in their order
	globAt     map[string]*program // the same by pattern
	rules      []*rule
	off        []*rule // switched off
	families   []string
	crossWords []string            // parts of a target triplet
	crossNames []string            // targets as the kernel's name map needs them
	pairs      map[string][]string // binary → names that it answers to
	modules    map[string]string   // python module → program
	classes    [][2]string         // pattern of a JVM class → program
	scripts    [][2]string         // part of a script's path → program
	code       [][2]string         // part of inline code → program
	extra      []pattern
	exclude    []pattern
}

var builtin = sync.OnceValues(func() (*Set, error) {
	s, faults := load(nil)
	return s, errors.Join(faults...)
})

// Builtin returns the embedded rules, parsed once a process. A test proves that
// they parse; should they not, it panics.
func Builtin() *Set {
	s, err := builtin()
	if err != nil {
		panic("classifier: the embedded rules do not parse: " + err.Error())
	}
	return s
}

// New returns the embedded rules with the owner's. The set can always be used:
// a file with a fault in it is left out as a whole, a pattern that does not
// compile by itself, and the errors (FileError for files) name all that is
// wrong.
func New(o Options) (*Set, []error) {
	var s *Set
	var faults []error
	if len(o.Files) > 0 {
		s, faults = load(o.Files)
	} else {
		b := *Builtin()
		s = &b
	}
	var wrong []error
	s.extra, wrong = compilePatterns("extra_heavy_patterns", o.ExtraHeavy)
	faults = append(faults, wrong...)
	s.exclude, wrong = compilePatterns("exclude_patterns", o.Exclude)
	return s, append(faults, wrong...)
}

// load compiles the embedded files, in the order of their names, and the
// owner's.
func load(own []File) (*Set, []error) {
	entries, err := builtinFiles.ReadDir("rules")
	if err != nil {
		panic("classifier: the embedded rules cannot be read: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return loadOver(embedded(names...), own)
}

func embedded(names ...string) []*ruleFile {
	var files []*ruleFile
	for _, name := range names {
		data, err := builtinFiles.ReadFile("rules/" + name)
		if err != nil {
			panic("classifier: the embedded rules cannot be read: " + err.Error())
		}
		files = append(files, parseFile(name, data, false))
	}
	return files
}

// loadOver compiles files and the owner's. Those of the owner's with a fault
// are left out, which may show a fault in another one that needed them: so
// often is it done again.
func loadOver(files []*ruleFile, own []File) (*Set, []error) {
	files = slices.Clip(files)
	for _, f := range own {
		files = append(files, parseFile(f.Name, f.Data, true))
	}
	var faults []error
	for {
		s := compile(files)
		left := files[:0:0]
		for _, f := range files {
			faults = append(faults, f.faultsByLine()...)
			if len(f.faults) == 0 || !f.own {
				left = append(left, f)
			}
			f.faults, f.harmless = nil, nil
		}
		if len(left) == len(files) {
			return s, faults
		}
		files = left
	}
}

// compile makes a set of what the files have; their faults say what is wrong.
// The set is of use only if there are none.
func compile(files []*ruleFile) *Set {
	s := &Set{
		programs: map[string]*program{},
		globAt:   map[string]*program{},
		pairs:    map[string][]string{},
		modules:  map[string]string{},
	}
	for _, f := range files {
		s.addFamilies(f)
	}
	names := programNames(files)
	for _, f := range files {
		if f.read {
			f.check(s.families, names)
		}
	}
	slots := orderRules(files)
	if slices.ContainsFunc(files, func(f *ruleFile) bool { return len(f.faults) > 0 }) {
		return s
	}
	for _, f := range files {
		s.addTables(f)
	}
	s.addRules(slots)
	s.inherit(files)
	return s
}

// Argv judges an executed command. It is the hot path: no trace.
func (s *Set) Argv(c Command) Verdict { return s.argv(c, nil) }

// ExplainArgv is Argv with the trace filled.
func (s *Set) ExplainArgv(c Command) Verdict { return s.argv(c, &trace{}) }

func (s *Set) argv(c Command, t *trace) Verdict {
	j := judge{s: s, t: t, look: newProject(c.Cwd, c.Files), atExec: c.AtExec}
	r := j.command(c.Argv, c.Exe)
	if s.extra != nil || s.exclude != nil {
		r = s.applyPatterns(r, t, c.Argv, r.words)
	}
	return s.verdict(r, t)
}

// verdict turns the engine's result into the public answer.
func (s *Set) verdict(r result, t *trace) Verdict {
	v := Verdict{Class: Light, Kind: r.kind, Matched: r.matched, Reason: r.reason}
	if r.heavy {
		v.Class = Heavy
		v.Capture = r.captures && !r.kind.Has(Supervisor)
	}
	if r.rule != nil {
		v.Family, v.Rule, v.Source = r.rule.Family, r.rule.ID, r.rule.Source
		if r.heavy {
			v.WeightMB, v.Remedy = r.rule.WeightMB, r.rule.Remedy
		}
	}
	if t != nil {
		v.Trace = append(t.steps, conclusion(v))
	}
	return v
}

// conclusion is the last step of a trace.
func conclusion(v Verdict) string {
	switch {
	case v.Class == Light:
		return "light: " + v.Reason
	case v.Capture:
		return "heavy: taken at this exec"
	case v.Kind.Has(Supervisor):
		return "heavy, but it supervises others: what it runs is taken, never itself"
	default:
		return "heavy, but not taken at this exec: what it carries execs by itself"
	}
}

// Rules returns the rules in force, in the order in which they are tried.
func (s *Set) Rules() []Rule {
	rules := make([]Rule, len(s.rules))
	for i, r := range s.rules {
		rules[i] = r.Rule
	}
	return rules
}

// Disabled is a rule that a file of the owner's has switched off.
type Disabled struct {
	Rule
	By string `json:"disabled_by"` // file and line
}

// Disabled returns the rules that are switched off.
func (s *Set) Disabled() []Disabled {
	rules := make([]Disabled, len(s.off))
	for i, r := range s.off {
		rules[i] = Disabled{r.Rule, r.disabledAt}
	}
	return rules
}

// Families returns the names of the families; the index is the tag bit.
func (s *Set) Families() []string { return slices.Clone(s.families) }
