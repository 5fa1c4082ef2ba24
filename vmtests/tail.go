package vmtests

import (
	"bytes"
	"io"
	"os"
	"strings"
)

// tailFile returns the last lines of a log, for a failure message. What cannot
// be read is said in their place. At most 64 KB are read.
func tailFile(path string, lines int) string {
	f, err := os.Open(path)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	defer f.Close()
	if end, err := f.Seek(0, io.SeekEnd); err == nil {
		f.Seek(max(0, end-64<<10), io.SeekStart)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return tail(data, lines)
}

// tail returns the last lines of a console's output. A console speaks to a
// terminal: carriage returns and colour sequences are dropped.
func tail(data []byte, lines int) string {
	all := bytes.Split(bytes.TrimRight(data, "\r\n"), []byte("\n"))
	if len(all) > lines {
		all = all[len(all)-lines:]
	}
	var b strings.Builder
	for i, line := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(plain(line))
	}
	return b.String()
}

// plain drops escape sequences (ESC [ … letter) and other control characters.
func plain(line []byte) string {
	var out []byte
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == 0x1b && i+1 < len(line) && line[i+1] == '[':
			for i += 2; i < len(line) && (line[i] < 0x40 || line[i] > 0x7e); i++ {
			}
		case c == '\t' || c >= 0x20 && c != 0x7f:
			out = append(out, c)
		}
	}
	return string(out)
}
