package journal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxCommandBytes = 512
	maxWordsBytes   = 1024 // of a reason or a note
	maxNotes        = 16
)

const ellipsis = "…"

// Escape makes text from another program fit to be shown and stored: control
// characters, invalid UTF-8, and what turns the direction of writing or has no
// width are written as \x1b or \u202e, and the whole is bounded to limit bytes,
// an ellipsis at its end saying that something is missing. Escaping twice is
// the same as once.
func Escape(text string, limit int) string {
	if len(text) <= limit && plain(text) {
		return text
	}
	var b strings.Builder
	whole := 0 // length at which the ellipsis would still fit
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		piece := text[i : i+n]
		switch {
		case r == utf8.RuneError && n == 1:
			piece = fmt.Sprintf(`\x%02x`, text[i])
		case r == '\n':
			piece = `\n`
		case r == '\t':
			piece = `\t`
		case r == '\r':
			piece = `\r`
		case unicode.IsPrint(r):
		case r < 0x80:
			piece = fmt.Sprintf(`\x%02x`, r)
		case r < 0x10000:
			piece = fmt.Sprintf(`\u%04x`, r)
		default:
			piece = fmt.Sprintf(`\U%08x`, r)
		}
		if b.Len()+len(piece) > limit {
			return b.String()[:whole] + ellipsis
		}
		b.WriteString(piece)
		i += n
		if b.Len()+len(ellipsis) <= limit {
			whole = b.Len()
		}
	}
	return b.String()
}

func plain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// clean bounds and escapes every text of a record.
func clean(r *Record) {
	for _, s := range []*string{&r.Event, &r.Job, &r.Family, &r.Rule, &r.Unit, &r.ExitReason, &r.Source} {
		*s = Escape(*s, 256)
	}
	r.Command = Escape(r.Command, maxCommandBytes)
	r.Origin = Escape(r.Origin, maxWordsBytes)
	r.Reason = Escape(r.Reason, maxWordsBytes)
	if len(r.Notes) == 0 {
		return
	}
	notes := make([]string, 0, min(len(r.Notes), maxNotes))
	for i, note := range r.Notes {
		if i == maxNotes-1 && len(r.Notes) > maxNotes {
			notes = append(notes, fmt.Sprintf("%d more notes", len(r.Notes)-i))
			break
		}
		notes = append(notes, Escape(note, maxWordsBytes))
	}
	r.Notes = notes
}
