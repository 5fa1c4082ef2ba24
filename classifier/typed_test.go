package classifier

import (
	"os"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
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

// plainArgv is the argument list of a line that is one command without anything
// that a shell would do, or nil.
func plainArgv(line string) []string {
	f, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil || len(f.Stmts) != 1 || len(f.Stmts[0].Redirs) > 0 || f.Stmts[0].Background {
		return nil
	}
	call, ok := f.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return nil
	}
	var argv []string
	for _, w := range call.Args {
		if len(w.Parts) != 1 {
			return nil
		}
		switch p := w.Parts[0].(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, `*?[~\`) {
				return nil
			}
			argv = append(argv, p.Value)
		case *syntax.SglQuoted:
			argv = append(argv, p.Value)
		default:
			return nil
		}
	}
	switch argv[0] {
	case "exec", "command", "builtin", "eval", ".", "source", "type", "hash", "alias", "export":
		return nil // the shell's own
	}
	return argv
}

// TestTypedArgv judges the plain ones of the same lines as argument lists.
func TestTypedArgv(t *testing.T) {
	s := Builtin()
	n := 0
	for _, r := range typedLines(t) {
		argv := plainArgv(r.line)
		if argv == nil {
			continue
		}
		n++
		v := s.Argv(Command{Argv: argv})
		if string(v.Class) != r.label {
			t.Errorf("%q: got %s (%s: %s), want %s", argv, v.Class, v.Rule, v.Reason, r.label)
		}
		taken := v.Class == Heavy && !v.Kind.Has(Supervisor) && !v.Kind.Has(Carrier) && !v.Kind.Has(Shell)
		if taken && !v.Capture || v.Class == Light && v.Capture || v.Kind.Has(Supervisor) && v.Capture {
			t.Errorf("%q: got capture %v of a %s command (%s)", argv, v.Capture, v.Class, v.Rule)
		}
	}
	if n < 1500 {
		t.Errorf("only %d lines are plain", n)
	}
}
