package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/headroomd/headroomd/classifier"
)

// maxLine bounds one line of the standard input. An argv with its environment
// is at most 2 MB on Linux with the usual stack limit.
const maxLine = 4 << 20

// stream answers each line of in, in order. An answer is handed on before more
// is waited for, so that a program may ask, read, and ask again.
func (e *explainer) stream(in io.Reader, out io.Writer, f explainFlags, show func(io.Writer, answer) error) error {
	end := byte('\n')
	if f.nul {
		end = 0
	}
	r := bufio.NewReaderSize(in, 64<<10)
	w := bufio.NewWriterSize(out, 64<<10)
	failed := false
	for {
		line, err := readLine(r, end)
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended && !errors.Is(err, errTooLong) {
			return fmt.Errorf("read the standard input: %w", err)
		}
		a := e.answerLine(line, f.argv)
		if errors.Is(err, errTooLong) {
			a = answer{Error: err.Error()}
		}
		if a.Error != "" {
			failed = true
			a.Class, a.Trace = classifier.Light, []string{}
		}
		if err := show(w, a); err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
		if waiting, _ := r.Peek(r.Buffered()); bytes.IndexByte(waiting, end) < 0 {
			if err := w.Flush(); err != nil {
				return fmt.Errorf("write an answer: %w", err)
			}
		}
		if ended {
			break
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write an answer: %w", err)
	}
	if failed {
		return errors.New("explain: some lines could not be read; their answers say so")
	}
	return nil
}

func (e *explainer) answerLine(line []byte, argv bool) answer {
	if !argv {
		return e.line(string(line))
	}
	var words []string
	if err := json.Unmarshal(line, &words); err != nil {
		return answer{Command: string(line), Error: "not a JSON array of strings"}
	}
	if len(words) == 0 {
		return answer{Command: string(line), Error: "an empty command"}
	}
	return e.command(classifier.Command{Argv: words}, projectHere())
}

var errTooLong = fmt.Errorf("longer than %d bytes", maxLine)

// readLine reads up to end, which is cut off. A line that is too long is
// skipped to its end, so that the answers stay in step with the questions.
// The last line need not be ended: it comes with io.EOF.
func readLine(r *bufio.Reader, end byte) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.ReadSlice(end)
		if len(line)+len(part) > maxLine {
			tooLong, line = true, nil
		}
		if !tooLong {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if tooLong && (err == nil || errors.Is(err, io.EOF)) {
			return nil, errTooLong
		}
		return bytes.TrimSuffix(line, []byte{end}), err
	}
}
