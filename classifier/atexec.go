package classifier

// maxLineAtExec bounds a line that is parsed at an exec (npx -c LINE), in
// bytes: 8 KB take a millisecond, and nobody types more.
const maxLineAtExec = 8 << 10

// skips reports whether p, the program of the exec itself, only carries others:
// where nothing but its capture is asked for, that is the answer already. (An
// owner's pattern may want a find that carries nothing.)
func (j *judge) skips(p *program) bool {
	if !j.atExec || j.depth != 1 || j.s.extra != nil || len(p.carriers) == 0 || len(p.rules) > 0 || p.interp != nil {
		return false
	}
	for _, c := range p.carriers {
		if c.captures {
			return false
		}
	}
	return true
}
