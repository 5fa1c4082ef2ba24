package classifier

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

// MaxFileBytes is the most that a file of rules may have. All the embedded ones
// together have less than half of it.
const MaxFileBytes = 256 << 10

// ruleFile is one file of rules on its way into a set.
type ruleFile struct {
	name   string
	own    bool // the owner's, not an embedded one
	read   bool // its tables are all there
	tables fileTables
	at     *positions
	faults []error // the file is left out for them

	// What is reported, but puts nothing out of force: a rule to switch off that
	// a newer version no longer has must not cost the rest of the file.
	harmless []error
}

// maxFaults is how many faults of one file are told; nobody reads more.
const maxFaults = 100

// fault notes what is wrong with the file.
func (f *ruleFile) fault(line int, format string, args ...any) {
	if len(f.faults) == maxFaults {
		return
	}
	f.faults = append(f.faults, &FileError{File: f.name, Line: line, Err: fmt.Errorf(format, args...)})
}

// faultsByLine is all that is wrong with the file, in its order.
func (f *ruleFile) faultsByLine() []error {
	all := slices.Concat(f.faults, f.harmless)
	line := func(err error) int {
		if e, ok := errors.AsType[*FileError](err); ok {
			return e.Line
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b error) int { return line(a) - line(b) })
	return all
}

// source is what people are told of the table that begins at the line.
func (f *ruleFile) source(line int) string {
	if f.own {
		return fmt.Sprintf("%s:%d", f.name, line)
	}
	return fmt.Sprintf("built in: %s:%d", f.name, line)
}

// parseFile reads one rule file. What is wrong with it is in its faults; for an
// unknown key they name the nearest known one.
func parseFile(name string, data []byte, own bool) *ruleFile {
	f := &ruleFile{name: name, own: own, at: &positions{}}
	if len(data) > MaxFileBytes {
		f.fault(0, "larger than %d KB", MaxFileBytes>>10)
		return f
	}
	if line := notUTF8(data); line > 0 {
		f.fault(line, "not UTF-8 text")
		return f
	}
	f.at = positionsOf(data)
	if f.at.deep > 0 {
		f.fault(f.at.deep, "a key of more than %d parts", maxKeyParts)
		return f
	}
	f.unknownKeys()
	if len(f.faults) == maxFaults {
		return f // the decoder takes a minute for 30,000 keys
	}
	if err := toml.Unmarshal(data, &f.tables); err != nil {
		f.tables = fileTables{} // half of it was read
		line := 0
		if syntax, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ = syntax.Position()
		}
		f.fault(line, "%s", strings.TrimPrefix(err.Error(), "toml: "))
		return f
	}
	f.read = true
	return f
}

// notUTF8 is the first line that is no UTF-8 text; 0 for none.
func notUTF8(data []byte) int {
	if utf8.Valid(data) {
		return 0
	}
	line := 1
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		data = data[n:]
	}
	return line
}

// unknownKeys finds the keys and tables that mean nothing.
func (f *ruleFile) unknownKeys() {
	top := reflect.TypeFor[fileTables]()
	f.unknownIn("", f.at.keys, top)
	for name, tables := range f.at.tables {
		field, known := fieldOf(top, name)
		if _, inline := f.at.keys[name]; !known && !inline {
			f.unknown(tables[0].line, name, name, top)
		}
		if !known || field.Type.Elem().Kind() != reflect.Struct {
			continue
		}
		for _, table := range tables {
			f.unknownIn(name+".", table.keys, field.Type.Elem())
		}
	}
}

func (f *ruleFile) unknownIn(path string, keys map[string]keyPlace, in reflect.Type) {
	for key, at := range keys {
		if _, known := fieldOf(in, key); !known {
			f.unknown(at.line, path+key, key, in)
		}
	}
}

func (f *ruleFile) unknown(line int, path, key string, in reflect.Type) {
	var known []string
	for field := range in.Fields() {
		known = append(known, field.Tag.Get("toml"))
	}
	f.fault(line, "unknown key %.80q%s", path, suggest(key, known))
}

func fieldOf(typ reflect.Type, key string) (reflect.StructField, bool) {
	for field := range typ.Fields() {
		if field.Tag.Get("toml") == key {
			return field, true
		}
	}
	return reflect.StructField{}, false
}
