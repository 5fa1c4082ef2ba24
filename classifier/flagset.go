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

// glob matches a pattern with at most one "*", anywhere.
func glob(pattern, word string) bool {
	i := strings.IndexByte(pattern, '*')
	if i < 0 {
		return pattern == word
	}
	head, tail := pattern[:i], pattern[i+1:]
	return len(word) >= len(head)+len(tail) && strings.HasPrefix(word, head) && strings.HasSuffix(word, tail)
}

func globAny(patterns []string, word string) bool {
	for _, p := range patterns {
		if glob(p, word) {
			return true
		}
	}
	return false
}
