package classifier

import "strings"

// base is the last component of a path, with what login shells (a leading
// dash), packagers (.exe) and the kernel (" (deleted)") add taken off.
func base(path string) string {
	path = strings.TrimSuffix(path, " (deleted)")
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		path = path[i+1:]
	}
	path = strings.TrimPrefix(path, "-")
	return strings.TrimSuffix(path, ".exe")
}

// cutVersion takes a version suffix off a program's name: gcc-13, python3.12,
// clang++-17, node20. A name without one comes back as it is.
func cutVersion(name string) string {
	i := len(name)
	for i > 0 && (name[i-1] >= '0' && name[i-1] <= '9' || name[i-1] == '.') {
		i--
	}
	if i == len(name) {
		return name
	}
	if i > 0 && name[i-1] == '-' {
		i--
	}
	if i < 2 {
		return name // m4 is not "m"
	}
	return name[:i]
}

// lookup finds a program by its base name, the owner's patterns included.
func (s *Set) lookup(name string) *program {
	p := s.known(name)
	if s.globs != nil {
		p = s.globbed(name, p)
	}
	return p
}

// known finds a program by its base name: as it is, without its version, and
// for compilers without the target before it (x86_64-linux-gnu-g++-12).
func (s *Set) known(name string) *program {
	if p := s.programs[name]; p != nil {
		return p
	}
	cut := cutVersion(name)
	if len(cut) != len(name) {
		if p := s.programs[cut]; p != nil {
			return p
		}
	}
	if i := strings.LastIndexByte(cut, '-'); i > 0 && s.isTarget(cut[:i]) {
		if p := s.programs[cut[i+1:]]; p != nil && p.compiler {
			return p
		}
	}
	return nil
}

// isTarget reports whether prefix reads like a compiler's target triplet.
func (s *Set) isTarget(prefix string) bool {
	if strings.IndexByte(prefix, '-') < 0 {
		return false
	}
	for _, w := range s.crossWords {
		if strings.Contains(prefix, w) {
			return true
		}
	}
	return false
}

// plain is the name by which two names of one program are compared.
func (s *Set) plain(name string) string {
	name = cutVersion(name)
	if i := strings.LastIndexByte(name, '-'); i > 0 && s.isTarget(name[:i]) {
		name = name[i+1:]
	}
	return name
}

// scriptExts are taken off a script's name where its path shows that it is an
// installed tool. `python3 make.py` is a script of the user, whatever its name.
var scriptExts = [...]string{".js", ".mjs", ".cjs", ".py", ".rb", ".pl", ".php"}

// cutExt takes a script's extension off, or returns "".
func cutExt(path, name string) string {
	if cut, ok := strings.CutSuffix(name, ".phar"); ok {
		return cut
	}
	installed := strings.Contains(path, "node_modules/") || strings.Contains(path, "/bin/") ||
		strings.HasPrefix(path, "bin/") || strings.Contains(path, "/lib/") || strings.Contains(path, "/share/")
	if !installed {
		return ""
	}
	for _, ext := range scriptExts {
		if cut, ok := strings.CutSuffix(name, ext); ok {
			return cut
		}
	}
	return ""
}
