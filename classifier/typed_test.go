package classifier

import (
	"os"
	"strings"
	"testing"
)

// typedLines reads testdata/lines.tsv: shell lines as people and coding agents
// type them, each with the class that it was given before it was tried. Escapes
// are those of the corpus: \\ \n \t \r.
func typedLines(t testing.TB) []lineRow {
	t.Helper()
	data, err := os.ReadFile("testdata/lines.tsv")
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r")
	var rows []lineRow
	for i, l := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		label, line, ok := strings.Cut(l, "\t")
		if !ok || label != string(Heavy) && label != string(Light) {
			t.Fatalf("lines.tsv:%d: want heavy or light, a tab, and a line, got %q", i+1, l)
		}
		rows = append(rows, lineRow{line: plain.Replace(line), label: label})
	}
	return rows
}

func TestTypedLines(t *testing.T) {
	s := Builtin()
	var got score
	for _, r := range typedLines(t) {
		v := s.Line(r.line)
		want := r.label == string(Heavy)
		got.add(want, v.Class == Heavy)
		if want != (v.Class == Heavy) {
			t.Errorf("%q: got %s (%s: %s), want %s", r.line, v.Class, v.Rule, v.Reason, r.label)
		}
	}
	t.Logf("typed lines: %+v recall %.4f precision %.4f", got, got.recall(), got.precision())
}
