package lighten

import (
	"slices"
	"sort"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/headroomd/headroomd/classifier"
)

// Result is a line made lighter.
type Result struct {
	Line    string   // the line given, where nothing was changed
	Changes []string // one for each kind of change, in words; nil when nothing was changed
	Edits   []Edit   // of the line given, in order, without overlap
}

// Edit replaces the bytes from Start to End by Text.
type Edit struct {
	Start, End int
	Text       string
}

// maxLine is the longest argument that the kernel hands to a program, so that no
// shell is given a longer line (MAX_ARG_STRLEN, 32 pages of 4 KB).
const maxLine = 128 << 10

// maxDepth bounds how many lines within lines are rewritten. A quote inside the
// other quote is the second; there is no third without a backslash.
const maxDepth = 4

var parsers = sync.Pool{New: func() any {
	return syntax.NewParser(syntax.Variant(syntax.LangBash))
}}

// Line rewrites a heavy shell line of bash. A line that is light, that does not
// parse, or that is longer than a shell can be given comes back as it is.
func Line(set *classifier.Set, line string, o Options) Result {
	same := Result{Line: line}
	if len(line) > maxLine {
		return same
	}
	before := set.LineIn(line, o.Dir, o.Files)
	if before.Class != classifier.Heavy || !before.Parsed {
		return same
	}
	r := rewrite{set: set, o: o.resolve()}
	r.line(line, 0, "", 0)
	if len(r.edits) == 0 {
		return same
	}
	out, ok := apply(line, r.edits)
	if !ok {
		return same
	}
	if !alike(before, set.LineIn(out, o.Dir, o.Files)) {
		return same
	}
	return Result{Line: out, Changes: r.changes, Edits: r.edits}
}

// manyCommands is below the number of commands that the classifier keeps of one
// line. Of longer lines only the beginning can be compared.
const manyCommands = 200

// alike reports whether the same heavy commands run by the same rules. Light
// ones may go: $(nproc) becomes a number.
func alike(before, after classifier.LineVerdict) bool {
	if !after.Parsed || after.Class != before.Class || after.Rule != before.Rule {
		return false
	}
	heavy := func(v classifier.LineVerdict) (rules []string) {
		for _, c := range v.Commands {
			if c.Class == classifier.Heavy {
				rules = append(rules, c.Rule)
			}
		}
		return rules
	}
	a, b := heavy(before), heavy(after)
	if len(before.Commands) >= manyCommands {
		n := min(len(a), len(b))
		a, b = a[:n], b[:n]
	}
	return slices.Equal(a, b)
}

// apply sorts edits and makes them. ok is false when two of them overlap.
func apply(line string, edits []Edit) (string, bool) {
	sort.SliceStable(edits, func(i, j int) bool {
		if edits[i].Start != edits[j].Start {
			return edits[i].Start < edits[j].Start
		}
		return edits[i].End < edits[j].End
	})
	var b strings.Builder
	at := 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(line) {
			return line, false
		}
		b.WriteString(line[at:e.Start])
		b.WriteString(e.Text)
		at = e.End
	}
	b.WriteString(line[at:])
	return b.String(), true
}

// rewrite is what one line, with the lines inside it, is turned into.
type rewrite struct {
	set      *classifier.Set
	o        Options
	edits    []Edit
	changes  []string
	said     map[string]bool
	exported map[string]bool // variables that the line sets for all its commands
	ninja    bool            // the line configures for Ninja
	project  project
}

// say keeps a change, once.
func (r *rewrite) say(change string) {
	if r.said[change] {
		return
	}
	if r.said == nil {
		r.said = map[string]bool{}
	}
	r.said[change] = true
	r.changes = append(r.changes, change)
}

// source is one shell text: the line, or a line that stands inside a word.
type source struct {
	text   string
	base   int    // of its first byte in the whole line
	banned string // quotes around it
	depth  int
	o      *Options
	vars   map[string]*syntax.Word // set exactly once; nil for what is set more often
	funcs  map[string]bool
	dir    string // where a `cd` at the beginning leads
	lost   bool   // where it leads is not known
	broken bool   // the offsets of the command at hand are not to be trusted
}

// line rewrites the text that begins at base. Text that does not parse is left.
func (r *rewrite) line(text string, base int, banned string, depth int) {
	if depth > maxDepth || depth > 0 && !r.set.Line(text).Parsed {
		return
	}
	p := parsers.Get().(*syntax.Parser)
	f, err := p.Parse(strings.NewReader(text), "")
	parsers.Put(p)
	if err != nil {
		return
	}
	s := &source{text: text, base: base, banned: banned, depth: depth, o: &r.o}
	r.survey(s, f)
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			s.broken = false
			if len(n.Args) == 0 {
				r.assigns(s, n.Assigns)
			} else {
				r.call(s, n)
			}
		case *syntax.DeclClause:
			s.broken = false
			r.assigns(s, n.Args)
		case *syntax.Stmt:
			r.heredocs(s, n)
		}
		return true
	})
}

// survey notes what holds for the whole text: functions, variables and cd.
func (r *rewrite) survey(s *source, f *syntax.File) {
	s.vars, s.funcs = map[string]*syntax.Word{}, map[string]bool{}
	if r.exported == nil {
		r.exported = map[string]bool{}
	}
	set := func(name string, value *syntax.Word) {
		if _, again := s.vars[name]; again {
			value = nil
		}
		s.vars[name] = value
	}
	assigned := func(all []*syntax.Assign) {
		for _, a := range all {
			if a.Name == nil {
				continue
			}
			value := a.Value
			if a.Append || a.Naked || a.Array != nil || a.Index != nil {
				value = nil
			}
			set(a.Name.Value, value)
			if !a.Naked {
				r.exported[a.Name.Value] = true
			}
		}
	}
	cds := 0
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			if n.Name != nil {
				s.funcs[n.Name.Value] = true
			}
		case *syntax.WordIter:
			set(n.Name.Value, nil)
		case *syntax.DeclClause:
			assigned(n.Args)
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				assigned(n.Assigns)
				break
			}
			for _, a := range n.Assigns {
				if a.Name != nil {
					set(a.Name.Value, nil) // for that command only, and not in its own words
				}
			}
			switch n.Args[0].Lit() {
			case "read", "mapfile", "readarray", "getopts", "let", "unset":
				for _, a := range n.Args[1:] {
					set(a.Lit(), nil)
				}
			case "cd", "pushd", "popd":
				cds++
				if len(n.Args) == 2 {
					s.dir = n.Args[1].Lit()
				}
			case "cmake":
				for _, a := range n.Args[1:] {
					r.ninja = r.ninja || strings.Contains(s.word(a, 0).text, "Ninja")
				}
			}
		}
		return true
	})
	// One cd, first of a plain chain, says where the rest runs.
	s.lost = cds > 1 || cds == 1 && (s.dir == "" || !strings.HasPrefix(strings.TrimSpace(s.text), "cd "))
}
