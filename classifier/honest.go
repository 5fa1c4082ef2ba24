package classifier

import "strings"

// contradicts reports whether exe, the resolved binary, cannot be what argv[0]
// calls itself. argv[0] is the caller's free choice (`exec -a make passwd`), so
// a compiled tool is believed only if its binary has that name, differs by
// version, target or a dash-separated part (google-chrome and chrome), is known
// to answer to it (a pair), or interprets a script that put up a title. A shell
// puts up none: one that is called make was called so, and is a shell.
func (s *Set) contradicts(name, exe string) bool {
	if exe == "" {
		return false
	}
	real := base(exe)
	if real == name || real == "" || versionOf(exe, real, name) {
		return false
	}
	if p := s.lookup(real); p != nil && p.interp != nil {
		named := s.lookup(name)
		if !p.interp.shell || named != nil && named.interp != nil && named.interp.shell {
			return false
		}
	}
	a, b := s.plain(name), s.plain(real)
	if a == b || hasPart(a, b) || hasPart(b, a) {
		return false
	}
	for _, as := range [...]string{real, b} {
		for _, n := range s.pairs[as] {
			if n == "*" || n == name || n == a || strings.HasSuffix(n, "*") && strings.HasPrefix(a, n[:len(n)-1]) {
				return false
			}
		}
	}
	return true
}

// versionOf reports whether exe is a version of name by its place: programs
// that update themselves keep ~/.local/share/claude/versions/2.0.1.
func versionOf(exe, real, name string) bool {
	if real[0] < '0' || real[0] > '9' || name == "" {
		return false
	}
	dirs := exe[:strings.LastIndexByte(exe, '/')+1]
	i := strings.LastIndex(dirs, name)
	return i > 0 && dirs[i-1] == '/' && dirs[i+len(name):] != "" && dirs[i+len(name)] == '/'
}

// hasPart reports whether part is one of the pieces of name between dashes or
// dots: "ld" in "x86_64-linux-gnu-ld.bfd".
func hasPart(name, part string) bool {
	if part == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(name[from:], part)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(part)
		if (i == 0 || isJoint(name[i-1])) && (end == len(name) || isJoint(name[end])) {
			return true
		}
		from = i + 1
	}
}

func isJoint(c byte) bool { return c == '-' || c == '.' || c == '_' }
