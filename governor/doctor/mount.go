package doctor

import "strings"

// mount is one line of /proc/self/mountinfo.
type mount struct {
	root    string // which part of the file system is mounted
	at      string
	kind    string // file system type
	source  string
	options string // of the super block
	flags   string // of this mount
}

// parseMounts reads "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw".
func parseMounts(text string) []mount {
	var all []mount
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(line, " - ")
		where, what := strings.Fields(before), strings.Fields(after)
		if !ok || len(where) < 6 || len(what) < 3 {
			continue
		}
		all = append(all, mount{unescape(where[3]), unescape(where[4]), what[0], unescape(what[1]), what[2], where[5]})
	}
	return all
}

// readOnly reports whether nothing can be written through this mount.
func (m mount) readOnly() bool {
	return m.flags == "ro" || strings.HasPrefix(m.flags, "ro,")
}

// unescape undoes the octal escapes of mountinfo and /proc/swaps.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// holding is the mount that has a path, the last of those that lie deepest.
func holding(all []mount, path string) (mount, bool) {
	var best mount
	found := false
	for _, m := range all {
		below := m.at == "/" || path == m.at || strings.HasPrefix(path, m.at+"/")
		if below && (!found || len(m.at) >= len(best.at)) {
			best, found = m, true
		}
	}
	return best, found
}
