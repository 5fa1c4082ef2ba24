//go:build linux

package vmtests

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// programs that the harness runs, with the Debian packages that have them.
var programs = []struct{ name, pkg string }{
	{"mmdebstrap", "mmdebstrap"},
	{"mke2fs", "e2fsprogs"},
	{"make", "make"},
}

func TestGuest(t *testing.T) {
	if os.Getenv("HEADROOM_VM") != "1" {
		t.Skip("boots virtual machines: run `make vmtest`, or HEADROOM_VM=1 go test -v -timeout 60m ./vmtests")
	}
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
	arch := DefaultArch()
	platform := platforms[arch]
	for _, p := range append([]struct{ name, pkg string }{{platform.emulator, platform.pkg}}, programs...) {
		if _, err := exec.LookPath(p.name); err != nil {
			t.Fatalf("%v: apt install %s", err, p.pkg)
		}
	}
	module, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := Payload{Module: module}.GuestTests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	suites := strings.Join(Suites, " ")
	if arch != runtime.GOARCH {
		// An image takes some five minutes to make, and all of it takes 3 times as
		// long: the stock Raspberry Pi is what it is for.
		suites = Suites[0]
		if os.Getenv("HEADROOM_VM_GROUP") == "" {
			t.Setenv("HEADROOM_VM_GROUP", "pi")
		}
	}
	for _, suite := range words("HEADROOM_VM_SUITE", suites) {
		t.Run(suite, func(t *testing.T) { testSuite(t, module, suite, tests) })
	}
}

func testSuite(t *testing.T, module, suite string, tests []string) {
	image, err := DefaultImage(suite)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := image.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("image %s after %v", image.Dir(), time.Since(start).Round(time.Second))
	only := words("HEADROOM_VM_GROUP", "")
	booted := 0
	pattern := os.Getenv("HEADROOM_VM_RUN")
	for _, g := range slices.Backward(Groups) {
		selected, err := g.Select(tests, pattern)
		if err != nil {
			t.Fatal(err)
		}
		if pattern == "" {
			selected = g.on(suite, selected, tests)
		}
		if len(selected) == 0 || len(only) > 0 && !slices.Contains(only, g.Name) {
			continue
		}
		booted++
		t.Run(g.Name, func(t *testing.T) {
			if g.Beside || suite != Suites[0] {
				t.Parallel()
			}
			testGroup(t, module, image, g, selected)
		})
	}
	if booted == 0 {
		t.Errorf("HEADROOM_VM_RUN and HEADROOM_VM_GROUP leave no test of %q", tests)
	}
}

// testGroup runs the tests on one machine, and those that failed once more on a
// fresh one: an emulated machine on a shared host stands still now and then for
// longer than any bound, and one that does so must not hide what the other
// hundred tests say. What failed the first time is shown as it was, and is
// named as unsteady; what fails twice has failed, and so has a group in which
// more than two fail.
func testGroup(t *testing.T, module string, image Image, g Group, selected []string) {
	again := os.Getenv("HEADROOM_VM_KEEP") == "" && os.Getenv("HEADROOM_VM_AGAIN") != "0"
	if !again {
		testMachine(t, hostT{t}, module, image, g, selected, g.Name)
		return
	}
	failed := testMachine(t, lenientT{hostT{t}}, module, image, g, selected, g.Name)
	switch {
	case len(failed) == 0:
		return
	case len(failed) > maxAgain:
		t.Errorf("%d tests failed or had no verdict: %q", len(failed), failed)
		return
	}
	if t.Run("again", func(t *testing.T) { testMachine(t, hostT{t}, module, image, g, failed, g.Name+"-again") }) {
		t.Logf("UNSTEADY: %q failed on one machine and passed on another", failed)
	}
}

// maxAgain is how many tests of a group may have a second machine.
const maxAgain = 2

func testMachine(t *testing.T, judge T, module string, image Image, g Group, selected []string, name string) (failed []string) {
	timeout := g.Timeout
	if deadline, ok := t.Deadline(); ok {
		// Early enough for a boot before and the logs after.
		timeout = min(timeout, time.Until(deadline)-3*time.Minute)
	}
	ctx, cancel := context.WithTimeout(t.Context(), bootTimeout+timeout+time.Minute)
	defer cancel()
	logs, err := filepath.Abs(filepath.Join("logs", image.Suite+"-"+name))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(logs); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(logs, 0o755); err != nil {
		t.Fatal(err)
	}
	keep := os.Getenv("HEADROOM_VM_KEEP") == "1"
	payload := Payload{
		Module: module, Arch: image.Arch, Faults: g.Faults, Keep: keep,
		Arguments: g.Arguments(selected, os.Getenv("HEADROOM_VM_RUN"), timeout, os.Getenv("HEADROOM_VM_LONG") == "1"),
	}
	disk, err := payload.Build(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	kernelArg := g.KernelArg
	if g.Init {
		kernelArg = append(slices.Clone(kernelArg), "init=/usr/lib/headroom-vmtests/init")
	}
	machine, err := Boot{Image: image, Payload: disk, Logs: logs, SlowDisk: g.SlowDisk, KernelArg: kernelArg}.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer machine.Close()
	defer cancel()
	booted := time.Now()
	events, err := convert(ctx, machine.Results)
	if err != nil {
		t.Fatal(err)
	}
	failed = Replay(judge, events, selected, func() string { return machine.LastWords(40) })
	if len(failed) == 0 {
		os.RemoveAll(logs)
	} else {
		t.Logf("the guest's console and journal are in %s", logs)
	}
	t.Logf("boot %v, tests %v", booted.Sub(start).Round(time.Second), time.Since(booted).Round(time.Second))
	if keep {
		t.Logf("the machine stays up: socat -,raw,echo=0 UNIX:%s (log in as root)", machine.ConsoleSocket())
		<-machine.Done()
	}
	select {
	case <-machine.Done():
	case <-time.After(time.Minute):
		t.Error("the machine did not power off")
	}
	return failed
}

// convert turns the raw stream of a test binary into events while it comes. It
// ends at the guest's last word, or with the machine.
func convert(ctx context.Context, raw io.Reader) (io.Reader, error) {
	cmd := exec.CommandContext(ctx, "go", "tool", "test2json")
	cmd.Stdin = untilExit(raw)
	events, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return events, cmd.Start()
}

func words(name, otherwise string) []string {
	value := os.Getenv(name)
	if value == "" {
		value = otherwise
	}
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
}

// hostT lets a real test be replayed into.
type hostT struct{ *testing.T }

func (h hostT) Run(name string, f func(T)) bool {
	return h.T.Run(name, func(t *testing.T) { f(hostT{t}) })
}
