package classifier

import (
	"maps"
	"strings"
	"testing"
)

// base rule file for the error cases: line 1 is the header.
const goodRule = `[[rule]]
id = "x-own"
family = "other"
programs = ["x"]
reason = "is a test"
`

func TestRuleFileErrors(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"unknown key", goodRule + "light_flag = ['-n']\n", []string{"own.toml:6:", `"rule.light_flag"`, `did you mean "light_flags"?`}},
		{"unknown key, nothing near", goodRule + "zebra = 1\n", []string{"own.toml:6:", `unknown key "rule.zebra"`}},
		{"unknown table", "\n[[rules]]\nid = 'x'\n", []string{"own.toml:2:", `did you mean "rule"?`}},
		{"syntax", "[[rule]]\nid = \n", []string{"own.toml:2:"}},
		{"wrong type", "[[rule]]\nid = 3\n", []string{"own.toml:2:"}},
		{"no id", "[[rule]]\nfamily = 'other'\n", []string{"own.toml:1:", "no id"}},
		{"twice", goodRule + "\n" + goodRule, []string{"own.toml:7:", `"x-own" is used twice`}},
		{"family", strings.Replace(goodRule, `"other"`, `"pythn-test"`, 1), []string{"own.toml:1:", `did you mean "python-test"?`}},
		{"class", goodRule + "class = 'medium'\n", []string{"own.toml:1:", `"medium"`}},
		{"kind", goodRule + "kind = ['boss']\n", []string{"own.toml:1:", `"boss"`}},
		{"no program", strings.Replace(goodRule, `["x"]`, `[]`, 1), []string{"own.toml:1:", "no program"}},
		{"no reason", strings.Replace(goodRule, "is a test", "", 1), []string{"own.toml:1:", "no reason"}},
		{"carrier's rest", "[[carrier]]\nprograms = ['x']\nrest = 'words'\n", []string{"own.toml:1:", `"words"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(map[string][]byte{"own.toml": []byte(tt.text)})
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("got %q, want %q in it", err, w)
				}
			}
		})
	}
}

func TestRuleFileAdds(t *testing.T) {
	s, err := load(map[string][]byte{"own.toml": []byte("\n" + goodRule)})
	if err != nil {
		t.Fatal(err)
	}
	got := s.Argv(Command{Argv: []string{"x"}})
	if got.Class != Heavy || got.Rule != "x-own" || !strings.HasSuffix(got.Source, "own.toml:2") {
		t.Errorf("got %s by %q of %q", got.Class, got.Rule, got.Source)
	}
}

// Every rule is of use to a reader: it names a weight and a remedy if heavy,
// and every program that an alias names has a rule.
func TestBuiltinRules(t *testing.T) {
	s, err := load(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Rules() {
		if r.Class == Heavy && (r.WeightMB == 0 || r.Remedy == "") {
			t.Errorf("%s (%s) has no weight or no remedy", r.ID, r.Source)
		}
	}
	for _, alias := range [][][2]string{s.classes, s.scripts, s.code} {
		for _, a := range alias {
			if p := s.programs[a[1]]; p == nil || len(p.rules) == 0 {
				t.Errorf("alias %q names %q, for which there is no rule", a[0], a[1])
			}
		}
	}
	used := map[string]bool{}
	for _, r := range s.Rules() {
		used[r.Family] = true
	}
	for _, f := range s.Families() {
		if !used[f] {
			t.Errorf("family %q has no rule", f)
		}
	}
	for m, p := range maps.All(s.modules) {
		if q := s.programs[p]; p != "ansible" && (q == nil || len(q.rules) == 0) {
			t.Errorf("module %q names %q, for which there is no rule", m, p)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"programs", "subcommands", "flags", "light_flags"}
	for word, want := range map[string]string{"program": "programs", "subcomands": "subcommands", "flag": "flags", "colour": ""} {
		if got := nearest(word, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
