package classifier

import (
	"fmt"
	"slices"
)

// ArgvDecides is the tag bit of a name that says nothing by itself (node, sh,
// env): only the argv tells.
const ArgvDecides uint32 = 1 << 31

// commLen is how much of a name the kernel keeps. Cross compilers' names are cut
// here already: a hundred of them become one, "x86_64-linux-gn".
const commLen = 15

// Names returns the program names whose execs must be reported, as the kernel
// shows them in comm but neither cut to 15 bytes nor freed of versions, each
// with a tag: bit i for the family of index i in Families, and ArgvDecides. all
// is true when a rule or a pattern of the owner's cannot be expressed by names
// (Nameless lists them), so that every exec must be reported.
//
// A name is in the map when an exec under it may have to be captured. Carriers
// and supervisors are not: what they run execs by itself. Shells are, because
// `sh ./configure` has no other name.
func (s *Set) Names() (names map[string]uint32, all bool) {
	names = make(map[string]uint32, len(s.programs))
	for name, p := range s.programs {
		if tag, ok := s.tag(p); ok {
			names[name] |= tag
			if p.compiler {
				for _, target := range s.crossNames {
					cross := target + "-" + name
					names[cross[:min(len(cross), commLen)]] |= tag | ArgvDecides
				}
			}
		}
	}
	for exe, as := range s.pairs {
		if _, ok := names[exe]; ok {
			continue
		}
		// A wrapper's comm is the name it was called by, unless it hides that.
		for _, n := range as {
			if _, ok := names[n]; ok {
				names[exe] |= ArgvDecides
			}
		}
	}
	for _, p := range s.extra {
		if p.name != "" {
			names[p.name] |= ArgvDecides
		}
	}
	return names, len(s.Nameless()) > 0
}

// Nameless lists, for people, the owner's rules and patterns that no program
// name expresses.
func (s *Set) Nameless() []string {
	var all []string
	for _, g := range s.globs {
		if _, ok := s.tag(g.program); !ok {
			continue
		}
		for _, r := range g.program.rules {
			if r.Class == Heavy {
				all = append(all, fmt.Sprintf("rule %s (%s) for %q", r.ID, r.Source, g.pattern))
			}
		}
		if len(g.program.rules) == 0 {
			all = append(all, fmt.Sprintf("a table for %q", g.pattern))
		}
	}
	for _, p := range s.extra {
		if p.name == "" {
			all = append(all, fmt.Sprintf("%s %q", p.rule.ID, p.re))
		}
	}
	return all
}

// tag returns the tag of p, and whether an exec of it may be captured at all.
func (s *Set) tag(p *program) (uint32, bool) {
	var tag uint32
	found := false
	if p.interp != nil {
		tag, found = ArgvDecides, true
	}
	for _, c := range p.carriers {
		if c.captures {
			tag, found = tag|ArgvDecides, true
		}
	}
	for _, r := range p.rules {
		if r.Class == Light || r.kind.Has(Supervisor) {
			tag |= ArgvDecides
			continue
		}
		found = true
		tag |= 1 << s.familyIndex(r.Family)
		if !r.always {
			tag |= ArgvDecides
		}
	}
	return tag, found
}

func (s *Set) familyIndex(name string) int { return slices.Index(s.families, name) }
