package loader

import "strings"

// commBytes is how much of a program's name the kernel keeps (TASK_COMM_LEN
// without its NUL).
const commBytes = 15

// Key makes of a program's name the key that the name map has: as much as a
// comm holds, without a version at the end ([-.]?[0-9.]+), unless nothing would
// be left: "python3.12" and "python3" are "python", "gcc-13" is "gcc", "7z" is
// itself. The BPF program does the same to the comm of each exec.
func Key(comm string) string {
	comm, _, _ = strings.Cut(comm, "\x00")
	comm = comm[:min(len(comm), commBytes)]
	end := len(comm)
	for end > 0 && (comm[end-1] == '.' || '0' <= comm[end-1] && comm[end-1] <= '9') {
		end--
	}
	if end > 0 && end < len(comm) && comm[end-1] == '-' {
		end--
	}
	if end == 0 {
		return comm
	}
	return comm[:end]
}

// keys makes the name map of program names. The tags of names with one key are
// joined. A name longer than a comm shares its key with whatever begins like it
// (x86_64-linux-gnu-gcc and …-nm are both "x86_64-linux-gn"): its argv decides.
func keys(names map[string]uint32) map[string]uint32 {
	m := make(map[string]uint32, len(names))
	for name, tag := range names {
		if name == "" {
			continue
		}
		if len(name) > commBytes {
			tag |= ArgvDecides
		}
		m[Key(name)] |= tag
	}
	return m
}
