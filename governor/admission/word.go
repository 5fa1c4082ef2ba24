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
