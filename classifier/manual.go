package classifier

import "strings"

// Manual is what the first of the embedded files says of the words of a file of
// rules: its comment, without the marks.
func Manual() string {
	data, err := builtinFiles.ReadFile("rules/00-words.toml")
	if err != nil {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(string(data)) {
		text, ok := strings.CutPrefix(line, "#")
		if !ok {
			break
		}
		b.WriteString(strings.TrimPrefix(text, " "))
	}
	return b.String()
}
