package proc

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
)

// number parses decimal digits without making a string of them.
func number(text []byte) (uint64, bool) {
	if len(text) == 0 {
		return 0, false
	}
	var n uint64
	for _, c := range text {
		if c < '0' || c > '9' || n > math.MaxUint64/10 {
			return 0, false
		}
		next := n*10 + uint64(c-'0')
		if next < n {
			return 0, false
		}
		n = next
	}
	return n, true
}

// field cuts the next space-separated field off text.
func field(text []byte) (f, rest []byte) {
	text = bytes.TrimLeft(text, " \t\n")
	if i := bytes.IndexAny(text, " \t\n"); i >= 0 {
		return text[:i], text[i+1:]
	}
	return text, nil
}

// parseLoadavg: "0.20 0.18 0.12 1/80 11206".
func parseLoadavg(text []byte) (int, error) {
	var f []byte
	rest := text
	for range 5 {
		f, rest = field(rest)
	}
	pid, ok := number(f)
	if !ok || pid > math.MaxInt32 {
		return 0, fmt.Errorf("no pid in the fifth field of %q", clip(text))
	}
	return int(pid), nil
}

// parseStat reads /proc/PID/stat. The comm stands in parentheses and may have
// any byte in it, parentheses and spaces included; no later field has one, so
// the last ")" ends it.
func parseStat(text []byte) (Stat, error) {
	var s Stat
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 1 || end < open {
		return s, fmt.Errorf("no comm in stat %q", clip(text))
	}
	pid, ok := number(bytes.TrimRight(text[:open], " "))
	if !ok || pid > math.MaxInt32 {
		return s, fmt.Errorf("no pid in stat %q", clip(text))
	}
	s.ID.PID = int(pid)
	s.Comm = string(text[open+1 : end])

	state, rest := field(text[end+1:])
	if len(state) != 1 {
		return s, fmt.Errorf("no state in stat %q", clip(text))
	}
	s.State = state[0]
	for i := 4; i <= 22; i++ { // numbered as in proc_pid_stat(5)
		var f []byte
		f, rest = field(rest)
		v, err := signed(f)
		if err != nil {
			return s, fmt.Errorf("field %d of stat: %w", i, err)
		}
		switch i {
		case 4:
			s.PPID = int(v)
		case 5:
			s.PGID = int(v)
		case 6:
			s.SID = int(v)
		case 7:
			s.TTY = int(v)
		case 14:
			s.UTime = uint64(v)
		case 15:
			s.STime = uint64(v)
		case 20:
			s.Threads = int(v)
		case 22:
			s.ID.Start = uint64(v)
		}
	}
	return s, nil
}

// signed parses a field that may be negative, as tpgid and priority are.
func signed(f []byte) (int64, error) {
	digits, negative := bytes.CutPrefix(f, []byte("-"))
	n, ok := number(digits)
	if !ok || n > math.MaxInt64 {
		return 0, fmt.Errorf("not a number: %q", clip(f))
	}
	if negative {
		return -int64(n), nil
	}
	return int64(n), nil
}

// line finds "Name:" at the start of a line of /proc/PID/status and gives what
// follows. The comm on the first line cannot fake one: the kernel writes its
// newlines as \n.
func line(text []byte, name string) ([]byte, bool) {
	for len(text) > 0 {
		var l []byte
		l, text, _ = bytes.Cut(text, []byte{'\n'})
		if len(l) > len(name) && l[len(name)] == ':' && string(l[:len(name)]) == name {
			return l[len(name)+1:], true
		}
	}
	return nil, false
}

// parseUIDs reads "Uid:\treal\teffective\tsaved\tfs".
func parseUIDs(status []byte) (real, effective uint32, err error) {
	rest, ok := line(status, "Uid")
	if !ok {
		return 0, 0, errors.New("no Uid in status")
	}
	var ids [2]uint32
	for i := range ids {
		var f []byte
		f, rest = field(rest)
		n, ok := number(f)
		if !ok || n > math.MaxUint32 {
			return 0, 0, fmt.Errorf("not a uid in status: %q", clip(f))
		}
		ids[i] = uint32(n)
	}
	return ids[0], ids[1], nil
}

// parseMemory reads the sizes of status, which are in kB.
func parseMemory(status []byte) Memory {
	size := func(name string) int64 {
		rest, ok := line(status, name)
		if !ok {
			return -1
		}
		f, _ := field(rest)
		n, ok := number(f)
		if !ok || n > math.MaxInt64>>10 {
			return -1
		}
		return int64(n) << 10
	}
	return Memory{
		RssAnon: size("RssAnon"), RssFile: size("RssFile"),
		RssShmem: size("RssShmem"), Swap: size("VmSwap"),
	}
}

// parseCgroup finds the path in the unified hierarchy, the line "0::/path";
// "" where the process is in none.
func parseCgroup(text []byte) string {
	for len(text) > 0 {
		var l []byte
		l, text, _ = bytes.Cut(text, []byte{'\n'})
		if path, ok := bytes.CutPrefix(l, []byte("0::")); ok {
			// So the kernel marks a directory that was removed.
			path, _ = bytes.CutSuffix(path, []byte(" (deleted)"))
			return string(path)
		}
	}
	return ""
}

// parseLoginUID reads /proc/PID/loginuid, which has no newline.
func parseLoginUID(text []byte) uint32 {
	f, _ := field(text)
	n, ok := number(f)
	if !ok || n > math.MaxUint32 {
		return NoLoginUID
	}
	return uint32(n)
}

// parseCmdline splits an argv. Every argument ends in a NUL, empty ones too; a
// process that wrote over its argv may have left none at the end.
func parseCmdline(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	// One string for all of them: the arguments share its memory.
	whole := strings.TrimSuffix(string(text), "\x00")
	argv := make([]string, 0, strings.Count(whole, "\x00")+1)
	for {
		arg, rest, more := strings.Cut(whole, "\x00")
		argv = append(argv, arg)
		if !more {
			return argv
		}
		whole = rest
	}
}

// parseChildren reads the pids of task/TID/children.
func parseChildren(text []byte) []int {
	var pids []int
	for {
		var f []byte
		f, text = field(text)
		if len(f) == 0 {
			return pids
		}
		if n, ok := number(f); ok && n > 0 && n <= math.MaxInt32 {
			pids = append(pids, int(n))
		}
	}
}

// parsePID reads a directory's name; not every name in /proc is a process.
func parsePID(name []byte) (int, bool) {
	n, ok := number(name)
	return int(n), ok && n > 0 && n <= math.MaxInt32
}

// clip bounds what of a file is quoted in an error.
func clip(text []byte) []byte { return text[:min(len(text), 80)] }
