//go:build linux

package vmtests

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary stand in for QEMU: fakeQEMU puts it on PATH
// under that name, with what it shall do in its environment.
func TestMain(m *testing.M) {
	if act := os.Getenv("HEADROOM_FAKE_QEMU"); act != "" {
		actAsQEMU(act, os.Args[1:])
		return
	}
	os.Exit(m.Run())
}

func actAsQEMU(act string, args []string) {
	if act == "refuse" {
		fmt.Fprintln(os.Stderr, "no such machine")
		os.Exit(1)
	}
	os.WriteFile(value(args, "id=console", "logfile="), []byte("Kernel panic\r\n"), 0o644)
	conn, err := net.Dial("unix", value(args, "id=results", "path="))
	if err != nil {
		panic(err)
	}
	switch act {
	case "die":
	case "mumble":
		io.WriteString(conn, "hello")
	case "speak":
		io.WriteString(conn, bootWord+"results\n")
	case "hang":
		io.WriteString(conn, bootWord)
		time.Sleep(time.Hour)
	}
}

// value is what follows name in the argument that has the words of which.
func value(args []string, which, name string) string {
	i := slices.IndexFunc(args, func(a string) bool { return strings.Contains(a, which) && strings.Contains(a, name) })
	_, rest, _ := strings.Cut(args[i], name)
	v, _, _ := strings.Cut(rest, ",")
	return v
}

func fakeQEMU(t *testing.T, act string) Boot {
	t.Helper()
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "qemu-system-x86_64")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("HEADROOM_FAKE_QEMU", act)
	return Boot{Image: Image{Suite: "trixie", Arch: "amd64", Cache: "/c"}, Payload: "/p", Logs: t.TempDir()}
}

func TestStartFails(t *testing.T) {
	tests := []struct{ act, want string }{
		{"refuse", "no such machine"},
		{"die", "the guest ended before its tests"},
		{"mumble", `the guest said "hello"`},
	}
	for _, tt := range tests {
		t.Run(tt.act, func(t *testing.T) {
			_, err := fakeQEMU(t, tt.act).Start(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if tt.act != "refuse" && !strings.Contains(fmt.Sprint(err), "Kernel panic") {
				t.Errorf("%v does not show the console", err)
			}
		})
	}
}

func TestStart(t *testing.T) {
	m, err := fakeQEMU(t, "speak").Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(m.Results)
	if err != nil || string(got) != "results\n" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(m.socket); err == nil {
		t.Error("the sockets are left")
	}
}

// TestContextEndsMachine: a guest that hangs ends with the test's context, and
// its results with it.
func TestContextEndsMachine(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m, err := fakeQEMU(t, "hang").Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if got, err := io.ReadAll(m.Results); err != nil || len(got) != 0 {
		t.Errorf("got %q, %v", got, err)
	}
	if err := m.Close(); err == nil {
		t.Error("a machine that was killed closes without an error")
	}
}

func TestBootArguments(t *testing.T) {
	b := Boot{Image: Image{Suite: "trixie", Arch: "amd64", Cache: "/c"}, Payload: "/p", Logs: "/l",
		MemoryMB: 512, KernelArg: []string{"cgroup_disable=memory", "psi=0"}}
	args := strings.Join(b.arguments(&Machine{socket: "/s"}), " ")
	for _, want := range []string{
		"-accel tcg,thread=multi", "-smp 2", "-m 512", " cgroup_disable=memory psi=0",
		"snapshot=on", "readonly=on,file=/p", "path=/s/results,logfile=/l/results.log",
	} {
		if !strings.Contains(args, want) {
			t.Errorf("%q is not in %q", want, args)
		}
	}
}
