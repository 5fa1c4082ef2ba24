package proc

import (
	"encoding/binary"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func auxv64(words ...uint64) (b []byte) {
	for _, w := range words {
		b = binary.NativeEndian.AppendUint64(b, w)
	}
	return b
}

func auxv32(words ...uint32) (b []byte) {
	for _, w := range words {
		b = binary.NativeEndian.AppendUint32(b, w)
	}
	return b
}

func TestParseSecure(t *testing.T) {
	for _, tc := range []struct {
		name string
		auxv []byte
		want bool
	}{
		{"64-bit, secure", auxv64(33, 0x7ffd00000000, 23, 1, 0, 0), true},
		{"64-bit, not", auxv64(33, 0x7ffd00000000, 23, 0, 0, 0), false},
		{"64-bit, without the entry", auxv64(33, 0x7ffd00000000, 0, 0), false},
		{"32-bit, secure", auxv32(16, 0xbfebfbff, 6, 4096, 23, 1, 0, 0), true},
		{"32-bit, not", auxv32(16, 0xbfebfbff, 6, 4096, 23, 0, 0, 0), false},
		{"a value that looks like the key", auxv64(6, 23, 9, 1, 23, 0, 0, 0), false},
		{"empty: a kernel thread's", nil, false},
		{"cut", auxv64(33, 0x7ffd00000000, 23, 1)[:30], false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := parseSecure(tc.auxv); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// A setuid program of our own, run by somebody else, is secure; and whatever
// this test was started as is not.
func TestSecureOfASetuidProgram(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to make a setuid program")
	}
	dir, err := os.MkdirTemp("/var/tmp", "headroomd-test-") // often not mounted nosuid, as /tmp is
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	os.Chmod(dir, 0o755)
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	text, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	path := dir + "/sleep"
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, "60")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { c.Process.Kill(); c.Wait() }()
	// Start returns when the exec has closed its pipe, which is shortly before
	// the new program's vector is there.
	x := Exec{ID: ID{PID: c.Process.Pid}}
	for until := time.Now().Add(10 * time.Second); !x.Secure && time.Now().Before(until); time.Sleep(time.Millisecond) {
		if err := (FS{}).ReadFacts(&x); err != nil {
			t.Fatal(err)
		}
		if x.UID == 65534 && x.EUID == 65534 && time.Until(until) < 9*time.Second {
			break
		}
	}
	if x.UID == 65534 && x.EUID == 65534 {
		t.Skipf("%s is mounted nosuid", dir)
	}
	if !x.Secure || x.UID != 65534 || x.EUID != 0 {
		t.Errorf("secure %v, uid %d, effective %d", x.Secure, x.UID, x.EUID)
	}
}
