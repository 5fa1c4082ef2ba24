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
		docs  []string // the words that end here-documents begun on this line
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
		case c == '<' && strings.HasPrefix(line[i:], "<<"):
			endWord()
			end, doc := hereDoc(line[i:])
			if doc != "" && !w.feedsShell(words) {
				docs = append(docs, doc)
			}
			i += end - 1
		case c == '\n' && len(docs) > 0:
			endCommand()
			for _, doc := range docs {
				i += len(docBody(line[i:], doc))
			}
			docs = nil
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

// withoutTemplates puts an unknown word in the place of each ${{ … }}, which a CI
// fills in before any shell sees the line.
func withoutTemplates(line string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(line, "${{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		_, after, ok := strings.Cut(rest, "}}")
		if !ok {
			return b.String() + "${{" + rest
		}
		b.WriteString("${FILLED_IN}")
		line = after
	}
}

// hereDoc reads "<<WORD" at the beginning of s: how long it is, and the word that
// ends the here-document. "<<<" begins none.
func hereDoc(s string) (length int, word string) {
	if strings.HasPrefix(s, "<<<") {
		return 3, ""
	}
	n := 2
	for n < len(s) && (s[n] == '-' || s[n] == ' ' || s[n] == '\t') {
		n++
	}
	from := n
	for n < len(s) && s[n] > ' ' && strings.IndexByte(";&|()<>", s[n]) < 0 {
		n++
	}
	return n, strings.Trim(s[from:n], `'"\`)
}

// docBody is the here-document that begins at s, a line's end, up to the end of
// the line before its word.
func docBody(s, word string) string {
	for i := 0; i < len(s); {
		next := strings.IndexByte(s[i+1:], '\n')
		end := len(s)
		if next >= 0 {
			end = i + 1 + next
		}
		if strings.Trim(s[i:end], "\n\r\t") == word {
			return s[:end]
		}
		i = end
	}
	return s
}

// feedsShell reports whether words are a shell that would run a here-document.
func (w *lineWalk) feedsShell(words []string) bool {
	if len(words) == 0 {
		return false
	}
	p := w.j.s.lookup(base(words[0]))
	return p != nil && p.interp != nil && p.interp.shell
}

func isKeyword(word string) bool {
	switch word {
	case "if", "then", "else", "elif", "while", "until", "do", "!", "{", "time":
		return true
	}
	return false
}
