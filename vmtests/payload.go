package vmtests

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed payload/run
var runScript []byte

// Payload is what a boot brings along: the daemon as `make install` lays it
// out, the guest's test binary and the words to start it with.
type Payload struct {
	Module    string   // root of the checkout
	Arch      string   // of the guest, as Go names it
	Faults    bool     // the daemon is built with its fault points
	Arguments []string // of the test binary
	Keep      bool     // the machine stays up after the tests
}

// Build makes the disk in dir and returns its path. Everything is built without
// cgo, since the guest's C library is another one.
func (p Payload) Build(ctx context.Context, dir string) (string, error) {
	stage := filepath.Join(dir, "payload")
	system := filepath.Join(stage, "system")
	if err := os.MkdirAll(system, 0o755); err != nil {
		return "", err
	}
	type step struct {
		what string
		argv []string
	}
	steps := []step{
		{"install the daemon", []string{"make", "-s", "install", "DESTDIR=" + system, "PREFIX=/usr", "BUILD_DIR=build/" + p.Arch}},
		{"build the guest's tests", []string{"go", "test", "-c", "-o", filepath.Join(stage, "guest.test"), "./vmtests/guest"}},
		{"build the tests of containment", []string{"go", "test", "-c", "-o", filepath.Join(stage, "contain.test"), "./governor/contain"}},
	}
	if p.Faults {
		steps = append(steps, step{"build the daemon with fault points",
			[]string{"go", "build", "-tags", "faultpoints", "-o", filepath.Join(system, "usr/bin/headroomd"), "./cmd/headroomd"}})
	}
	for _, s := range steps {
		cmd := exec.CommandContext(ctx, s.argv[0], s.argv[1:]...)
		cmd.Dir, cmd.Env = p.Module, append(os.Environ(), "CGO_ENABLED=0", "GOARCH="+p.Arch)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", s.what, err, out)
		}
	}
	files := map[string][]byte{
		"run":       runScript,
		"arguments": []byte(strings.Join(p.Arguments, "\n") + "\n"),
	}
	if p.Keep {
		files["keep"] = nil
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(stage, name), data, 0o644); err != nil {
			return "", err
		}
	}
	disk := filepath.Join(dir, "payload.ext4")
	cmd := exec.CommandContext(ctx, "mke2fs", "-q", "-F", "-t", "ext4", "-O", "^has_journal",
		"-L", "headroom-run", "-d", stage, disk, "128M")
	cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("make the payload disk: %w\n%s", err, out)
	}
	return disk, nil
}

// GuestTests lists the guest's tests, asked of the binary itself.
func (p Payload) GuestTests(ctx context.Context) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-list", ".", "./vmtests/guest")
	cmd.Dir, cmd.Env = p.Module, append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the guest's tests: %w\n%s", err, out)
	}
	return parseTestList(string(out)), nil
}

func parseTestList(out string) []string {
	var names []string
	for line := range strings.Lines(out) {
		if name := strings.TrimSpace(line); strings.HasPrefix(name, "Test") {
			names = append(names, name)
		}
	}
	return names
}
