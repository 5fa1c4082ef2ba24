package governor

import "strings"

func keys() []string {
	all := make([]string, len(settings))
	for i, s := range settings {
		all[i] = s.key
	}
	return all
}

func settingOf(key string) (setting, bool) {
	for _, s := range settings {
		if s.key == key {
			return s, true
		}
	}
	return setting{}, false
}

// nearest is the word that takes the fewest changed, added, missing and
// swapped letters to become what was written.
func nearest(written string, words []string) string {
	written = strings.ToLower(strings.ReplaceAll(written, "-", "_"))
	best, least := "", 1<<30
	for _, word := range words {
		if d := distance(bound(written), word); d < least {
			best, least = word, d
		}
	}
	return best
}

// bound keeps a key of a hundred kilobytes from costing seconds.
func bound(s string) string { return s[:min(len(s), 64)] }

func distance(a, b string) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}

// list is "a, b or c".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
