package classifier

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// FuzzRuleFile: whatever stands in a file of the owner's, there is a set that
// answers, in a time that is bounded, and what is wrong is told.
func FuzzRuleFile(f *testing.F) {
	entries, err := builtinFiles.ReadDir("rules")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		data, err := builtinFiles.ReadFile("rules/" + e.Name())
		if err != nil {
			f.Fatal(err)
		}
		for i, table := range strings.Split(string(data), "\n\n") {
			if i%8 == 0 && len(table) < 600 {
				f.Add(table)
			}
		}
	}
	f.Add(goodRule + "light_flag = ['-n']\n")
	f.Add("disable = ['make', 'x']\nrule = [{id = 'x', programs = ['m*']}]\n")
	f.Add("[[carrier]]\nprograms = ['make']\nas = ['sh', '-c']\nrest = 'either'\nskip = 2\n")
	f.Add("[[alias]]\nprogram = 'make'\ncode = ['a']\nscripts = ['b']\nmodules = ['c']\nclasses = ['*']\n")
	f.Add("[rule.x]\n[[rule]]\n\"id\".a = 1\n")
	// Few of the embedded files: all of them take 20 ms a try.
	few := embedded("00-words.toml", "22-build.toml")
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		s, faults := loadOver(few, ownFile(text))
		for _, err := range faults {
			if !strings.HasPrefix(err.Error(), "own.toml:") {
				t.Errorf("a fault without its file: %q", err)
			}
		}
		for _, r := range s.Rules() {
			if r.Own && !strings.HasPrefix(r.Source, "own.toml:") || r.ID == "" || r.Family == "" {
				t.Errorf("rule %+v", r)
			}
		}
		s.Names()
		for _, line := range []string{"sudo make -j4 all", "npm test", "x -c 'y z' -- x x", "python -m x y", "java -jar x.jar"} {
			s.Line(line)
			s.ExplainArgv(Command{Argv: strings.Fields(line)})
		}
		if d := time.Since(start); d > 5*time.Second+time.Duration(len(text))*100*time.Microsecond {
			t.Errorf("took %v for %d bytes", d, len(text))
		}
	})
}

// Files as large as they may be, in the forms that cost the most. A file is
// read at the start, so that seconds are bad; but it was written by the owner.
func TestLongRuleFile(t *testing.T) {
	const room = MaxFileBytes - 200
	fill := func(s string) string { return strings.Repeat(s, room/len(s)) }
	distinct := func(format string) string { // N is another word each time
		var b strings.Builder
		for i := 0; b.Len() < room-len(format); i++ {
			b.WriteString(strings.ReplaceAll(format, "N", "w"+strconv.Itoa(i)))
		}
		return b.String()
	}
	const head = "[[rule]]\nid='x'\nfamily='other'\nreason='r'\n"
	for name, text := range map[string]string{
		"unknown keys":  distinct("N = 1\n"),
		"empty tables":  fill("[[rule]]\n"),
		"empty items":   "disable = [" + fill("'',\n") + "]",
		"unknown ids":   "disable = [" + distinct("'N',\n") + "]",
		"openers":       "x = " + fill("["),
		"inline tables": "rule = [" + fill("{},") + "]",
		"nested inline": "x = " + fill("{a="),
		"same patterns": head + "programs = [" + fill("'*a*',") + "]",
		"many patterns": head + "programs = [" + distinct("'*N*',\n") + "]",
		"stars":         head + "programs = ['" + fill("*a") + "']",
		"many programs": head + "programs = [" + distinct("'N',\n") + "]",
		"many rules":    distinct(strings.Replace(head, "'x'", "'N'", 1) + "programs = ['x*']\n"),
		"one long id":   "disable = ['" + fill("x") + "']",
		"dotted key":    fill("a.") + "a = 1",
		"dotted inline": "x = {" + fill("a.") + "a = 1}",
		"dotted table":  "[" + fill("a.") + "a]",
	} {
		t.Run(name, func(t *testing.T) {
			if len(text) > MaxFileBytes || len(text) < room*9/10 {
				t.Fatalf("%d bytes", len(text))
			}
			start := time.Now()
			s, faults := load(ownFile(text))
			s.Line("sudo make -j4 all; npm test; x")
			s.Names()
			d := time.Since(start)
			t.Logf("%v, %d faults", d, len(faults))
			if d > time.Minute {
				t.Errorf("took %v", d)
			}
			if len(faults) > 2*maxFaults {
				t.Errorf("%d faults", len(faults))
			}
		})
	}
}
