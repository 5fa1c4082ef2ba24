package classifier

import "strings"

// words judges a line that the parser refuses, by a simple reading: quotes are
// kept together, operators end a command. A pasted prompt or a cut line must
// still be told from what it would run.
func (w *lineWalk) words(line, why string) {
	w.fallback = true
	if w.j.t != nil {
		w.j.t.add("the line %s: its words are looked at one by one", why)
	}
	var (
		words []string
		word  []byte
		in    bool // inside a word
		quote byte
	)
	endWord := func() {
		if in {
			words = append(words, string(word))
		}
		word, in = word[:0], false
	}
	endCommand := func() {
		endWord()
		for len(words) > 0 && (isAssignment(words[0]) || isKeyword(words[0])) {
			words = words[1:]
		}
		if len(words) > 0 {
			w.judge(words)
		}
		words = nil
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word = append(word, c)
			}
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == '\\' && i+1 < len(line):
			i++
			word, in = append(word, line[i]), true
		case c == '#' && !in:
			if n := strings.IndexByte(line[i:], '\n'); n >= 0 {
				i += n - 1
			} else {
				i = len(line)
			}
		case strings.IndexByte(";&|()\n`", c) >= 0:
			endCommand()
		case c == ' ' || c == '\t' || c == '\r':
			endWord()
		default:
			word, in = append(word, c), true
		}
	}
	endCommand()
}

func isKeyword(word string) bool {
	switch word {
	case "if", "then", "else", "elif", "while", "until", "do", "!", "{", "time":
		return true
	}
	return false
}
