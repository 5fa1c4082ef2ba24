package contain

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	// guardWord is what tells a guard that nothing is held any more.
	guardWord = 'q'

	// guardWait bounds the wait for a guard to end at its word.
	guardWait = 2 * time.Second
)

// StartGuard starts a process that lets all held jobs go when this one ends,
// in whatever way: "EXE release --guard", with the read end of a pipe for
// standard input. It is for a governor that no service manager looks after,
// and has a session of its own, so that what ends the governor at a terminal
// spares it. Close ends it without letting anything go; a second does nothing.
func StartGuard(exe string) (io.Closer, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the guard of what is held: %w", err)
	}
	defer r.Close()
	cmd := exec.Command(exe, "release", "--guard")
	cmd.Dir, cmd.Stdin, cmd.Stderr = "/", r, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, fmt.Errorf("start the guard of what is held: %w", err)
	}
	return &guard{cmd: cmd, pipe: w}, nil
}

type guard struct {
	cmd  *exec.Cmd
	pipe *os.File
	once sync.Once
	err  error
}

func (g *guard) Close() error {
	g.once.Do(func() {
		// It may be gone: then this fails, and Wait tells how it ended.
		g.pipe.Write([]byte{guardWord})
		g.pipe.Close()
		late := time.AfterFunc(guardWait, func() { g.cmd.Process.Kill() })
		defer late.Stop()
		if err := g.cmd.Wait(); err != nil {
			g.err = fmt.Errorf("guard of what is held: %w", err)
		}
	})
	return g.err
}

// AwaitDeath is the guard's side: it reads until the word that all is well, or
// until the pipe ends because the governor did. It reports the latter.
func AwaitDeath(pipe io.Reader) (died bool) {
	var b [1]byte
	for {
		n, err := pipe.Read(b[:])
		if n == 1 && b[0] == guardWord {
			return false
		}
		if err != nil {
			return true
		}
	}
}
