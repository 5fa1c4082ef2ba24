package loader

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// In a pid namespace the pids of BPF's events are strangers': it must say so,
// and what works there must be chosen.
func TestPIDNamespace(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to make a pid namespace")
	}
	opened(t, Options{Want: "bpf"}).Close()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), roleVariable+"=pid namespace")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS, Unshareflags: unix.CLONE_NEWNS}
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"bpf unsupported=true: ", "this is a pid namespace", "poll opened=true", "auto opened p"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it does not say %q", want)
		}
	}
}
