package classifier

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ruleSlot is a place in the order of the rules.
type ruleSlot struct {
	file  *ruleFile
	n     int    // of the file's rules
	front bool   // before all that is built in
	off   string // where it is switched off, "" in force
}

func (p ruleSlot) table() *ruleTable { return &p.file.tables.Rules[p.n] }

// orderRules gives the rules in the order in which they are tried, the owner's
// first. A rule with the id of an earlier file's takes that one's place, which
// says more of what it is to do than the end of the list would.
func orderRules(files []*ruleFile) []ruleSlot {
	var slots [2][]ruleSlot // the owner's, the embedded
	type place struct{ list, i int }
	at := map[string]place{}
	for _, f := range files {
		for n := range f.tables.Rules {
			id := f.tables.Rules[n].ID
			if id == "" {
				continue // a fault already
			}
			if p, known := at[id]; known {
				if slots[p.list][p.i].file == f {
					f.fault(f.at.key("rule", n, "id"), "rule id %q is used twice", id)
					continue
				}
				slots[p.list][p.i] = ruleSlot{file: f, n: n, front: p.list == 0}
				continue
			}
			list := 1
			if f.own {
				list = 0
			}
			at[id] = place{list, len(slots[list])}
			slots[list] = append(slots[list], ruleSlot{file: f, n: n, front: f.own})
		}
		for i, id := range f.tables.Disable {
			line := f.at.item("", 0, "disable", i)
			p, known := at[id]
			switch {
			case !known && len(f.harmless) == maxFaults:
			case !known:
				ids := slices.Sorted(maps.Keys(at))
				f.harmless = append(f.harmless, &FileError{f.name, line,
					fmt.Errorf("there is no rule %.80q to switch off%s", id, suggest(id, ids))})
			case slots[p.list][p.i].file == f:
				f.fault(line, "rule %q is both in this file and switched off by it", id)
			default:
				slots[p.list][p.i].off = f.source(line)
			}
		}
	}
	return slices.Concat(slots[0], slots[1])
}

// addRules compiles the rules, when all that they need is known.
func (s *Set) addRules(slots []ruleSlot) {
	for seq, slot := range slots {
		r := s.newRule(slot, seq)
		if r.disabledAt == "" {
			s.rules = append(s.rules, r)
		} else {
			s.off = append(s.off, r)
		}
		for _, name := range r.Programs {
			p := s.program(name)
			if r.disabledAt != "" {
				p.off = append(p.off, r)
				continue
			}
			p.add(r)
		}
	}
}

func (p *program) add(r *rule) {
	p.rules = append(p.rules, r)
	p.compiler = p.compiler || r.kind.Has(Compiler)
	if r.front {
		p.own++
	}
}

func (s *Set) newRule(slot ruleSlot, seq int) *rule {
	t := slot.table()
	r := &rule{
		Rule: Rule{ID: t.ID, Family: t.Family, Class: Heavy, Programs: t.Programs,
			Source: slot.file.source(slot.file.at.table("rule", slot.n)), Own: slot.file.own, WeightMB: t.WeightMB, Remedy: t.Remedy},
		seq: seq, front: slot.front, disabledAt: slot.off,
		paths: t.Paths, except: t.Except, bare: t.Bare, anySub: len(t.Subcommands) == 0 && !t.Bare,
		flags: newFlagSet(t.Flags), withFlags: newFlagSet(t.WithFlags), operands: t.Operands,
		needOperand: t.NeedOperand, leading: t.Leading, lightOps: t.LightOperands, lightEnv: t.LightEnv,
		reason: t.Reason, lightReason: "only asks, lists or prints",
	}
	if Class(t.Class) == Light {
		r.Class = Light
	}
	for _, k := range t.Kind {
		r.kind |= kindWords[k]
	}
	r.Kind = r.kind
	for _, sub := range t.Subcommands {
		words := strings.Fields(sub)
		if len(words) == 1 && !strings.Contains(sub, "*") {
			if r.subs == nil {
				r.subs = map[string]struct{}{}
			}
			r.subs[words[0]] = struct{}{}
			continue
		}
		r.subWords = append(r.subWords, words)
	}
	r.always = r.anySub && r.paths == nil && r.flags == nil && !r.needOperand && r.operands == nil && r.except == nil
	own := []string(nil)
	if g := s.program(t.Programs[0]).grammar; g != nil {
		own = g.light // a tool's own asking options
	}
	common := commonLight
	if t.NoCommon {
		common = nil
	}
	r.flagWords, r.withWords = r.flags.choice(), r.withFlags.choice()
	r.light = newFlagSet(common, own, t.LightFlags)
	return r
}
