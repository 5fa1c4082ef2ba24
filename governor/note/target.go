package note

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// tell writes a note, on a thread that may hang.
func tell(fs proc.FS, n Note) Outcome {
	o := tellOne(fs, n)
	if o != Gone || n.Else == (proc.ID{}) {
		return o
	}
	n.To, n.Terminal = n.Else, n.Terminal || !n.Agent
	return tellOne(fs, n)
}

func tellOne(fs proc.FS, n Note) Outcome {
	// The pidfd comes first: what is read under the pid after its identity was
	// checked may be another's, but what is taken through it cannot.
	h, err := proc.Open(fs, n.To)
	if err != nil {
		return outcomeOf(err)
	}
	defer h.Close()
	if o := expect(fs, n); o != Written {
		return o
	}
	fd, err := unix.PidfdGetfd(h.FD(), 2, 0)
	if err != nil {
		return outcomeOf(err)
	}
	o := write(fd, n, func() (uint32, error) { return uidOf(fs, n.To) })
	unix.Close(fd)
	return o
}

// expect looks at the names of the descriptors, and goes on (Written) only if
// they promise a target: to take a file's descriptor and close it again is
// already a request to its server, if it has one. What is decided is decided
// by the descriptor itself.
func expect(fs proc.FS, n Note) Outcome {
	stderr, err := descriptor(fs, n.To.PID, 2)
	if os.IsNotExist(err) {
		// The process is there, says its pidfd; but what has ended and was not
		// waited for has no descriptors either.
		if st, err := fs.Stat(n.To.PID); err != nil || st.ID != n.To || st.State == 'Z' || st.State == 'X' {
			return Gone
		}
		return Closed
	}
	if err != nil {
		return outcomeOf(err)
	}
	switch {
	case strings.HasPrefix(stderr, "/dev/"):
		return Written
	case n.Terminal:
		return NotTerminal
	case strings.HasPrefix(stderr, "pipe:["), strings.HasPrefix(stderr, "socket:["):
	default:
		// A FIFO has the name of a file; which are FIFOs is asked without
		// waiting for anybody.
		if !leadsIntoPipe(fs, n.To.PID) {
			return NoTarget
		}
	}
	if n.Agent {
		return Written
	}
	if stdout, err := descriptor(fs, n.To.PID, 1); err == nil && stdout == stderr {
		return Merged
	}
	return Written
}

func descriptor(fs proc.FS, pid, fd int) (string, error) {
	return os.Readlink(fmt.Sprintf("%s/%d/fd/%d", fs.Root(), pid, fd))
}

func leadsIntoPipe(fs proc.FS, pid int) bool {
	links, err := fs.Links(pid)
	if err != nil {
		return false
	}
	for _, l := range links {
		if l.FD == 2 {
			return true
		}
	}
	return false
}

// uidOf is the process's real uid.
func uidOf(fs proc.FS, id proc.ID) (uint32, error) {
	x := proc.Exec{ID: id}
	err := fs.ReadFacts(&x)
	return x.UID, err
}

// write decides by the descriptor what it is, and writes to it in the way that
// does not wait for that kind.
func write(fd int, n Note, uid func() (uint32, error)) Outcome {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return outcomeOf(err)
	}
	if flags&unix.O_PATH != 0 || flags&unix.O_ACCMODE == unix.O_RDONLY {
		return ReadOnly
	}
	// Without asking a server about its file, as fstat would.
	var st unix.Statx_t
	err = unix.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, unix.STATX_TYPE, &st)
	if err != nil {
		return outcomeOf(err)
	}
	switch kind := st.Mode & unix.S_IFMT; {
	case kind == unix.S_IFCHR && terminals[st.Rdev_major] && !(st.Rdev_major == ttyMajor && st.Rdev_minor == ptmxMinor):
		return writeTerminal(fd, n.line())
	case kind != unix.S_IFIFO && kind != unix.S_IFSOCK:
		return NoTarget
	case n.Terminal:
		return NotTerminal
	case kind == unix.S_IFIFO:
		return writePipe(fd, n.line()+"\n")
	}
	return writeSocket(fd, n.line()+"\n", uid)
}

// terminals are the major numbers of terminals (Documentation/admin-guide/
// devices.txt); other devices are not asked whether they are one.
var terminals = map[uint32]bool{
	4:        true,                                                                              // virtual consoles, ttyS
	ttyMajor: true,                                                                              // /dev/tty, /dev/console
	136:      true, 137: true, 138: true, 139: true, 140: true, 141: true, 142: true, 143: true, // pts
	166: true, // ttyACM
	188: true, // ttyUSB
	204: true, // ttyAMA, ttyLP: a board's serial console
	229: true, // hvc
}

const (
	ttyMajor  = 5
	ptmxMinor = 2 // a pseudo-terminal's master: its other end reads what is typed
)

func writeTerminal(fd int, line string) Outcome {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err == unix.ENOTTY {
		return NoTarget
	}
	if err != nil {
		return outcomeOf(err)
	}
	end := "\n"
	if t.Oflag&unix.OPOST == 0 || t.Oflag&unix.ONLCR == 0 {
		end = ending // a full-screen program's: the terminal is left to it as it is
	}
	// A terminal cannot be written to without waiting, other than by what is
	// set for its owner too; one that is stopped, or far behind, says so here.
	if o := room(fd); o != Written {
		return o
	}
	_, err = unix.Write(fd, []byte(line+end))
	return outcomeOf(err)
}

// room asks whether there is any.
func room(fd int) Outcome {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	for {
		_, err := unix.Poll(fds, 0)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return outcomeOf(err)
		case fds[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0:
			return HungUp
		case fds[0].Revents&unix.POLLOUT == 0:
			return Full
		}
		return Written
	}
}

// writePipe goes through a pipe of its own: splice between pipes waits for
// nothing if it is told so, on every kernel, where RWF_NOWAIT is refused for
// pipes before Linux 6.4.
func writePipe(fd int, line string) Outcome {
	var own [2]int
	if err := unix.Pipe2(own[:], unix.O_CLOEXEC); err != nil {
		return outcomeOf(err)
	}
	defer unix.Close(own[0])
	_, err := unix.Write(own[1], []byte(line)) // an empty pipe has room for 300 bytes
	unix.Close(own[1])
	if err != nil {
		return outcomeOf(err)
	}
	for {
		_, err = unix.Splice(own[0], nil, fd, nil, len(line), unix.SPLICE_F_NONBLOCK)
		if err != unix.EINTR {
			return outcomeOf(err)
		}
	}
}

// writeSocket sends to a Unix stream. The message would carry the daemon's
// credentials, so it goes to nobody to whom they mean more than the process's:
// a pair that an agent made is its user's, the journal's socket is root's.
func writeSocket(fd int, line string, uid func() (uint32, error)) Outcome {
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return outcomeOf(err)
	}
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return outcomeOf(err)
	}
	if domain != unix.AF_UNIX || kind != unix.SOCK_STREAM {
		return NoTarget
	}
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return outcomeOf(err)
	}
	own, err := uid()
	if err != nil {
		return outcomeOf(err)
	}
	if own != 0 && peer.Uid != own {
		return Stranger
	}
	for {
		_, err = unix.SendmsgN(fd, []byte(line), nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		if err != unix.EINTR {
			return outcomeOf(err)
		}
	}
}
