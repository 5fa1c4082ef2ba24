package lighten

import (
	"slices"
	"strings"

	"github.com/headroomd/headroomd/classifier"
)

// Argv rewrites the words of a heavy command, and says what it changed; nil
// changes mean that argv came back as it is. A variable is set by putting env
// before the command. argv itself is not written to.
func Argv(set *classifier.Set, argv []string, o Options) (out, changes []string) {
	// No kernel takes more than 2 MB of them, and what a tool is told by options
	// stands at the beginning.
	if len(argv) == 0 || len(argv) > 4096 {
		return argv, nil
	}
	before := set.Argv(classifier.Command{Argv: argv, Cwd: o.Dir, Files: o.Files})
	if before.Class != classifier.Heavy {
		return argv, nil
	}
	r := &rewrite{set: set, o: o.resolve()}
	p := &plan{r: r}
	for i, a := range argv {
		p.words = append(p.words, word{text: a, raw: a, known: true, at: i})
	}
	p.front = &p.words[0]
	p.reach()
	if len(p.ops) == 0 {
		return argv, nil
	}
	if out = p.applyArgv(argv); out == nil {
		return argv, nil
	}
	after := set.Argv(classifier.Command{Argv: out, Cwd: o.Dir, Files: o.Files})
	if after.Class != before.Class || after.Rule != before.Rule {
		return argv, nil
	}
	for _, s := range p.said {
		r.say(s)
	}
	return out, r.changes
}

// applyArgv makes the ops, or returns nil.
func (p *plan) applyArgv(argv []string) []string {
	ops := slices.Clone(p.ops)
	slices.SortStableFunc(ops, func(a, b op) int { return b.w.at - a.w.at })
	out := slices.Clone(argv)
	var front []string
	for _, o := range ops {
		i := o.w.at
		if i < 0 {
			return nil
		}
		switch o.kind {
		case replaced, swapped:
			out[i] = o.words[0]
		case removed:
			out = slices.Delete(out, i, i+1)
		case after:
			out = slices.Insert(out, i+1, o.words...)
		case before:
			if p.inEnv {
				out = slices.Insert(out, i, o.words...)
			} else {
				front = append([]string{"env"}, o.words...)
			}
		}
	}
	// env reads a program whose name has a "=" as one more variable.
	if front != nil && strings.Contains(argv[0], "=") {
		return nil
	}
	return append(front, out...)
}
