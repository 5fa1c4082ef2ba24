package admission

import (
	"fmt"
	"hash/fnv"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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

// file says that the word has a file's extension.
func file(word string) bool {
	ext := path.Ext(withoutNumbers(path.Base(word)))
	return len(ext) > 1 && strings.Trim(word, "./") != ""
}

// program is the name of the program, whatever its version.
func program(word string) string {
	if word == "" {
		return ""
	}
	word = path.Base(word)
	if !showable(word) {
		return ""
	}
	if name := strings.TrimRight(word, "0123456789.-"); name != "" {
		return name
	}
	return word
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

// secretive says whether a name is one under which a secret is handed over.
func secretive(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"pass", "secret", "token", "key", "auth", "cred"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// maxWord is the length beyond which a word is no longer one.
const maxWord = 40

// plain is the word without its numbers; "" when it is a number, a hash, the
// name of a temporary file, or nothing that could be shown.
func plain(word string) string {
	if word == "" || !showable(word) || quantity(word) {
		return ""
	}
	word = strings.TrimRight(withoutNumbers(word), "@:=_,+-")
	if !strings.ContainsFunc(word, unicode.IsLetter) && strings.Trim(word, ".") != "" {
		return ""
	}
	return word
}

// showable says that a word is bounded, can be printed, and is no random name.
func showable(word string) bool {
	if len(word) > maxWord || !utf8.ValidString(word) || temporary(word) {
		return false
	}
	if strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' || r == utf8.RuneError }) {
		return false
	}
	return !slices.ContainsFunc(strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), hashed)
}

// quantity says that the word is a number, perhaps with a unit: 8, 1.5, 512M,
// 30s, 2GiB.
func quantity(word string) bool {
	rest := strings.TrimLeft(word, "0123456789.,:")
	return rest != word && len(rest) <= 3 && strings.ContainsAny(word, "0123456789")
}

// withoutNumbers removes runs of digits with the dots between them:
// python3.12 is python, lodash@4.17.21 is lodash@.
func withoutNumbers(word string) string {
	var b strings.Builder
	for i := 0; i < len(word); {
		if !digit(word[i]) {
			b.WriteByte(word[i])
			i++
			continue
		}
		for i < len(word) && (digit(word[i]) || word[i] == '.' && i+1 < len(word) && digit(word[i+1])) {
			i++
		}
	}
	return b.String()
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// hashed says that the part of a word is a hash or a random name: 7 and more
// hexadecimal digits of which one is a digit, or 16 and more letters and digits
// of both cases.
func hashed(part string) bool {
	if len(part) < 7 {
		return false
	}
	var digits, upper, lower, hex int
	for i := range len(part) {
		c := part[i]
		switch {
		case digit(c):
			digits++
			hex++
		case 'a' <= c && c <= 'z':
			lower++
			if c <= 'f' {
				hex++
			}
		case 'A' <= c && c <= 'Z':
			upper++
			if c <= 'F' {
				hex++
			}
		}
	}
	return hex == len(part) && (digits > 0 || len(part) >= 16) || len(part) >= 16 && digits > 0 && upper > 0 && lower > 0
}

// temporary says that the word is the name of a temporary file.
func temporary(word string) bool {
	word = strings.ToLower(word)
	return strings.HasPrefix(word, "tmp") || strings.HasPrefix(word, "temp-") || strings.HasPrefix(word, ".tmp") ||
		strings.HasSuffix(word, ".tmp") || strings.Contains(word, "xxxxxx")
}

// digest stands for program text.
func digest(text string) string {
	h := fnv.New32a()
	h.Write([]byte(text))
	return fmt.Sprintf("~%08x", h.Sum32())
}
