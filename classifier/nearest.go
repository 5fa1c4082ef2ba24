package classifier

import "fmt"

// suggest is ", did you mean …?" for a word that is not known but near to one.
func suggest(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ""
}

// nearest returns the known word with the smallest edit distance to word, or
// "" when nothing is near: more than a third of the letters wrong is no typo.
func nearest(word string, known []string) string {
	word = word[:min(len(word), 64)] // a key of 100 KB must not cost seconds
	best, bestDist := "", len(word)/3+2
	for _, k := range known {
		if d := editDistance(word, k); d < bestDist {
			best, bestDist = k, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions and replacements of bytes, and
// the swaps of two neighbours, that turn a into b.
func editDistance(a, b string) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, row[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
