//go:build linux && (amd64 || arm64 || loong64 || mips64le || ppc64le || riscv64)

package loader

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/headroomd/headroomd/loader/proc"
	"golang.org/x/sys/unix"
)

// openedBPF is the program attached to this kernel.
func openedBPF(t testing.TB, o Options) *bpf {
	t.Helper()
	o.Want = "bpf"
	return opened(t, o).(*bpf)
}

// runAs runs the program once as if this thread, named comm, had executed
// something. The caller has locked its thread.
func runAs(t *testing.T, b *bpf, comm string) {
	t.Helper()
	name := append([]byte(comm), 0)
	if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(name)
	if _, err := b.program.Run(&ebpf.RunOptions{}); err != nil {
		t.Skipf("this kernel cannot run the program for a test (Linux 5.10 can): %v", err)
	}
}

// ours reads and counts the records of this process.
func ours(t *testing.T, b *bpf) (got []proc.Exec) {
	t.Helper()
	if err := b.Read(func(x *proc.Exec) {
		if x.ID.PID == os.Getpid() {
			got = append(got, *x)
		}
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

// onThread runs f on a thread that may be renamed, and is not used again.
func onThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		f()
	}()
	<-done
}

// The program makes the same keys as Key does.
func TestKeyInTheKernel(t *testing.T) {
	b := openedBPF(t, Options{})
	comms := []string{
		"npm", "python3.12", "gcc-13", "clang++-17", "node20", "cc1", "7z", "42", "...", "-1", "a-", "a--1", "-",
		"x86_64-linux-gn", "123456789012345", "a.............9", "..............-", "ab-123456789012", "päivä-2", "\xff\xfe9",
		"a) R 1 (", "a\n9", "0x", "9-9", "-9-", "a-.", "a.-1", "a:9", "a/9",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		const alphabet = "ab-..0199/:z"
		comm := make([]byte, 1+random.IntN(commBytes))
		for i := range comm {
			comm[i] = alphabet[random.IntN(len(alphabet))]
		}
		comms = append(comms, string(comm))
	}
	onThread(func() {
		for i, comm := range comms {
			tag := uint32(i + 1)
			if err := b.SetNames(map[string]uint32{comm: tag}, false); err != nil {
				t.Error(err)
				return
			}
			runAs(t, b, comm)
			got := ours(t, b)
			if len(got) != 1 || got[0].Comm != comm || got[0].Tag != tag {
				t.Errorf("comm %q is not found under the key %q: %+v", comm, Key(comm), got)
			}
		}
		if err := b.SetNames(map[string]uint32{"other": 1}, false); err != nil {
			t.Error(err)
		}
		runAs(t, b, "npm")
		if got := ours(t, b); len(got) != 0 {
			t.Errorf("reported without its name being there: %+v", got)
		}
	})
}

func TestRingOverflow(t *testing.T) {
	b := openedBPF(t, Options{RingBytes: 1})
	room := uint64(os.Getpagesize() / (ringHead + recordBytes))
	if err := b.SetNames(map[string]uint32{"hr-overflow": 1}, false); err != nil {
		t.Fatal(err)
	}
	onThread(func() {
		for range room + 50 {
			runAs(t, b, "hr-overflow")
		}
		n := b.Counters()
		if n.Lost < 50 || n.Lost > 52 || n.Reported+n.Lost != room+50 || n.Seen < room+50 {
			t.Errorf("counters %+v; want some 50 lost of %d", n, room+50)
		}
		if got := ours(t, b); uint64(len(got)) != n.Reported {
			t.Errorf("%d were in the ring, %d counted", len(got), n.Reported)
		}
		runAs(t, b, "hr-overflow")
		if got := ours(t, b); len(got) != 1 {
			t.Errorf("after the loss: %d reported, want 1", len(got))
		}
	})
}

func TestManyNames(t *testing.T) {
	b := openedBPF(t, Options{})
	many := map[string]uint32{}
	for i := range maxNames {
		many[fmt.Sprintf("hr%cx%dx", 'a'+i%26, i)] = uint32(i + 1)
	}
	if err := b.SetNames(many, false); err != nil || b.own.Load() != nil || len(b.keys) != maxNames {
		t.Fatalf("%d names fit: %v, %d keys", maxNames, err, len(b.keys))
	}
	// All others, with no room for both at a time.
	others := map[string]uint32{}
	for i := range maxNames {
		others[fmt.Sprintf("ot%cx%dx", 'a'+i%26, i)] = uint32(i + 1)
	}
	if err := b.SetNames(others, false); err != nil {
		t.Fatal(err)
	}
	onThread(func() {
		runAs(t, b, "otbx1x")
		runAs(t, b, "hrbx1x")
		if got := ours(t, b); len(got) != 1 || got[0].Tag != 2 {
			t.Errorf("reported %+v", got)
		}
		// One too many: filtered here, and nobody sees a difference.
		others["hr-one-more"] = 77
		if err := b.SetNames(others, false); err != nil || b.own.Load() == nil {
			t.Errorf("one too many: %v, filtered here %v", err, b.own.Load() != nil)
		}
		for _, comm := range []string{"otbx1x", "hr-one-more", "hr-none"} {
			runAs(t, b, comm)
		}
		if got := ours(t, b); len(got) != 2 || got[0].Tag != 2 || got[1].Tag != 77 {
			t.Errorf("reported %+v", got)
		}
		if err := b.SetNames(map[string]uint32{"hr-few": 3}, false); err != nil || b.own.Load() != nil || b.settings.All != 0 {
			t.Errorf("few again: %v, %+v", err, b.settings)
		}
		runAs(t, b, "hr-few")
		runAs(t, b, "otbx1x")
		if got := ours(t, b); len(got) != 1 || got[0].Tag != 3 {
			t.Errorf("reported %+v", got)
		}
	})
}

// An exec from another thread takes over the process's pid.
func TestExecFromAThread(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3, to exec from a second thread")
	}
	b := openedBPF(t, Options{Names: map[string]uint32{"hr-threaded": 1}})
	path := named(t, "hr-threaded")
	c := start(t, "python3", nil, "-c", `
import os, sys, threading
threading.Thread(target=lambda: os.execv(sys.argv[1], sys.argv[1:])).start()
threading.Event().wait()`, path)
	if !until(t, b, 10*time.Second, func(x *proc.Exec) bool { return x.Comm == "hr-threaded" && x.ID.PID == c.Process.Pid }) {
		t.Error("not reported by its process's pid")
	}
}

// The classic tracepoint is for kernels that refuse the raw one.
func TestClassicTracepoint(t *testing.T) {
	openedBPF(t, Options{}).Close()
	before := descriptors(t)
	b, err := loadProgram(execProgExecClassic, 64<<10)
	if _, none := os.Stat("/sys/kernel/tracing/events"); none != nil && err != nil {
		t.Skipf("tracefs is not mounted: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if b.ring, err = newRing(b.maps.Ring.FD(), 64<<10); err != nil {
		t.Fatal(err)
	}
	if err := b.try(Options{}); err != nil {
		t.Error(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if got := descriptors(t); got != before {
		t.Errorf("%d descriptors before, %d after", before, got)
	}
}

func TestExplainBPF(t *testing.T) {
	new, old := release{6, 1}, release{5, 4}
	for _, tc := range []struct {
		name    string
		err     error
		kernel  release
		capable bool
		want    string // "" for a fault
	}{
		{"an old kernel", unix.EINVAL, old, true, "needs Linux 5.8 for the ring buffer, this is 5.4 (invalid argument)"},
		{"no rights", unix.EPERM, new, false, "needs root, or CAP_BPF and CAP_PERFMON"},
		{"refused to root", unix.EPERM, new, true, "the kernel refuses BPF to this process: locked down, or a container's seccomp filter (operation not permitted)"},
		{"no system call", unix.ENOSYS, new, true, "the kernel is built without CONFIG_BPF_SYSCALL (function not implemented)"},
		{"no program type", unix.EINVAL, new, true, "the kernel lacks tracing by BPF (CONFIG_BPF_EVENTS, CONFIG_TRACEPOINTS) or CONFIG_CGROUPS (invalid argument)"},
		{"rejected by the verifier", &ebpf.VerifierError{Cause: unix.EACCES, Log: []string{"R0 invalid"}}, new, true, ""},
		{"something else", unix.ENOMEM, new, true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := explainBPF(tc.err, tc.kernel, tc.capable)
			if errors.Is(err, errors.ErrUnsupported) != (tc.want != "") || tc.want != "" && err.Error() != tc.want {
				t.Errorf("got %q, want %q", err, tc.want)
			}
		})
	}
}
