package classifier

import "strings"

// flagSet is a compiled list of option patterns: exact ("--version", which also
// matches "--version=x"), prefixes ("-print-*"), and pairs ("-c copy": the
// option with that value).
type flagSet struct {
	exact   map[string]struct{}
	prefix  []string
	pairs   [][2]string
	letters [128]bool // the one-letter options, found inside clusters
}

func newFlagSet(lists ...[]string) *flagSet {
	f := &flagSet{}
	for _, list := range lists {
		for _, p := range list {
			if flag, value, ok := strings.Cut(p, " "); ok {
				f.pairs = append(f.pairs, [2]string{flag, value})
				continue
			}
			if cut, ok := strings.CutSuffix(p, "*"); ok {
				f.prefix = append(f.prefix, cut)
				continue
			}
			if f.exact == nil {
				f.exact = map[string]struct{}{}
			}
			f.exact[p] = struct{}{}
			if len(p) == 2 && p[0] == '-' && p[1] < 128 {
				f.letters[p[1]] = true
			}
		}
	}
	if f.exact == nil && f.prefix == nil && f.pairs == nil {
		return nil
	}
	return f
}

func (f *flagSet) has(flag string) bool {
	if _, ok := f.exact[flag]; ok {
		return true
	}
	if i := strings.IndexByte(flag, '='); i > 0 {
		if _, ok := f.exact[flag[:i]]; ok {
			return true
		}
	}
	for _, p := range f.prefix {
		if strings.HasPrefix(flag, p) {
			return true
		}
	}
	return false
}

// glob matches a pattern in which each "*" stands for any text.
func glob(pattern, word string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == word
	}
	if !strings.HasPrefix(word, head) {
		return false
	}
	word = word[len(head):]
	for {
		part, more, again := strings.Cut(rest, "*")
		if !again {
			return strings.HasSuffix(word, part)
		}
		i := strings.Index(word, part)
		if i < 0 {
			return false
		}
		word, rest = word[i+len(part):], more
	}
}

func globAny(patterns []string, word string) bool {
	for _, p := range patterns {
		if glob(p, word) {
			return true
		}
	}
	return false
}
