package governor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// ConfigError is one fault in a file of settings.
type ConfigError struct {
	File string
	Line int // from 1; 0 when unknown
	Err  error
}

func (e *ConfigError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Err) }

// Unwrap gives the fault without its place.
func (e *ConfigError) Unwrap() error { return e.Err }

// place is where a key and the items of its list are in a file.
type place struct {
	key   string
	line  int
	items []int
}

// decode sets in c what the file says, and returns all that is wrong with it.
// The file is read twice: once for the values, and once for the lines, which
// the values do not carry.
func (c *Config) decode(file string, data []byte) []error {
	var values map[string]any
	if err := toml.Unmarshal(data, &values); err != nil {
		fault := &ConfigError{File: file, Err: err}
		if decode, ok := errors.AsType[*toml.DecodeError](err); ok {
			fault.Line, _ = decode.Position()
			fault.Err = errors.New(strings.TrimPrefix(decode.Error(), "toml: "))
		}
		return []error{fault}
	}
	var all []error
	fault := func(line int, err error) {
		all = append(all, &ConfigError{File: file, Line: line, Err: err})
	}
	seen := make(map[string]bool)
	for _, at := range places(data) {
		if seen[at.key] {
			continue // a second part of the same table
		}
		seen[at.key] = true
		s, known := settingOf(at.key)
		if !known {
			fault(at.line, fmt.Errorf("unknown key %.80q; the nearest known one is %s", at.key, nearest(at.key, keys())))
			continue
		}
		if item, err := s.set(c, values[at.key]); err != nil {
			fault(at.itemLine(item), err)
		} else if item, err := s.check(c); err != nil {
			fault(at.itemLine(item), err)
		}
	}
	return all
}

func (p place) itemLine(item int) int {
	if item >= 0 && item < len(p.items) && p.items[item] > 0 {
		return p.items[item]
	}
	return p.line
}

// places lists the keys at the top of a file that is known to be valid, in
// their order.
func places(data []byte) []place {
	var all []place
	p := unstable.Parser{}
	p.Reset(data)
	inTable := false
	for p.NextExpression() {
		node := p.Expression()
		switch node.Kind {
		case unstable.Table, unstable.ArrayTable:
			inTable = true
		case unstable.KeyValue:
			if inTable {
				continue
			}
		default:
			continue
		}
		keys := node.Key()
		if !keys.Next() {
			continue
		}
		key := keys.Node()
		at := place{key: string(key.Data), line: p.Shape(key.Raw).Start.Line}
		if node.Kind == unstable.KeyValue && node.Value().Kind == unstable.Array {
			for items := node.Value().Children(); items.Next(); {
				line := 0
				if raw := items.Node().Raw; raw.Length > 0 {
					line = p.Shape(raw).Start.Line
				}
				at.items = append(at.items, line)
			}
		}
		all = append(all, at)
	}
	return all
}

// set puts a value of the file into its field, if it has the type.
func (s setting) set(c *Config, value any) (item int, err error) {
	want := ""
	switch field := s.field(c).(type) {
	case *string:
		if v, ok := value.(string); ok {
			*field = v
			return -1, nil
		}
		want = "one of " + list(s.words)
	case *bool:
		if v, ok := value.(bool); ok {
			*field = v
			return -1, nil
		}
		want = "true or false"
	case *int:
		if v, ok := value.(int64); ok {
			*field = int(v)
			return -1, nil
		}
		want = "a whole number"
	case *int64:
		if v, ok := value.(int64); ok {
			*field = v
			return -1, nil
		}
		want = "a whole number"
	case *[]string:
		values, ok := value.([]any)
		if !ok {
			want = "a list of strings"
			break
		}
		texts := make([]string, 0, len(values))
		for i, v := range values {
			text, ok := v.(string)
			if !ok {
				return i, fmt.Errorf("%s has %s in its list; it wants strings", s.key, typeWord(v))
			}
			texts = append(texts, text)
		}
		*field = texts
		return -1, nil
	}
	return -1, fmt.Errorf("%s is %s; it wants %s", s.key, typeWord(value), want)
}

func typeWord(value any) string {
	switch v := value.(type) {
	case string:
		return fmt.Sprintf("the string %.80q", v)
	case bool:
		return fmt.Sprint(v)
	case int64:
		return fmt.Sprintf("the number %d", v)
	case float64:
		return fmt.Sprintf("the number %v", v)
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a date or a time"
}
