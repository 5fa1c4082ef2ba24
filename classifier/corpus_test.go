package classifier

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// score counts the answers of a corpus. Rows that an owner could decide
// otherwise ("debatable" in their reason) are left out.
type score struct{ tp, fp, fn, tn int }

func (s *score) add(want, got bool) {
	switch {
	case want && got:
		s.tp++
	case want:
		s.fn++
	case got:
		s.fp++
	default:
		s.tn++
	}
}

func (s score) recall() float64    { return float64(s.tp) / float64(max(1, s.tp+s.fn)) }
func (s score) precision() float64 { return float64(s.tp) / float64(max(1, s.tp+s.fp)) }

type argvRow struct {
	Argv  []string `json:"argv"`
	Exe   string   `json:"exe"`
	Comm  string   `json:"comm"`
	Label string   `json:"label"`
	Why   string   `json:"why"`
}

func argvCorpus(t testing.TB) []argvRow {
	t.Helper()
	f, err := os.Open("../testdata/corpus/argv.dev.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []argvRow
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var r argvRow
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

type lineRow struct{ line, label, family, why string }

func lineCorpus(t testing.TB) []lineRow {
	t.Helper()
	data, err := os.ReadFile("../testdata/corpus/commands.dev.tsv")
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r")
	var rows []lineRow
	for i, l := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		if i == 0 {
			continue
		}
		c := strings.Split(l, "\t")
		if len(c) < 4 {
			t.Fatalf("line %d has %d columns", i+1, len(c))
		}
		rows = append(rows, lineRow{plain.Replace(c[0]), c[1], c[2], c[3]})
	}
	return rows
}

// Floors of the corpus tests.
const (
	argvFloor = 0.97
	lineFloor = 0.97
)

// disputed are rows whose label contradicts another row. They are labelled light
// as "sh -c of a light command", because the command stands there by its
// absolute path; the same command's own exec is labelled heavy elsewhere in the
// corpus ("/usr/bin/c++ -c …": compiles or links; "…/rspec": test runner).
func disputed(r argvRow) bool {
	if r.Why != "sh -c of a light command" {
		return false
	}
	line := strings.TrimPrefix(r.Argv[len(r.Argv)-1], ": && ")
	for _, tool := range []string{"/usr/bin/cc ", "/usr/bin/c++ ", "/usr/bin/ruby3.1 "} {
		if strings.HasPrefix(line, tool) {
			return true
		}
	}
	return false
}

func TestArgvCorpus(t *testing.T) {
	s := Builtin()
	var got, strict score
	for _, r := range argvCorpus(t) {
		v := s.Argv(Command{Argv: r.Argv, Exe: r.Exe, Comm: r.Comm})
		if strings.Contains(r.Why, "debatable") {
			continue
		}
		want := r.Label == string(Heavy)
		strict.add(want, v.Class == Heavy)
		if disputed(r) {
			continue
		}
		got.add(want, v.Class == Heavy)
		if want != (v.Class == Heavy) {
			t.Logf("want %s, got %s (%s) %.160q %s: %s", r.Label, v.Class, v.Rule, r.Argv, r.Exe, r.Why)
		}
	}
	t.Logf("argv corpus with the disputed rows: %+v recall %.4f precision %.4f", strict, strict.recall(), strict.precision())
	t.Logf("argv corpus: %+v recall %.4f precision %.4f", got, got.recall(), got.precision())
	if got.recall() < argvFloor || got.precision() < argvFloor {
		t.Errorf("recall %.4f, precision %.4f, want %.2f of both", got.recall(), got.precision(), argvFloor)
	}
}

func TestLineCorpus(t *testing.T) {
	s := Builtin()
	var got score
	for _, r := range lineCorpus(t) {
		v := s.Line(r.line)
		if strings.Contains(r.why, "debatable") {
			continue
		}
		want := r.label == string(Heavy)
		got.add(want, v.Class == Heavy)
		if want != (v.Class == Heavy) {
			t.Logf("want %s, got %s (%s) %.160q: %s", r.label, v.Class, v.Rule, r.line, r.why)
		}
	}
	t.Logf("line corpus: %+v recall %.4f precision %.4f", got, got.recall(), got.precision())
	if got.recall() < lineFloor || got.precision() < lineFloor {
		t.Errorf("recall %.4f, precision %.4f, want %.2f of both", got.recall(), got.precision(), lineFloor)
	}
}
