package note

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/headroomd/headroomd/loader/proc"
)

// Kind is what a note is about. A caller gets at most one of a kind for each
// event.
type Kind string

const (
	Waiting Kind = "waiting"  // the command waits for its turn
	Started Kind = "started"  // it starts after a wait
	Refused Kind = "refused"  // it was ended instead of started
	OverCap Kind = "over-cap" // it reached its cap and lost a process
	Stopped Kind = "stopped"  // it was ended for the machine's sake
)

// Note is one line for whoever started a process.
type Note struct {
	To proc.ID // whose descriptor 2 is written to
	// Else is written to where To has ended: the shell that started it, which
	// says "Killed" there itself. Only on a terminal, or below an agent: what
	// else a script's stderr goes to is not the business of a job's end. Zero
	// for nobody.
	Else proc.ID
	Kind Kind
	Text string // one of this package's texts; without the prefix

	// Terminal says that nothing but a terminal may be written to: the stderr
	// of compilers, linkers and configure is read by programs, and what is not
	// the root of a hold or the victim of a stop has no note of its own.
	Terminal bool
	// Agent says that a coding agent is among the ancestors. It reads what its
	// commands print, so it gets the note even where stdout and stderr are one
	// pipe; others may parse that.
	Agent bool
}

const (
	prefix   = "headroomd: "
	maxBytes = 300 // of a whole line; a terminal and a pipe take that much at once
	ending   = "\r\n"
	cut      = "..."
)

// line is what is written, without what ends it.
func (n Note) line() string {
	return clean(prefix+n.Text, maxBytes-len(ending))
}

// clean escapes what would do more to a terminal than be shown (control
// characters, invalid UTF-8, what turns the direction of writing or has no
// width), and bounds the text in bytes. A program's name is its own choice.
func clean(text string, limit int) string {
	var b strings.Builder
	whole := 0 // length at which the mark of a cut would still fit
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		piece := text[i : i+n]
		switch {
		case r == utf8.RuneError && n == 1:
			piece = fmt.Sprintf(`\x%02x`, text[i])
		case unicode.IsPrint(r):
		case r < 0x80:
			piece = fmt.Sprintf(`\x%02x`, r)
		default:
			piece = fmt.Sprintf(`\u%04x`, r)
		}
		if b.Len()+len(piece) > limit {
			return b.String()[:whole] + cut
		}
		b.WriteString(piece)
		i += n
		if b.Len()+len(cut) <= limit {
			whole = b.Len()
		}
	}
	return b.String()
}
