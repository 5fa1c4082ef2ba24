package classifier

import (
	"slices"
	"strings"
)

// carry looks at what c runs. ok is false when c does not apply: another
// subcommand, or nothing to carry.
func (j *judge) carry(c *carrier, name string, words []string) (result, bool) {
	if c.chains() {
		if parts := chained(words); len(parts) > 1 {
			for _, part := range parts {
				if r := j.command(append([]string{words[0]}, part...), ""); r.heavy {
					return r, true
				}
			}
			return result{}, false
		}
	}
	args, ok := c.applies(j, words[1:])
	if !ok {
		return result{}, false
	}
	if j.t != nil {
		if c.where == "" {
			j.t.add("%s runs what its arguments name", shown(name))
		} else {
			j.t.add("%s runs what its arguments name, %s", shown(name), c.where)
		}
	}
	if c.line != nil {
		if line, ok := lineOption(c, args); ok {
			return j.carried(c, j.line(line)), true
		}
	}
	rest := c.command(args, j)
	if len(rest) == 0 {
		if lines := c.given(args); lines != nil {
			return j.carried(c, j.lines(lines)), true
		}
		return result{}, false
	}
	switch c.rest {
	case "none":
		return result{}, false
	case "line":
		return j.carried(c, j.line(c.joined(rest))), true
	case "lines":
		return j.carried(c, j.lines(rest)), true
	case "either":
		// A program's name has no blank: pm2 start "npm run dev" --name api.
		if len(rest) == 1 || strings.IndexByte(rest[0], ' ') > 0 {
			return j.carried(c, j.line(rest[0])), true
		}
	}
	if c.appends {
		rest = append(append(make([]string, 0, len(rest)+1), rest...), "$…")
	}
	if c.as != nil {
		rest = append(append(make([]string, 0, len(c.as)+len(rest)), c.as...), rest...)
	}
	return j.carried(c, j.command(rest, "")), true
}

// chains reports whether c's program takes several commands of its own, parted
// by ";": tmux new -d \; send-keys 'npm test' Enter.
func (c *carrier) chains() bool {
	return c.subs != nil && c.after == nil && slices.Contains(c.until, ";")
}

// chained parts words at each ";".
func chained(words []string) [][]string {
	var parts [][]string
	for rest := words[1:]; ; {
		i := slices.Index(rest, ";")
		if i < 0 {
			return append(parts, rest)
		}
		parts = append(parts, rest[:i])
		rest = rest[i+1:]
	}
}

// joined is the line that the words make when c joins them. What c adds of its
// own, where the line has no place for it ({}), is one word that nobody knows. A
// typed line ends in the key that sends it (screen -X stuff "make\n").
func (c *carrier) joined(words []string) string {
	line := strings.Join(words, " ")
	for _, key := range [...]string{`\n`, `\r`, `\015`, "^M"} {
		line = strings.TrimSuffix(line, key)
	}
	if c.appends && strings.IndexByte(line, '{') < 0 {
		line += ` "$_"`
	}
	return line
}

// given are the lines behind the word that ends the command, where there is no
// command: parallel ::: 'npm test' 'make'.
func (c *carrier) given(args []string) []string {
	if c.rest != "line" || !c.appends || c.until == nil {
		return nil
	}
	for i, a := range args {
		if a == c.until[0] {
			return args[i+1:]
		}
	}
	return nil
}

// carried marks a result as that of a carrier.
func (j *judge) carried(c *carrier, r result) result {
	r.kind |= Carrier | c.kind
	r.captures = r.captures && c.captures
	if r.heavy && c.where != "" {
		r.reason += ", " + c.where
	}
	return r
}

// sub returns the index behind the carrier's subcommand, or -1.
func (c *carrier) sub(a *parsed) int {
	first := a.next(0)
	if first < 0 {
		return -1
	}
	for _, words := range c.subs {
		if i := a.follow(words, first); i >= 0 {
			return i
		}
	}
	return -1
}

// lineOption finds an option whose value is a shell line: su -c LINE. Such an
// option may stand behind an operand (`su pi -c`), but not behind a command.
func lineOption(c *carrier, args []string) (string, bool) {
	operands := 0
	for i := 0; i < len(args) && i < maxArgs; i++ {
		a := args[i]
		if a == "--" {
			return "", false
		}
		if len(a) < 2 || a[0] != '-' {
			if operands++; operands > c.skip+1 {
				return "", false
			}
			continue
		}
		if c.line.has(a) {
			if eq := strings.IndexByte(a, '='); eq > 0 {
				return a[eq+1:], true
			}
			if i+1 < len(args) {
				return args[i+1], true
			}
			return "", false
		}
		if a[1] != '-' && c.g.cluster && a[len(a)-1] < 128 && c.line.letters[a[len(a)-1]] && i+1 < len(args) {
			return args[i+1], true // script -qec LINE
		}
		if c.g.takesValue(a) {
			i++
		}
	}
	return "", false
}

// command cuts args down to the command that c runs.
func (c *carrier) command(args []string, j *judge) []string {
	if c.after != nil {
		for i, a := range args {
			for _, w := range c.after {
				if a == w {
					return c.ended(args[i+1:])
				}
			}
		}
		return nil
	}
	skip := c.skip
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			if i+1+skip > len(args) {
				return nil
			}
			rest := args[i+1+skip:]
			for c.assign && len(rest) > 0 && isAssignment(rest[0]) {
				j.env = append(j.env, rest[0])
				rest = rest[1:]
			}
			return c.ended(rest)
		case len(a) > 1 && a[0] == '-':
			if c.g.takesValue(a) {
				i++
			}
		case len(a) > 1 && a[0] == '$' && skip == 0 && i+1 < len(args):
			continue // an expansion before the command: options most often
		case c.assign && isAssignment(a):
			j.env = append(j.env, a)
		case skip > 0:
			skip--
		default:
			return c.ended(args[i:])
		}
	}
	return nil
}

// ended cuts the command at a word that ends it (find's ";").
func (c *carrier) ended(args []string) []string {
	for i, a := range args {
		for _, w := range c.until {
			if a == w {
				return args[:i]
			}
		}
	}
	return args
}
