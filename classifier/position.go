package classifier

import (
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

// positions are the lines of what stands in a rule file. The decoder's values
// carry none, and a rule is known to people by its file and line.
type positions struct {
	keys   map[string]keyPlace     // of the keys at the top
	tables map[string][]tablePlace // of the tables, by their names, in order
	deep   int                     // line of the first key with too many parts; 0 for none
}

// maxKeyParts bounds a dotted key; the decoder took 16 s for one of 130,000
// parts. Those that are known have one.
const maxKeyParts = 8

type tablePlace struct {
	line int
	keys map[string]keyPlace
}

// keyPlace is where a key is, and the items of its list.
type keyPlace struct {
	line  int
	items []int
}

// positionsOf reads the lines of a file, up to where it is no TOML any more.
func positionsOf(data []byte) *positions {
	at := &positions{keys: map[string]keyPlace{}, tables: map[string][]tablePlace{}}
	ends := newLineEnds(data)
	p := unstable.Parser{}
	p.Reset(data)
	keys := at.keys
	for p.NextExpression() {
		switch node := p.Expression(); node.Kind {
		case unstable.Table, unstable.ArrayTable:
			name, line := at.name(ends, node)
			keys = map[string]keyPlace{}
			at.tables[name] = append(at.tables[name], tablePlace{line, keys})
		case unstable.KeyValue:
			name, line := at.name(ends, node)
			place := keyPlace{line: line}
			if value := node.Value(); value.Kind == unstable.Array {
				place.items = ends.items(value)
				at.inline(ends, name, line, value)
			}
			keys[name] = place
		}
	}
	return at
}

// inline takes `rule = [{id = "x"}, …]`, the other way to write tables.
func (at *positions) inline(ends lineEnds, name string, line int, value *unstable.Node) {
	for items := value.Children(); items.Next(); {
		if items.Node().Kind != unstable.InlineTable {
			continue
		}
		table := tablePlace{line, map[string]keyPlace{}}
		for pairs := items.Node().Children(); pairs.Next(); {
			if pairs.Node().Kind != unstable.KeyValue {
				continue
			}
			key, line := at.name(ends, pairs.Node())
			table.keys[key] = keyPlace{line: line}
		}
		at.tables[name] = append(at.tables[name], table)
	}
}

// lineEnds are the offsets at which lines end. The parser's own way to a line
// counts from the file's start each time.
type lineEnds []uint32

func newLineEnds(data []byte) lineEnds {
	var ends lineEnds
	for i, c := range data {
		if c == '\n' {
			ends = append(ends, uint32(i))
		}
	}
	return ends
}

// line is the line of what the node stands for; 0 unknown.
func (ends lineEnds) line(raw unstable.Range) int {
	if raw.Length == 0 {
		return 0
	}
	before, _ := slices.BinarySearch(ends, raw.Offset)
	return before + 1
}

// name is the name of a key or a table, its parts joined by dots, and its line.
func (at *positions) name(ends lineEnds, node *unstable.Node) (name string, line int) {
	n := 0
	for parts := node.Key(); parts.Next(); n++ {
		part := parts.Node()
		if n == 0 {
			name, line = string(part.Data), ends.line(part.Raw)
			continue
		}
		if n == maxKeyParts {
			at.deep = max(line, 1)
			break
		}
		name += "." + string(part.Data)
	}
	return name, line
}

func (ends lineEnds) items(array *unstable.Node) []int {
	var lines []int
	for items := array.Children(); items.Next(); {
		lines = append(lines, ends.line(items.Node().Raw))
	}
	return lines
}

// table is the line of the n-th table of that name; 0 unknown.
func (at *positions) table(name string, n int) int {
	if tables := at.tables[name]; n < len(tables) {
		return tables[n].line
	}
	return 0
}

// key is the line of a key in the n-th table of that name, or that of the
// table. An empty name is the top of the file.
func (at *positions) key(name string, n int, key string) int { return at.item(name, n, key, -1) }

// item is the line of the i-th item of a list, or that of its key.
func (at *positions) item(name string, n int, key string, i int) int {
	keys := at.keys
	if name != "" {
		if n >= len(at.tables[name]) {
			return 0
		}
		keys = at.tables[name][n].keys
	}
	k, ok := keys[key]
	switch {
	case !ok:
		return at.table(name, n)
	case i >= 0 && i < len(k.items) && k.items[i] > 0:
		return k.items[i]
	}
	return k.line
}
