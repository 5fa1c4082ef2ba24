package classifier

import (
	"embed"
	"fmt"
	"slices"
	"sync"
)

//go:embed rules/*.toml
var builtinFiles embed.FS

// Options are the owner's own patterns, from the settings. Each is a regular
// expression (RE2) over a whole command, its words joined by single blanks.
type Options struct {
	ExtraHeavy []string // heavy, whatever the rules say
	Exclude    []string // never heavy; wins over ExtraHeavy and over every rule
}

// Set is a compiled set of rules. It is read-only after New and may be used by
// several goroutines.
type Set struct {
	programs   map[string]*program
	rules      []*rule
	ids        map[string]bool
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

var builtin = sync.OnceValues(func() (*Set, error) { return load(nil) })

// Builtin returns the embedded rules, parsed once a process. A test proves that
// they parse; should they not, it panics.
func Builtin() *Set {
	s, err := builtin()
	if err != nil {
		panic("classifier: the embedded rules do not parse: " + err.Error())
	}
	return s
}

// New returns the embedded rules with the owner's patterns. The error names
// the pattern that does not compile.
func New(o Options) (*Set, error) {
	b, err := builtin()
	if err != nil {
		return nil, err
	}
	s := *b
	if s.extra, err = compilePatterns("extra_heavy_patterns", o.ExtraHeavy); err != nil {
		return nil, err
	}
	if s.exclude, err = compilePatterns("exclude_patterns", o.Exclude); err != nil {
		return nil, err
	}
	return &s, nil
}

// load compiles the embedded files, in the order of their names, and then more.
func load(more map[string][]byte) (*Set, error) {
	s := &Set{
		programs: map[string]*program{},
		ids:      map[string]bool{},
		pairs:    map[string][]string{},
		modules:  map[string]string{},
	}
	entries, err := builtinFiles.ReadDir("rules")
	if err != nil {
		return nil, fmt.Errorf("read the embedded rules: %w", err)
	}
	for _, e := range entries {
		data, err := builtinFiles.ReadFile("rules/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("read the embedded rules: %w", err)
		}
		if err := s.add(e.Name(), data); err != nil {
			return nil, err
		}
	}
	for name, data := range more {
		if err := s.add(name, data); err != nil {
			return nil, err
		}
	}
	return s, nil
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

// Families returns the names of the families; the index is the tag bit.
func (s *Set) Families() []string { return slices.Clone(s.families) }
