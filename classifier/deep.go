package classifier

import "strings"

// The parser recurses, and a Go stack grows to 1 GB before the process dies. A
// line is therefore refused when it holds more of what may open a level than
// any real script does: `$((1,1,1…` of 1 MB took 512 MB of stack. What closes a
// level is not counted: to know it from a bracket in a text takes a parser. So
// source code in a here-document counts in full, some 50 in a KB.
const (
	maxOpeners   = 10_000    // parentheses, braces, pipes, keywords: 66 MB of stack if all are nested
	maxOperators = 20_000    // of arithmetic and tests, where the line has any
	maxParsed    = 256 << 10 // bytes: 40 MB as a tree at worst, and an exec takes no argument over 128 KB
)

// tooDeep counts what may open a level for the parser.
func tooDeep(line string) bool {
	if len(line) > maxParsed {
		return true
	}
	openers, operators := 0, 0
	for i := range len(line) {
		switch line[i] {
		case '(', '{', '`', '|', '&', '[', '!':
			openers++
		case '+', '-', '*', '/', '%', '?', ':', ',', '=', '~', '<', '>', '^':
			operators++
		case 'i', 'w', 'u', 'f', 'c', 's', 't': // if while until for case select time
			if (i == 0 || line[i-1] <= ' ' || line[i-1] == ';') && opensBlock(line[i:]) {
				openers++
			}
		}
	}
	return openers > maxOpeners || operators > maxOperators && hasArithmetic(line)
}

// hasArithmetic reports whether operators may nest in line at all.
func hasArithmetic(line string) bool {
	for _, s := range [...]string{"((", "[", "${", "let "} {
		if strings.Contains(line, s) {
			return true
		}
	}
	return false
}

var blockWords = [...]string{"if", "while", "until", "for", "case", "select", "time", "function", "coproc"}

func opensBlock(s string) bool {
	for _, k := range blockWords {
		if strings.HasPrefix(s, k) && (len(s) == len(k) || s[len(k)] <= ' ') {
			return true
		}
	}
	return false
}
