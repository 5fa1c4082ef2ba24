package vmtests

import (
	"bufio"
	"bytes"
	"io"
)

// untilExit passes a guest's stream on up to its last word, with which it ends:
// the machine may live on for a shell, or hang while it powers off.
func untilExit(raw io.Reader) io.Reader {
	r, w := io.Pipe()
	go func() {
		lines := bufio.NewReaderSize(raw, 64<<10)
		atStart := true
		for {
			line, err := lines.ReadSlice('\n')
			// A line longer than the buffer comes in pieces; only a first piece
			// can be the last word.
			last := atStart && bytes.HasPrefix(line, []byte(exitWord))
			atStart = err == nil
			if _, werr := w.Write(line); werr != nil {
				return
			}
			if err != nil && err != bufio.ErrBufferFull || last {
				w.CloseWithError(io.EOF)
				return
			}
		}
	}()
	return r
}
