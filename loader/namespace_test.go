package loader

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// openEach is what a child of a test does in other circumstances: it opens each
// source and the best one, and says what came of it.
func openEach() int {
	for _, want := range []string{"bpf", "perf", "poll"} {
		s, _, err := Open(Options{Want: want, All: true})
		fmt.Printf("%s opened=%v unsupported=%v: %v\n", want, err == nil, errors.Is(err, errors.ErrUnsupported), err)
		if err == nil {
			s.Close()
		}
	}
	_, c, err := Open(Options{})
	fmt.Printf("auto opened %s: %s %v\n", c.Name, c.Why, err)
	return 0
}

// openInPIDNamespace does so in a pid namespace, whose /proc it mounts first.
func openInPIDNamespace() int {
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		fmt.Println("mount:", err)
		return 3
	}
	return openEach()
}

// elsewhere runs the test binary in a role and wants words in what it says.
func elsewhere(t *testing.T, role string, attr *syscall.SysProcAttr, words ...string) {
	t.Helper()
	c := exec.Command("/proc/self/exe") // which needs no right to its directory
	c.Env = append(os.Environ(), roleVariable+"="+role)
	c.SysProcAttr = attr
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range words {
		if !strings.Contains(string(out), want) {
			t.Errorf("it does not say %q", want)
		}
	}
}

// In a pid namespace the pids of BPF's events are strangers': it must say so,
// and what works there must be chosen.
func TestPIDNamespace(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to make a pid namespace")
	}
	opened(t, Options{Want: "bpf"}).Close()
	elsewhere(t, "pid namespace",
		&syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS, Unshareflags: unix.CLONE_NEWNS},
		"bpf opened=false unsupported=true: ", "this is a pid namespace", "poll opened=true", "auto opened p")
}

// Without rights, what is missing is said, and polling is there.
func TestOrdinaryUser(t *testing.T) {
	var attr *syscall.SysProcAttr
	if os.Getuid() == 0 {
		attr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	elsewhere(t, "open", attr, "bpf opened=false unsupported=true: ", "poll opened=true", "auto opened p", "not bpf: ")
}
