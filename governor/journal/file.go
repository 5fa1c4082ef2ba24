package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
)

const (
	maxFileBytes = 8 << 20 // then it is rotated
	keptFiles    = 2       // rotated ones, path.1 the newer: 24 MB in all
)

// file is the journal's file. It opens itself when written to, again after
// each failure. Only Run's goroutine uses it.
type file struct {
	path string
	max  int64
	f    io.WriteCloser
	size int64
	torn bool // the file may end in a piece of a line
}

func newFile(path string, limit int64) *file {
	if limit <= 0 {
		limit = maxFileBytes
	}
	return &file{path: path, max: limit}
}

// append writes one record by one write, so that a reader or a second writer
// sees whole lines.
func (w *file) append(r Record) error {
	line, err := encode(r)
	if err != nil {
		return fmt.Errorf("encode record: %w", err)
	}
	if w.f == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	if w.size > 0 && w.size+int64(len(line)) > w.max {
		if err := w.rotate(); err != nil {
			return err
		}
	}
	if w.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := w.f.Write(line)
	w.size += int64(n)
	if err != nil {
		w.torn = n > 0 || w.torn
		w.close()
		return fmt.Errorf("write record: %w", err)
	}
	w.torn = false
	return nil
}

// open refuses what is no ordinary file: a FIFO or a device in its place would
// block or act on what is written.
func (w *file) open() error {
	const flags = os.O_RDWR | os.O_APPEND | os.O_CREATE | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	f, err := os.OpenFile(w.path, flags, 0o640)
	if err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not an ordinary file", w.path)
	}
	if err != nil {
		f.Close()
		return fmt.Errorf("open journal: %w", err)
	}
	w.f, w.size = f, info.Size()
	if last := []byte{0}; w.size > 0 {
		if _, err := f.ReadAt(last, w.size-1); err == nil {
			w.torn = last[0] != '\n'
		}
	}
	return nil
}

func (w *file) rotate() error {
	w.close()
	for i := keptFiles; i > 0; i-- {
		if err := os.Rename(rotated(w.path, i-1), rotated(w.path, i)); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("rotate journal: %w", err)
		}
	}
	w.torn = false
	return w.open()
}

func (w *file) close() {
	if w.f != nil {
		w.f.Close()
		w.f = nil
	}
}

// rotated is the name of the i-th file, the one being written being the 0th.
func rotated(path string, i int) string {
	if i == 0 {
		return path
	}
	return path + "." + strconv.Itoa(i)
}

func encode(r Record) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(r)
	return b.Bytes(), err
}
