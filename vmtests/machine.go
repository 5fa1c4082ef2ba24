//go:build linux

package vmtests

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// bootTimeout bounds the time from power-on to the first word of the guest's
// tests. Under software emulation on two cores a boot takes 25 to 40 seconds; on
// a host with a load of 12 it was seen to take 150.
const bootTimeout = 8 * time.Minute

// Boot says what is to be booted.
type Boot struct {
	Image     Image
	Payload   string   // path of the payload disk
	Logs      string   // directory for console.log, journal.log, results.log
	MemoryMB  int      // 0 is 1024: the small machine that all this is about
	CPUs      int      // 0 is 2
	SlowDisk  bool     // the root disk is as slow as an SD card
	KernelArg []string // further words for the kernel's command line
}

// sdCard has QEMU answer as slowly as a class 10 card does: 20 MB/s read and
// 10 MB/s written in a row, 800 and 300 operations a second at random.
const sdCard = ",throttling.bps-read=20971520,throttling.bps-write=10485760" +
	",throttling.iops-read=800,throttling.iops-write=300"

// Machine is a running guest. Its end, or that of the context it was started
// with, ends the stream of results.
type Machine struct {
	// Results is what the guest's tests write. It must be read: a full port
	// stops the guest's writer.
	Results io.Reader

	logs   string
	socket string // directory of the sockets; a short path, for sun_path holds 108 bytes
	conn   net.Conn
	done   chan struct{}
	err    error
}

// Start boots a machine and returns when the guest's tests have begun to speak,
// or with an error that shows the console's last lines. The caller must Close.
func (b Boot) Start(ctx context.Context) (*Machine, error) {
	sockets, err := os.MkdirTemp("", "hvm-")
	if err != nil {
		return nil, fmt.Errorf("make a place for sockets: %w", err)
	}
	m := &Machine{logs: b.Logs, socket: sockets, done: make(chan struct{})}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: m.resultsSocket(), Net: "unix"})
	if err != nil {
		os.RemoveAll(sockets)
		return nil, fmt.Errorf("listen for results: %w", err)
	}
	defer listener.Close()

	p, ok := platforms[b.Image.Arch]
	if !ok {
		os.RemoveAll(sockets)
		return nil, fmt.Errorf("no machine of architecture %q is known", b.Image.Arch)
	}
	qemu := exec.CommandContext(ctx, p.emulator, b.arguments(m)...)
	stderr, err := os.Create(filepath.Join(b.Logs, "qemu.log"))
	if err != nil {
		os.RemoveAll(sockets)
		return nil, err
	}
	qemu.Stdout, qemu.Stderr = stderr, stderr
	started := make(chan error, 1)
	go m.run(qemu, started)
	if err := <-started; err != nil {
		stderr.Close()
		os.RemoveAll(sockets)
		return nil, fmt.Errorf("start qemu: %w", err)
	}
	go func() {
		<-m.done
		stderr.Close()
		// Not closed: what it said before it ended is still to be accepted.
		listener.SetDeadline(time.Now().Add(time.Second))
	}()
	if err := m.await(listener); err != nil {
		qemu.Process.Kill()
		m.Close()
		return nil, fmt.Errorf("%w\n%s", err, m.LastWords(30))
	}
	return m, nil
}

// run starts QEMU and waits for its end. A test binary that is killed must take
// its machine along; the kernel ties that to the thread that started it, so the
// thread is kept.
func (m *Machine) run(qemu *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	qemu.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err := qemu.Start()
	started <- err
	if err == nil {
		m.err = qemu.Wait()
		close(m.done)
	}
}

// await accepts QEMU's connection, which comes at once, and then the guest's
// first line, which is "boot" and comes when the payload starts.
func (m *Machine) await(listener net.Listener) error {
	conn, err := listener.Accept()
	if err != nil {
		<-m.done
		return fmt.Errorf("qemu ended at its start: %v: %s", m.err, tailFile(filepath.Join(m.logs, "qemu.log"), 5))
	}
	m.conn = conn
	conn.SetReadDeadline(time.Now().Add(bootTimeout))
	var first [len(bootWord)]byte
	if _, err := io.ReadFull(conn, first[:]); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("the guest did not start its tests within %v", bootTimeout)
		}
		return fmt.Errorf("the guest ended before its tests: %w", err)
	}
	if string(first[:]) != bootWord {
		return fmt.Errorf("the guest said %q in place of its tests", first)
	}
	conn.SetReadDeadline(time.Time{})
	m.Results = conn
	return nil
}

// bootWord opens the stream of results.
const bootWord = "boot\n"

func (m *Machine) resultsSocket() string { return filepath.Join(m.socket, "results") }

// ConsoleSocket is where a terminal reaches the console:
// socat -,raw,echo=0 UNIX:PATH.
func (m *Machine) ConsoleSocket() string { return filepath.Join(m.socket, "console") }

// Done is closed when the machine has ended.
func (m *Machine) Done() <-chan struct{} { return m.done }

// Close waits for the machine's end, which the end of its context forces, and
// releases what it held.
func (m *Machine) Close() error {
	<-m.done
	if m.conn != nil {
		m.conn.Close()
	}
	return errors.Join(m.err, os.RemoveAll(m.socket))
}

// LastWords are the last lines of the console.
func (m *Machine) LastWords(lines int) string {
	path := filepath.Join(m.logs, "console.log")
	return fmt.Sprintf("last lines of %s:\n%s", path, tailFile(path, lines))
}

// arguments are those of QEMU. TCG even where /dev/kvm is: results must not
// depend on the host, and nested virtualisation hangs on some build machines.
func (b Boot) arguments(m *Machine) []string {
	memory, cpus := b.MemoryMB, b.CPUs
	if memory == 0 {
		memory = 1024
	}
	if cpus == 0 {
		cpus = 2
	}
	// panic=-1 with -no-reboot: a kernel that panics ends the machine.
	p := platforms[b.Image.Arch]
	words := "root=/dev/vda rw console=" + p.console + " panic=-1 systemd.show_status=1"
	for _, w := range b.KernelArg {
		words += " " + w
	}
	root := "if=virtio,format=raw,snapshot=on,cache=unsafe,file=" + b.Image.Root()
	if b.SlowDisk {
		root += sdCard
	}
	log := func(name string) string { return filepath.Join(b.Logs, name) }
	return append(slices.Clone(p.machine), []string{
		"-accel", "tcg,thread=multi",
		"-smp", fmt.Sprint(cpus), "-m", fmt.Sprint(memory),
		"-nodefaults", "-display", "none", "-no-reboot",
		"-kernel", b.Image.Kernel(), "-initrd", b.Image.Initrd(), "-append", words,
		"-drive", root,
		"-drive", "if=virtio,format=raw,readonly=on,file=" + b.Payload,
		"-object", "rng-random,id=rng,filename=/dev/urandom", "-device", "virtio-rng-pci,rng=rng",
		"-chardev", "socket,id=console,server=on,wait=off,path=" + m.ConsoleSocket() + ",logfile=" + log("console.log"),
		"-serial", "chardev:console",
		"-device", "virtio-serial-pci",
		"-chardev", "socket,id=results,path=" + m.resultsSocket() + ",logfile=" + log("results.log"),
		"-device", "virtserialport,chardev=results,name=headroom.results",
		"-chardev", "file,id=journal,path=" + log("journal.log"),
		"-device", "virtserialport,chardev=journal,name=headroom.journal",
	}...)
}

// platform is what differs between architectures.
type platform struct {
	emulator, pkg string // and the Debian package that has it
	machine       []string
	console       string
}

// A Cortex-A72 is what a Raspberry Pi 4 has.
var platforms = map[string]platform{
	"amd64": {"qemu-system-x86_64", "qemu-system-x86", []string{"-cpu", "max"}, "ttyS0"},
	"arm64": {"qemu-system-aarch64", "qemu-system-arm", []string{"-M", "virt", "-cpu", "cortex-a72"}, "ttyAMA0"},
}
