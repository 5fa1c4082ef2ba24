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

// ownFile is one file of the owner's.
func ownFile(text string) []File { return []File{{Name: "own.toml", Data: []byte(text)}} }

func TestRuleFileErrors(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"unknown key", goodRule + "light_flag = ['-n']\n", []string{`own.toml:6: unknown key "rule.light_flag", did you mean "light_flags"?`}},
		{"unknown key, nothing near", goodRule + "zebra = 1\n", []string{`own.toml:6: unknown key "rule.zebra"`}},
		{"unknown table", "\n[[rules]]\nid = 'x'\n", []string{`own.toml:2: unknown key "rules", did you mean "rule"?`}},
		{"syntax", "[[rule]]\nid = \n", []string{"own.toml:2: "}},
		{"wrong type", "[[rule]]\nid = 3\n", []string{"own.toml:2: "}},
		{"no id", strings.Replace(goodRule, `id = "x-own"`, "", 1), []string{"own.toml:1: a rule has no id"}},
		{"id", strings.Replace(goodRule, "x-own", "x own", 1), []string{`own.toml:2: rule id "x own": an id has letters`}},
		{"twice", goodRule + "\n" + goodRule, []string{`own.toml:8: rule id "x-own" is used twice`}},
		{"family", strings.Replace(goodRule, `"other"`, `"pythn-test"`, 1), []string{`own.toml:3: rule "x-own": unknown family "pythn-test", did you mean "python-test"?`}},
		{"no family", strings.Replace(goodRule, `family = "other"`, "", 1), []string{`own.toml:1: rule "x-own" has no family, want one of node-install, `}},
		{"class", goodRule + "class = 'hevy'\n", []string{`own.toml:6: rule "x-own": class "hevy" is neither heavy nor light, did you mean "heavy"?`}},
		{"kind", goodRule + "kind = [\n'daemon',\n'deamon',\n]\n", []string{`own.toml:8: unknown kind "deamon", want compiler, daemon, package-manager or supervisor, did you mean "daemon"?`}},
		{"no program", strings.Replace(goodRule, `["x"]`, `[]`, 1), []string{"own.toml:4: a rule names no program"}},
		{"a path for a program", strings.Replace(goodRule, `["x"]`, `["y", "/opt/x"]`, 1), []string{`own.toml:4: program "/opt/x": want the name without its directory; paths = ["/opt/x"] asks`}},
		{"no reason", strings.Replace(goodRule, "is a test", "", 1), []string{`own.toml:5: rule "x-own" has no reason: say`}},
		{"weight", goodRule + "weight_mb = -5\n", []string{"own.toml:6: ", "weight_mb is -5"}},
		{"empty word", goodRule + "paths = ['/a', '']\n", []string{"own.toml:6: paths has an empty word"}},
		{"carrier's rest", "[[carrier]]\nprograms = ['x']\nrest = 'eihter'\n", []string{`own.toml:3: rest "eihter" is not known, want argv, line, lines, either or none, did you mean "either"?`}},
		{"carrier's skip", "[[carrier]]\nprograms = ['x']\nskip = -1\n", []string{"own.toml:3: skip is -1, want 0 to 100"}},
		{"carrier's kind", "[[carrier]]\nprograms = ['x']\nkind = ['x']\n", []string{`own.toml:3: unknown kind "x"`}},
		{"carrier's as", "[[carrier]]\nprograms = ['x']\nas = ['sh', '-c', 'x; x']\n", []string{`own.toml:3: as "x; x": want plain words`}},
		{"alias for nothing", "[[alias]]\nprogram = 'vitset'\nmodules = ['m']\n", []string{`own.toml:2: alias: no rule knows the program "vitset", did you mean "vitest"?`}},
		{"alias without a program", "[[alias]]\nmodules = ['m']\n", []string{"own.toml:1: an alias has no program"}},
		{"inline tables", "rule = [\n{id = 'x-own', family = 'othr', programs = ['x'], reason = 'r'}\n]\n", []string{`own.toml:2: rule "x-own": unknown family "othr"`}},
		{"switched off, but unknown", "disable = [\n'node-package-instal',\n]\n", []string{`own.toml:2: there is no rule "node-package-instal" to switch off, did you mean "node-package-install"?`}},
		{"switched off in its own file", "disable = ['x-own']\n" + goodRule, []string{`own.toml:1: rule "x-own" is both in this file and switched off by it`}},
		{"family's name", "families = ['a b']\n", []string{`own.toml:1: family "a b"`}},
		{"not UTF-8", "\n# caf\xe9\n", []string{"own.toml:2: not UTF-8 text"}},
		{"too large", strings.Repeat("#", MaxFileBytes+1), []string{"own.toml: larger than 256 KB"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(ownFile(tt.text))
			if len(err) != 1 {
				t.Fatalf("got %q, want one error", err)
			}
			for _, w := range tt.want {
				if !strings.Contains(err[0].Error(), w) {
					t.Errorf("got %q, want %q in it", err, w)
				}
			}
		})
	}
}

func TestRuleFileAdds(t *testing.T) {
	s, err := load(ownFile("\n" + goodRule))
	if err != nil {
		t.Fatal(err)
	}
	got := s.Argv(Command{Argv: []string{"x"}})
	if got.Class != Heavy || got.Rule != "x-own" || got.Source != "own.toml:2" {
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
