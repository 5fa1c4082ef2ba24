package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// EditKind is how a file has the kernel's words.
type EditKind string

// The kinds.
const (
	Cmdline EditKind = "cmdline" // one line of words, as the firmware of a Raspberry Pi reads it
	Grub    EditKind = "grub"    // shell variables: GRUB_CMDLINE_LINUX_DEFAULT="quiet splash"
)

// Edit is a change of the kernel words in one file.
type Edit struct {
	Path   string   `json:"path"`
	Kind   EditKind `json:"kind"`
	Add    []string `json:"add"`
	Remove []string `json:"remove,omitempty"`
	After  []string `json:"after,omitempty"` // commands that make it count, besides a reboot
}

// with is the edit that makes both changes.
func (e Edit) with(o Edit) Edit {
	join := func(a, b []string) []string {
		all := slices.Clone(a)
		for _, w := range b {
			if !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
		return all
	}
	e.Add, e.Remove, e.After = join(e.Add, o.Add), join(e.Remove, o.Remove), join(e.After, o.After)
	return e
}

// Apply makes the change in the file's text. A text that has it already comes
// back as it was. An error says that the file is not what it should be: then
// nothing is known about what an edit would do to the next boot.
func (e Edit) Apply(text string) (string, error) {
	if len(text) > 64<<10 || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", errors.New("it is not a text of kernel words")
	}
	switch e.Kind {
	case Cmdline:
		return e.cmdline(text)
	case Grub:
		return e.grub(text)
	}
	return "", fmt.Errorf("no such kind of file: %q", e.Kind)
}

// cmdline edits the one line of a cmdline.txt. The firmware reads no further
// than its end, so a second line with text in it is refused, not joined.
func (e Edit) cmdline(text string) (string, error) {
	line, rest, _ := strings.Cut(text, "\n")
	line, cr := strings.CutSuffix(line, "\r")
	switch {
	case strings.TrimSpace(rest) != "":
		return "", errors.New("it has more than one line, of which the firmware reads the first alone")
	case !strings.Contains(line, "root="):
		return "", errors.New("it has no root= in its line, so it is not what this machine starts with")
	}
	edited := e.words(line)
	if edited == line {
		return text, nil
	}
	if cr {
		edited += "\r"
	}
	return edited + text[len(line)+b2i(cr):], nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// grub edits GRUB_CMDLINE_LINUX_DEFAULT, and takes words to be removed out of
// GRUB_CMDLINE_LINUX as well. The last assignment of a shell variable counts.
func (e Edit) grub(text string) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	added := false
	for i := len(lines) - 1; i >= 0; i-- {
		for _, name := range []string{"GRUB_CMDLINE_LINUX_DEFAULT", "GRUB_CMDLINE_LINUX"} {
			value, ok := strings.CutPrefix(lines[i], name+"=")
			if !ok {
				continue
			}
			change := Edit{Remove: e.Remove}
			if name == "GRUB_CMDLINE_LINUX_DEFAULT" && !added {
				change.Add, added = e.Add, true
			}
			if len(change.Add) == 0 && !slices.ContainsFunc(e.Remove, func(w string) bool { return strings.Contains(value, w) }) {
				continue // nothing to do in it, whatever it is
			}
			edited, err := change.quoted(strings.TrimRight(value, "\r\n"))
			if err != nil {
				return "", fmt.Errorf("line %d, %s: %w", i+1, name, err)
			}
			lines[i] = name + "=" + edited + value[len(strings.TrimRight(value, "\r\n")):]
		}
	}
	if !added && len(e.Add) > 0 {
		if last := lines[len(lines)-1]; last != "" {
			lines[len(lines)-1] += "\n"
		}
		lines = append(lines, fmt.Sprintf("GRUB_CMDLINE_LINUX_DEFAULT=%q\n", strings.Join(e.Add, " ")))
	}
	return strings.Join(lines, ""), nil
}

// quoted edits a value as shell has it. One that is not plain, with a variable
// or a command in it or text behind it, is left to its owner.
func (e Edit) quoted(value string) (string, error) {
	trimmed := strings.TrimRight(value, " \t")
	quote := `"`
	inner := trimmed
	for _, q := range []string{`"`, `'`} {
		if len(trimmed) >= 2 && strings.HasPrefix(trimmed, q) && strings.HasSuffix(trimmed, q) {
			quote, inner = q, trimmed[1:len(trimmed)-1]
			break
		}
	}
	if strings.ContainsAny(inner, "\"'`$\\#;&|<>()") || inner == trimmed && strings.ContainsAny(inner, " \t") {
		return "", fmt.Errorf("the value %s is more than plain words in quotes", value)
	}
	edited := e.words(inner)
	if edited == inner {
		return value, nil
	}
	return quote + edited + quote, nil
}

// words adds and removes. What stays keeps its order and its blanks, as far as
// nothing beside it goes. A word that is there but is overruled by a later one
// of the same name (psi=1 … psi=0) is taken out and added at the end: the
// kernel takes the last.
func (e Edit) words(line string) string {
	drop := slices.Clone(e.Remove)
	words := strings.Fields(line)
	var add []string
	for _, w := range e.Add {
		name, _, _ := strings.Cut(w, "=")
		last := ""
		for _, have := range words {
			// cgroup_enable= may be given several times, each for itself.
			if have == w || name != "cgroup_enable" && strings.HasPrefix(have, name+"=") {
				last = have
			}
		}
		if last == w {
			continue
		}
		if last != "" {
			for _, have := range words {
				if strings.HasPrefix(have, name+"=") {
					drop = append(drop, have)
				}
			}
		}
		add = append(add, w)
	}
	gone := false
	for _, w := range words {
		gone = gone || slices.Contains(drop, w)
	}
	if !gone && len(add) == 0 {
		return line
	}
	if gone {
		words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(drop, w) })
		line = strings.Join(words, " ")
	}
	if len(add) == 0 {
		return line
	}
	return strings.TrimLeft(strings.TrimRight(line, " \t")+" "+strings.Join(add, " "), " ")
}
