package classifier

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// parseFile reads one rule file. An error begins with file:line, and for an
// unknown key it names the nearest known one.
func parseFile(file string, data []byte) (*fileTables, error) {
	var t fileTables
	dec := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	err := dec.Decode(&t)
	var missing *toml.StrictMissingError
	if errors.As(err, &missing) && len(missing.Errors) > 0 {
		e := &missing.Errors[0]
		line, _ := e.Position()
		key := e.Key()
		msg := fmt.Sprintf("%s:%d: unknown key %q", file, line, strings.Join(key, "."))
		if near := nearest(key[len(key)-1], knownKeys(key[:len(key)-1])); near != "" {
			msg += fmt.Sprintf(", did you mean %q?", near)
		}
		return nil, errors.New(msg)
	}
	var syntax *toml.DecodeError
	if errors.As(err, &syntax) {
		line, _ := syntax.Position()
		return nil, fmt.Errorf("%s:%d: %w", file, line, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &t, nil
}

// knownKeys lists the keys of the table at path: of the file, or of one of its
// arrays of tables.
func knownKeys(path []string) []string {
	typ := reflect.TypeFor[fileTables]()
	for _, name := range path {
		for f := range typ.Fields() {
			if f.Tag.Get("toml") == name && f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
				typ = f.Type.Elem()
				break
			}
		}
	}
	var keys []string
	for f := range typ.Fields() {
		keys = append(keys, f.Tag.Get("toml"))
	}
	return keys
}

// nearest returns the known word with the smallest edit distance to word, or
// "" when nothing is near: more than a third of the letters wrong is no typo.
func nearest(word string, known []string) string {
	best, bestDist := "", len(word)/3+2
	for _, k := range known {
		if d := editDistance(word, k); d < bestDist {
			best, bestDist = k, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions and replacements of bytes that
// turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next := min(row[j]+1, row[j+1]+1, diag+cost)
			diag, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}

// tableLines returns the line of each [[name]] header, in order. The decoder
// keeps no positions, and a rule is known to people by its file and line.
func tableLines(data []byte, name string) []int {
	var lines []int
	header := []byte("[[" + name + "]]")
	for n := 1; len(data) > 0; n++ {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		if bytes.HasPrefix(bytes.TrimSpace(line), header) {
			lines = append(lines, n)
		}
		data = rest
	}
	return lines
}
