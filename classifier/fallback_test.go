package classifier

import "testing"

// Lines that are no bash: cut off, or with a quote too many.
func TestFallbackLines(t *testing.T) {
	tests := []struct {
		name, line string
		class      Class
	}{
		{"cut after an operator", "npm install && ", Heavy},
		{"cut in a condition", "if make", Heavy},
		{"an open quote", "make 'x", Heavy},
		{"an open message", `git commit -m "fix: don't npm install`, Light},
		{"a parenthesis in an argument", "npm run build -- --define=a(b)", Heavy},
		{"a comment", "# npm install\n)", Light},
		{"a document to a file", "cat > x <<'EOF'\nif make; then\nnpm ci\nEOF\nls; fi", Light},
		{"a command behind a document", "cat > x <<'EOF'\nls\nEOF\nmake; fi", Heavy},
		{"a command beside a document", "cat > x <<EOF && make\nls\nEOF\n)", Heavy},
		{"a document to python", "python3 - <<'PY'\nimport os\nos.system('make')\nPY\n)", Light},
		{"a document to a shell", "bash <<EOF\nmake\nEOF\n)", Heavy},
		{"an indented end", "cat <<-EOF\n\tmake\n\tEOF\nls )", Light},
		{"two documents", "cat <<A <<B\nmake\nA\nmake\nB\nls )", Light},
		{"a document without an end", "cat <<EOF\nmake )", Light},
		{"no word", "cat <<\nmake )", Heavy},
		{"a template", "cargo build --target ${{ matrix.target }}", Heavy},
		{"a template with operators", "echo ${{ matrix.run || 'make' }} && ls", Light},
		{"a quoted template", `npm run "${{ matrix.script }}"`, Heavy},
		{"a template in a word", "docker build -t x:${{ github.sha }} .", Heavy},
		{"a template cut off", "make ${{ x", Heavy},
		{"a here-string", "cat <<< make )", Light},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Builtin().Line(tt.line)
			if got.Class != tt.class {
				t.Errorf("%q: got %s (%s), want %s", tt.line, got.Class, got.Reason, tt.class)
			}
		})
	}
}
