package journal

import (
	"path"
	"regexp"
	"strings"
	"unicode"
)

// masked stands for a secret. Its length says nothing of the secret's.
const masked = "***"

// maskWords replaces what looks like a secret in the words of a command. It
// rather masks too much than too little: a masked word costs a reader some
// convenience, a stored password costs its owner more. What no name and no
// form gives away, it cannot know.
func maskWords(words []string) {
	m := masker{}
	for i, word := range words {
		line := i > 0 && shellFlag(words[i-1])
		words[i] = m.word(word, line)
	}
}

// shellFlag reports whether a flag is followed by a shell line: -c, -lc, -ec.
func shellFlag(word string) bool {
	return len(word) >= 2 && len(word) <= 5 && word[0] == '-' && word[1] != '-' && word[len(word)-1] == 'c'
}

// masker goes over the words of a command, and over the words inside a word
// that has several (a shell line, a header).
type masker struct {
	program string // of shortFlags, when it was named
	last    string // the word before
	next    bool   // the next word is a secret
	user    bool   // the next word is USER:PASSWORD
}

func (m *masker) word(word string, shellLine bool) string {
	parts := split(word)
	var b strings.Builder
	until := byte(0) // mask up to the part that has this quote; 'E': to the end
	for i, part := range parts {
		if strings.TrimSpace(part) == "" {
			b.WriteString(part)
			continue
		}
		if until != 0 {
			b.WriteString(masked)
			if end := strings.IndexByte(part, until); until != 'E' && end >= 0 {
				b.WriteString(part[end:])
				until = 0
			}
			continue
		}
		out, open := m.part(part)
		b.WriteString(out)
		if open == 0 {
			continue
		}
		rest := len(parts) > i+1
		switch {
		case open != 'E':
			until = open
		case rest && !shellLine:
			until = 'E'
		case rest && strings.HasSuffix(part, ":"):
			m.next = true
		}
	}
	return b.String()
}

// part masks one word without spaces in it. When its secret goes on behind a
// space, open is the quote that ends it, or 'E' when none does.
func (m *masker) part(part string) (out string, open byte) {
	last := m.last
	m.last = part
	if !m.next && (part == "=" || part == ":" || part == ":=") && secretName(last, true) {
		m.next = true
		return part, 0
	}
	if m.next {
		m.next = false
		quoted := strings.IndexByte("\"'`", part[0]) >= 0
		if quoted && strings.Count(part, part[:1]) == 1 {
			return masked, part[0]
		}
		if strings.EqualFold(strings.Trim(part, `"'`), "bearer") || strings.EqualFold(part, "basic") {
			m.next = true
			return part, 0
		}
		if !strings.HasPrefix(part, "--") {
			return masked, 0
		}
	}
	if m.user {
		m.user = false
		if user, password, ok := strings.Cut(part, ":"); ok && !number(password) {
			return user + ":" + masked, 0
		}
	}
	if flags, known := shortFlags[path.Base(strings.Trim(part, `"'`))]; known {
		m.program = flags
	}
	if name, before, value := assignment(part); name != "" {
		if secretName(name, false) {
			if open = openQuote(part); open == 0 {
				open = 'E'
			}
			if value == "" {
				return part, open
			}
			return before + masked, open
		}
	} else if strings.HasPrefix(part, "-") && secretName(part, true) {
		m.next = true
		return part, 0
	}
	if out, done := m.short(part); done {
		return out, 0
	}
	if strings.EqualFold(strings.Trim(part, `"'`), "bearer") {
		m.next = true
		return part, 0
	}
	return maskForms(part), 0
}

// shortFlags are the programs whose one-letter flags carry a password, and the
// letter. Upper case: the value is USER:PASSWORD.
var shortFlags = map[string]string{
	"sshpass": "p", "mysql": "p", "mysqldump": "p", "mysqladmin": "p", "mariadb": "p", "mariadb-dump": "p",
	"redis-cli": "a", "curl": "U", "mongosh": "p", "mongo": "p", "mongodump": "p",
	"login": "p", // docker login; the -p of docker run is a port
}

func (m *masker) short(part string) (string, bool) {
	if m.program == "" || len(part) < 2 || part[0] != '-' || part[1] == '-' {
		return part, false
	}
	letter := strings.ToLower(m.program)
	if part[1:2] != letter {
		return part, false
	}
	user := m.program != letter
	switch {
	case len(part) > 2 && user:
		if name, _, ok := strings.Cut(part, ":"); ok {
			return name + ":" + masked, true
		}
	case len(part) > 2:
		return part[:2] + masked, true
	case user:
		m.user = true
	default:
		m.next = true
	}
	return part, true
}

var assigned = regexp.MustCompile(`([A-Za-z_][\w.-]*)(["']?[=:])`)

// assignment takes NAME=VALUE or NAME:VALUE with a secret's name out of a word,
// wherever in it the name is: --x=, X=, ?x=, {"x":. All up to the value is
// before.
func assignment(part string) (name, before, value string) {
	for _, g := range assigned.FindAllStringSubmatchIndex(part, -1) {
		name = part[g[2]:g[3]]
		// a_token.py:12 and a_token.py::test are places in a file.
		place := strings.Contains(name, ".") && part[g[5]-1] == ':'
		if !place && secretName(name, false) {
			return name, part[:g[5]], part[g[5]:]
		}
	}
	return "", "", ""
}

// openQuote is the quote that a word opens and does not close.
func openQuote(part string) byte {
	for _, q := range []byte{'"', '\''} {
		if strings.Count(part, string(q))%2 == 1 {
			return q
		}
	}
	return 0
}

var (
	userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)([^\s/:@]*)(:[^\s]*)?@`)
	port     = regexp.MustCompile(`^:\d+(/|$)`)
	known    = regexp.MustCompile(`\b(gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|sk-[\w-]{20,}|xox[abeprs]-[\w-]{10,}|AKIA[0-9A-Z]{12,}|npm_\w{20,}|hf_\w{20,}|pypi-[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]{4,}(\.[\w-]*)?)`)
)

// maskForms masks what shows its nature by its form: the password in a URL, and
// tokens with a known beginning.
func maskForms(part string) string {
	if strings.Contains(part, "://") {
		part = userinfo.ReplaceAllStringFunc(part, func(s string) string {
			g := userinfo.FindStringSubmatch(s)
			switch {
			case port.MatchString(g[3]):
				return s
			case g[3] != "":
				return g[1] + g[2] + ":" + masked + "@"
			case strings.HasPrefix(g[1], "http"):
				return g[1] + masked + "@"
			}
			return s
		})
	}
	return known.ReplaceAllString(part, masked)
}

func number(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// split cuts a word at its spaces and keeps them, so that joining gives it back.
func split(word string) []string {
	var parts []string
	start, space := 0, false
	for i, r := range word {
		if now := unicode.IsSpace(r) || r == ';' || r == '|' || r == '&' && !strings.Contains(word[start:i], "?"); i > start && now != space {
			parts = append(parts, word[start:i])
			start, space = i, now
		} else if i == start {
			space = now
		}
	}
	if start < len(word) {
		parts = append(parts, word[start:])
	}
	return parts
}
