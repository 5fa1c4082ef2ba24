package journal

import (
	"regexp"
	"strings"
)

// maxRawBytes is how much of an argv is looked at: an argv may have 2 MB, and
// no more than maxCommandBytes of it are kept.
const maxRawBytes = 8 * maxCommandBytes

// Command is an argv as one line that may be stored and shown: words that a
// shell would not read as one are quoted, values that look like secrets are
// masked, control characters are escaped, and the line is bounded to 512 bytes.
// It serves the eye and is no shell line to run again.
func Command(argv []string) string {
	words := make([]string, 0, min(len(argv), 64))
	left := maxRawBytes
	for _, word := range argv {
		if left <= 0 {
			// One byte more than is kept, for the ellipsis.
			words = append(words, strings.Repeat(".", maxCommandBytes+1))
			break
		}
		if len(word) > left {
			word = word[:left] + ellipsis
		}
		left -= len(word) + 1
		words = append(words, word)
	}
	maskWords(words)
	for i, word := range words {
		words[i] = quote(word)
	}
	return Escape(strings.Join(words, " "), maxCommandBytes)
}

var bare = regexp.MustCompile(`^[\pL\pN%+,./:=@^_~*-]+$`)

func quote(word string) string {
	if bare.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
