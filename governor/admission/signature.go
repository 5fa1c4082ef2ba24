package admission

import (
	"path"
	"strings"
	"unicode"
)

// A signature is bounded, since a compiler's argv may have a thousand words.
const (
	maxSignatureWords = 8
	maxSignatureBytes = 96
)

// Signature is what an argv is remembered by: the words that say what is done,
// without what differs from run to run of the same work. "make -j8 all" and
// "make -j 4 all" are "make -j all"; "/usr/bin/node /srv/x/cli.js build" is
// "node cli.js build".
//
// Dropped are numbers, hashes, names of temporary files, directories, URLs, and
// the values of flags unless they are plain words. Files are dropped but for
// the first, which with an interpreter is the program; a linter is handed
// others each time. Program text given as a word (python3 -c …) is replaced by
// a short hash of it. What follows a flag that names a secret is never kept.
func Signature(argv []string) string {
	if len(argv) == 1 && strings.ContainsRune(argv[0], ' ') {
		argv = strings.Fields(argv[0]) // a program that wrote its title over its argv
	}
	var s signature
	for i, word := range argv {
		if !s.add(s.word(i, word)) {
			break
		}
	}
	return strings.Join(s.words, " ")
}

// signature is one in the making.
type signature struct {
	words   []string
	bytes   int
	operand bool // the first word that is no flag was seen
	secret  bool // the word before was a flag that names a secret
}

func (s *signature) add(word string) bool {
	if word == "" {
		return true
	}
	if len(s.words) == maxSignatureWords || s.bytes+len(word)+1 > maxSignatureBytes+1 {
		return false
	}
	s.words = append(s.words, word)
	s.bytes += len(word) + 1
	return true
}

// word is what the signature keeps of one word; "" when nothing.
func (s *signature) word(i int, word string) string {
	switch {
	case i == 0:
		return program(word)
	case s.secret && !strings.HasPrefix(word, "-"):
		s.secret = false
		return ""
	case strings.ContainsFunc(word, unicode.IsSpace):
		return digest(word)
	case strings.Contains(word, "://"), strings.HasPrefix(word, "@"):
		return ""
	}
	name, value, valued := strings.Cut(word, "=")
	flag := strings.HasPrefix(word, "-")
	if flag || valued {
		s.secret = flag && !valued && secretive(name)
		return named(name, value, valued)
	}
	if word == "" {
		return ""
	}
	if first := !s.operand; first {
		s.operand = true
		return plain(path.Base(word))
	}
	if strings.HasPrefix(word, "/") || strings.HasPrefix(word, "~") || file(word) {
		return ""
	}
	return plain(path.Base(word))
}

// named is what is kept of a flag or of NAME=value.
func named(name, value string, valued bool) string {
	if i := strings.IndexByte(name, '/'); i >= 0 {
		name = name[:i] // -I/usr/include
	}
	name = plain(name)
	if name == "" || !valued || secretive(name) || len(value) > 16 {
		return name
	}
	for _, r := range value {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && r != '-' && r != '_' && r != ',' {
			return name
		}
	}
	return name + "=" + value
}
