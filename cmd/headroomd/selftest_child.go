package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// selftestWord makes this program a child of the self-test. It is no command
// for people: the words are selftest-child hog MB FLOOR and selftest-child echo
// MB.
const selftestWord = "selftest-child"

// The words of the self-test's children, which wait for a line before each.
const (
	childReady  = "ready"
	childDone   = "done"    // the hog has all it was to take
	childGaveUp = "gave up" // the machine had too little left
)

const childChunk = 4 << 20

// selftestChild is the child's own side; it does not return.
func selftestChild(args []string) {
	debug.SetGCPercent(-1)
	sizes := make([]int64, 0, 2)
	for _, a := range args[min(1, len(args)):] {
		n, err := strconv.ParseInt(a, 10, 64)
		if err != nil {
			os.Exit(exitUsage)
		}
		sizes = append(sizes, n)
	}
	in := bufio.NewReader(os.Stdin)
	switch {
	case len(sizes) == 2 && args[0] == "hog":
		fmt.Println(childReady)
		if _, err := in.ReadString('\n'); err != nil {
			os.Exit(exitRefused)
		}
		hog(sizes[0]<<20, sizes[1]<<20)
	case len(sizes) == 1 && args[0] == "echo":
		held := touch(int(sizes[0]) << 20)
		fmt.Println(childReady)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				os.Exit(0)
			}
			for at := 0; at < len(held); at += os.Getpagesize() {
				if held[at] != pattern(at) {
					line = "memory lost\n"
				}
			}
			fmt.Print(line)
		}
	}
	os.Exit(exitUsage)
}

// hog takes memory as fast as the machine gives it. Should no cap stop it, it
// stops itself while floor bytes are still available to others.
func hog(size, floor int64) {
	for took := int64(0); took < size; took += childChunk {
		if took%(4*childChunk) == 0 {
			if m := readMemory("/"); m.MemAvailable >= 0 && m.MemAvailable < floor {
				fmt.Println(childGaveUp)
				os.Exit(exitFailed)
			}
		}
		touch(childChunk)
	}
	fmt.Println(childDone)
	os.Exit(0)
}

// touch takes memory from the kernel and writes to each page of it.
func touch(size int) []byte {
	if size == 0 {
		return nil
	}
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		fmt.Println(childGaveUp)
		os.Exit(exitFailed)
	}
	for at := 0; at < len(b); at += os.Getpagesize() {
		b[at] = pattern(at)
	}
	return b
}

func pattern(at int) byte { return byte(at>>12) | 1 }

// selfChild is a child of the self-test.
type selfChild struct {
	id    proc.ID
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string   // what it says; closed at the end of its output
	ended chan struct{} // closed when it was waited for
}

// startSelfChild starts one and waits until it is ready. It dies with this
// thread, which is the self-test's own: a frozen one would stand for ever.
func startSelfChild(ctx context.Context, stderr *os.File, args ...string) (*selfChild, error) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = append([]string{"headroomd", selftestWord}, args...)
	// Who may notify a service manager is not moved out of the service.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "NOTIFY_SOCKET=") })
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if stderr != nil {
		cmd.Stderr = stderr
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &selfChild{cmd: cmd, in: in, lines: make(chan string, 64), ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		defer close(c.lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				break
			}
			select {
			case c.lines <- strings.TrimSuffix(line, "\n"):
			default: // it says more than anybody asked for
			}
		}
		cmd.Wait()
	}()
	st, err := proc.FS{}.Stat(cmd.Process.Pid)
	if err == nil {
		c.id = st.ID
		err = c.await(ctx, childReady)
	}
	if err != nil {
		c.end()
		return nil, fmt.Errorf("start a child: %w", err)
	}
	return c, nil
}

// say sends it a line. That it has ended is seen elsewhere.
func (c *selfChild) say(line string) { io.WriteString(c.in, line+"\n") }

var errChildSilent = errors.New("it ended without a word")

// await waits for its next line, which is to be want.
func (c *selfChild) await(ctx context.Context, want string) error {
	select {
	case line, more := <-c.lines:
		switch {
		case !more:
			return errChildSilent
		case line != want:
			return fmt.Errorf("it says %q, not %q", line, want)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("it does not say %q in time", want)
	}
}

// echoes reports whether it lives, runs and has its memory.
func (c *selfChild) echoes(ctx context.Context, word string) error {
	c.say(word)
	return c.await(ctx, word)
}

// end kills it, if that is still needed, and waits for it.
func (c *selfChild) end() {
	c.in.Close()
	c.cmd.Process.Kill()
	<-c.ended
}

// status is how it ended; only after ended.
func (c *selfChild) status() syscall.WaitStatus {
	ws, _ := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ws
}

// said is what it has said and nobody has taken.
func (c *selfChild) said() string {
	var b bytes.Buffer
	for {
		select {
		case line, more := <-c.lines:
			if !more {
				return b.String()
			}
			b.WriteString(line)
		default:
			return b.String()
		}
	}
}
