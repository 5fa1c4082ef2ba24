package classifier

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// maxFamilies is how many families the tags of the kernel's name map have bits
// for; the last one is ArgvDecides.
const maxFamilies = 31

// check finds what is wrong with the tables of f; the families and the programs
// are all that any file names.
func (f *ruleFile) check(families, programs []string) {
	t := &f.tables
	for i, name := range t.Families {
		if !isID(name) {
			f.fault(f.at.item("", 0, "families", i), "family %.80q: a name has letters, digits, - _ and . only", name)
		}
	}
	f.checkLists("", 0, reflect.ValueOf(t).Elem())
	for i := range t.Pairs {
		f.checkPrograms("pair", i, "exe", t.Pairs[i].Exe)
		f.checkLists("pair", i, reflect.ValueOf(&t.Pairs[i]).Elem())
	}
	for i := range t.Tools {
		f.checkPrograms("tool", i, "programs", t.Tools[i].Programs)
		f.checkLists("tool", i, reflect.ValueOf(&t.Tools[i]).Elem())
	}
	for i := range t.Aliases {
		name := t.Aliases[i].Program
		if _, known := slices.BinarySearch(programs, name); name == "" {
			f.fault(f.at.key("alias", i, "program"), "an alias has no program")
		} else if !known && f.own { // a test looks at the embedded ones
			f.fault(f.at.key("alias", i, "program"), "alias: no rule knows the program %.80q%s", name, suggest(name, programs))
		}
		f.checkLists("alias", i, reflect.ValueOf(&t.Aliases[i]).Elem())
	}
	for i := range t.Interpreters {
		f.checkPrograms("interpreter", i, "programs", t.Interpreters[i].Programs)
		f.checkLists("interpreter", i, reflect.ValueOf(&t.Interpreters[i]).Elem())
	}
	for i := range t.Carriers {
		f.checkCarrier(i, &t.Carriers[i])
	}
	for i := range t.Rules {
		f.checkRule(i, &t.Rules[i], families)
	}
}

var (
	restWords  = []string{"argv", "line", "lines", "either", "none"}
	classWords = []string{string(Heavy), string(Light)}
)

func (f *ruleFile) checkCarrier(i int, t *carrierTable) {
	f.checkPrograms("carrier", i, "programs", t.Programs)
	f.checkLists("carrier", i, reflect.ValueOf(t).Elem())
	if t.Rest != "" && !slices.Contains(restWords, t.Rest) {
		f.fault(f.at.key("carrier", i, "rest"), "rest %.80q is not known, want %s%s", t.Rest, orList(restWords), suggest(t.Rest, restWords))
	}
	if t.Skip < 0 || t.Skip > 100 {
		f.fault(f.at.key("carrier", i, "skip"), "skip is %d, want 0 to 100", t.Skip)
	}
	for k, word := range t.As {
		// A line in here would be judged once more at each turn of a loop.
		if strings.ContainsAny(word, " \t\n;&|()`$<>") {
			f.fault(f.at.item("carrier", i, "as", k), "as %.80q: want plain words", word)
		}
	}
	f.checkKinds("carrier", i, t.Kind)
}

func (f *ruleFile) checkRule(i int, t *ruleTable, families []string) {
	line := func(key string) int { return f.at.key("rule", i, key) }
	switch {
	case t.ID == "":
		f.fault(line("id"), "a rule has no id")
	case !isID(t.ID):
		f.fault(line("id"), "rule id %.80q: an id has letters, digits, - _ and . only", t.ID)
	}
	if !slices.Contains(families, t.Family) {
		if t.Family == "" {
			f.fault(line("family"), "rule %.80q has no family, want one of %s", t.ID, orList(families))
		} else {
			f.fault(line("family"), "rule %.80q: unknown family %.80q%s", t.ID, t.Family, suggest(t.Family, families))
		}
	}
	if t.Class != "" && !slices.Contains(classWords, t.Class) {
		f.fault(line("class"), "rule %.80q: class %.80q is neither heavy nor light%s", t.ID, t.Class, suggest(t.Class, classWords))
	}
	if t.Reason == "" {
		f.fault(line("reason"), "rule %.80q has no reason: say what such a command does", t.ID)
	}
	if t.WeightMB < 0 {
		f.fault(line("weight_mb"), "rule %.80q: weight_mb is %d, want 0 or more", t.ID, t.WeightMB)
	}
	f.checkPrograms("rule", i, "programs", t.Programs)
	f.checkKinds("rule", i, t.Kind)
	f.checkLists("rule", i, reflect.ValueOf(t).Elem())
}

// checkPrograms wants base names: a path would never be found.
func (f *ruleFile) checkPrograms(table string, i int, key string, names []string) {
	if len(names) == 0 {
		f.fault(f.at.key(table, i, key), "a %s names no program", table)
	}
	for k, name := range names {
		if strings.ContainsAny(name, "/ \t\n") {
			hint := "want the name without its directory"
			if table == "rule" {
				hint += "; paths = [%.80q] asks for the directory"
				f.fault(f.at.item(table, i, key, k), "program %.80q: "+hint, name, name)
				continue
			}
			f.fault(f.at.item(table, i, key, k), "program %.80q: "+hint, name)
		}
	}
}

func (f *ruleFile) checkKinds(table string, i int, kinds []string) {
	var known []string
	for word := range kindWords {
		known = append(known, word)
	}
	slices.Sort(known)
	for k, word := range kinds {
		if _, ok := kindWords[word]; !ok {
			f.fault(f.at.item(table, i, "kind", k), "unknown kind %.80q, want %s%s", word, orList(known), suggest(word, known))
		}
	}
}

// checkLists refuses empty strings in lists: as a part of a path or of code one
// would match everything.
func (f *ruleFile) checkLists(table string, i int, v reflect.Value) {
	for k := range v.NumField() {
		list, ok := v.Field(k).Interface().([]string)
		if !ok {
			continue
		}
		key := v.Type().Field(k).Tag.Get("toml")
		for n, word := range list {
			if strings.TrimSpace(word) == "" {
				f.fault(f.at.item(table, i, key, n), "%s has an empty word in its list", key)
			}
		}
	}
}

// isID wants what can stand in a column and be typed.
func isID(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// addFamilies adds the families of f. Two files of the owner's may name the
// same one.
func (s *Set) addFamilies(f *ruleFile) {
	for i, name := range f.tables.Families {
		switch {
		case slices.Contains(s.families, name):
		case len(s.families) == maxFamilies:
			f.fault(f.at.item("", 0, "families", i), "family %.80q is one too many: %d is the most", name, maxFamilies)
		default:
			s.families = append(s.families, name)
		}
	}
}

// programNames lists all names that tables are about.
func programNames(files []*ruleFile) []string {
	all := map[string]bool{}
	for _, f := range files {
		for _, names := range f.tables.named() {
			for _, name := range names {
				all[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// orList is "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
