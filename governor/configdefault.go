package governor

import (
	"fmt"
	"strings"
)

// DefaultFile is the documented file of settings: every key with what it does
// and its default, commented out, so that an upgrade may change a default that
// nobody chose.
func DefaultFile() []byte {
	var b strings.Builder
	b.WriteString(`# Settings of headroomd. What is commented out has the value shown.
# Sizes are in MB (2^20 bytes). Files *.toml in the directory headroom.toml.d
# beside this file are read after it, in the order of their names.
`)
	c := Default()
	for _, s := range settings {
		b.WriteByte('\n')
		for _, line := range s.about {
			fmt.Fprintf(&b, "# %s\n", line)
		}
		if s.words != nil {
			fmt.Fprintf(&b, "# One of %s.\n", list(s.words))
		}
		fmt.Fprintf(&b, "#%s = %s\n", s.key, s.text(&c))
	}
	return []byte(b.String())
}

// text is the value of a setting as TOML has it.
func (s setting) text(c *Config) string {
	switch value := s.field(c).(type) {
	case *string:
		return quoteTOML(*value)
	case *bool:
		return fmt.Sprint(*value)
	case *int:
		return fmt.Sprint(*value)
	case *int64:
		return fmt.Sprint(*value)
	case *[]string:
		items := make([]string, len(*value))
		for i, item := range *value {
			items[i] = quoteTOML(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return ""
}

// quoteTOML writes a basic string. TOML has no \x escape, which is why
// strconv.Quote does not serve.
func quoteTOML(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
