package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// runChildWord makes this program the waiting child of a run. It is no command
// for people: the words are run-child FD PROGRAM ARGV...
const runChildWord = "run-child"

// gateFrom is the lowest descriptor that the gate may have. Those below are the
// caller's: a script may have its own 3 and 4, and bash's <(…) has 63.
const gateFrom = 100

// child is a process that waits on a pipe until it may become the command. So
// it can be placed while it has touched nothing, and nothing of it is stopped.
type child struct {
	cmd  *exec.Cmd
	gate *os.File
	done chan struct{} // closed when it has ended
	once sync.Once
}

// startChild starts the waiting child. It is in this process's group, so that
// the terminal's signals reach it as they would without us.
func startChild(argv []string) (*child, error) {
	program, err := lookUp(argv[0])
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	defer r.Close()
	gate, err := unix.FcntlInt(r.Fd(), unix.F_DUPFD, gateFrom)
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("run: %w", err)
	}
	defer unix.Close(gate)
	c := &child{gate: w, done: make(chan struct{})}
	c.cmd = exec.Command("/proc/self/exe")
	c.cmd.Args = append([]string{"headroomd", runChildWord, strconv.Itoa(gate), program}, argv...)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.cmd.Start(); err != nil {
		w.Close()
		return nil, fmt.Errorf("run: %w", err)
	}
	go func() {
		c.cmd.Wait()
		close(c.done)
	}()
	return c, nil
}

// runChild is the child's own side; it does not return.
func runChild(args []string) {
	if len(args) < 3 {
		os.Exit(exitUsage)
	}
	fd, err := strconv.Atoi(args[0])
	if err != nil {
		os.Exit(exitUsage)
	}
	var word [1]byte
	for {
		n, err := unix.Read(fd, word[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n != 1 || err != nil {
			os.Exit(exitRefused) // it was not to be
		}
		break
	}
	unix.Close(fd)
	err = cannotExecute(args[2], syscall.Exec(args[1], args[2:], os.Environ()))
	fmt.Fprintln(os.Stderr, "headroomd:", err)
	os.Exit(exitStatus(err))
}

// id is the child's identity; nothing else can have its pid before it is
// waited for, which await and abandon do.
func (c *child) id() (proc.ID, error) {
	st, err := proc.FS{}.Stat(c.cmd.Process.Pid)
	return st.ID, err
}

// goOn lets the child become the command.
func (c *child) goOn() {
	c.once.Do(func() {
		c.gate.Write([]byte{'g'})
		c.gate.Close()
	})
}

// abandon ends a child that has not become the command.
func (c *child) abandon() {
	c.once.Do(func() { c.gate.Close() })
	c.cmd.Process.Kill()
	<-c.done
}

// await waits until the command has ended, hands on the signals that come from
// others than the terminal, and tells its status as an error; nil is 0. With
// news, it takes what arrives there meanwhile.
func (c *child) await(news func(<-chan struct{})) error {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, handedOn...)
	defer signal.Stop(signals)
	if news != nil {
		go news(c.done)
	}
	for {
		select {
		case s := <-signals:
			if !fromTerminal(s) {
				c.cmd.Process.Signal(s)
			}
		case <-c.done:
			return statusOf(c.cmd.ProcessState)
		}
	}
}

// handedOn are the signals that are the command's to see.
var handedOn = []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2}

// fromTerminal reports whether the command has most likely got the signal
// already: the terminal sends Ctrl-C and Ctrl-\ to the whole foreground group.
func fromTerminal(s os.Signal) bool {
	if s != syscall.SIGINT && s != syscall.SIGQUIT {
		return false
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// statusOf is a command's end as an error that carries the exit status.
func statusOf(s *os.ProcessState) error {
	ws, ok := s.Sys().(syscall.WaitStatus)
	switch {
	case ok && ws.Signaled():
		return exitError{128 + int(ws.Signal()), errSaid}
	case s.ExitCode() != 0:
		return exitError{s.ExitCode(), errSaid}
	}
	return nil
}
