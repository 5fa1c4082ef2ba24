package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/creack/pty"

	"github.com/headroomd/headroomd/governor/note"
)

// tryNotes writes a note to a child's stderr, once a pipe and once a terminal,
// as the callers of waiting commands are told.
func (s *selftest) tryNotes(ctx context.Context) {
	const name = "note"
	var read []string
	for _, kind := range []struct {
		name string
		open func() (from, to *os.File, err error)
	}{{"a pipe", os.Pipe}, {"a terminal", pty.Open}} {
		from, to, err := kind.open()
		if err != nil {
			if kind.name != "a pipe" { // a container without /dev/ptmx
				read = append(read, fmt.Sprintf("%s could not be had for it (%v)", kind.name, err))
				continue
			}
			s.failed(name, "", "no pipe can be made: %v", err)
			return
		}
		became, err := s.tryNote(ctx, from, to)
		from.Close()
		to.Close()
		switch {
		case became == note.Denied || became == note.Unsupported:
			s.skipped(name, "notes cannot be written here (%s): who waits is not told so in its own output, only by headroomd status", noteLack(became))
			return
		case err != nil || became != note.Written:
			s.failed(name, askDoctor, "a note did not get through %s: %s", kind.name, noteFault(became, err))
			return
		}
		read = append(read, "a note went through "+kind.name)
	}
	s.passed(name, "%s", strings.Join(read, "; "))
}

// tryNote tells a child with that stderr, and reads what came out of it.
func (s *selftest) tryNote(ctx context.Context, from, to *os.File) (note.Outcome, error) {
	c, err := startSelfChild(ctx, to, "echo", "0")
	if err != nil {
		return note.Failed, err
	}
	defer c.end()
	w := note.New(s.fs, note.On)
	w.Tell(note.Note{To: c.id, Kind: note.Started, Text: note.StartedText("selftest", 2*time.Second, -1)})
	select {
	case <-w.Idle():
	case <-ctx.Done():
		return note.Failed, fmt.Errorf("it hangs")
	}
	var became note.Outcome
	for became = range w.Counts() {
	}
	if became != note.Written {
		return became, nil
	}
	line := make(chan string, 1)
	go func() {
		buf := make([]byte, 512)
		n, _ := io.ReadAtLeast(from, buf, 1)
		line <- string(buf[:n])
	}()
	select {
	case got := <-line:
		if !strings.HasPrefix(got, "headroomd: selftest starts") {
			return became, fmt.Errorf("%q came out of it", got)
		}
		return became, nil
	case <-ctx.Done():
		return became, fmt.Errorf("nothing came out of it")
	}
}

func noteFault(became note.Outcome, err error) string {
	if err != nil {
		return err.Error()
	}
	return string(became)
}

func noteLack(became note.Outcome) string {
	if became == note.Unsupported {
		return "pidfd_getfd came with Linux 5.6"
	}
	return "the kernel lets no process take another's descriptor: kernel.yama.ptrace_scope, or a container's rules"
}
