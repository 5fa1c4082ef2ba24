package vmtests

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Group is the guest tests that share one boot. A test belongs to the first
// group of whose prefixes its name has one after "Test"; the last group takes
// the rest.
type Group struct {
	Name      string
	Prefixes  []string
	Faults    bool          // needs a daemon with fault points
	Init      bool          // busybox is pid 1: no systemd, no logind, no D-Bus
	SlowDisk  bool          // the root disk is as slow as an SD card
	KernelArg []string      // words on the kernel's command line
	Timeout   time.Duration // of the tests, after the boot

	// Beside says that its tests wait for what is to happen and compare no
	// times: its machine may run beside another one. What a guest waits for
	// leaves half of the host idle.
	Beside bool

	// Elsewhere are the tests that also run on the other suites: what differs
	// between kernels and between managers, and no more. Each suite costs a boot
	// a group.
	Elsewhere []string
}

// Groups in the order in which they are looked through. They are booted in the
// opposite order, so that what everybody needs fails first.
var Groups = []Group{
	{Name: "faults", Prefixes: []string{"Fault"}, Faults: true, Timeout: 30 * time.Minute},
	{Name: "survive", Prefixes: []string{"Survive"}, SlowDisk: true, Timeout: 30 * time.Minute},
	{Name: "init", Prefixes: []string{"Init"}, Init: true, Beside: true, Timeout: 25 * time.Minute},
	{
		// A stock Raspberry Pi OS: no memory controller, no PSI.
		Name: "pi", Prefixes: []string{"Pi"}, KernelArg: []string{"cgroup_disable=memory", "psi=0"}, Beside: true, Timeout: 25 * time.Minute,
		Elsewhere: []string{"TestPiHog"},
	},
	{
		Name: "reach", Prefixes: []string{"Container", "Doctor", "Never", "Note", "OOMScore", "Score", "Selftest", "User", "Watch"},
		Beside: true, Timeout: 30 * time.Minute,
	},
	{Name: "queue", Prefixes: []string{"Queue"}, Beside: true, Timeout: 40 * time.Minute},
	{Name: "main", Timeout: 50 * time.Minute, Elsewhere: []string{"TestMachine", "TestNpmTest", "TestUserHog", "TestSelftest"}},
}

// Suites are the Debian releases that the tests know; the first has them all.
var Suites = []string{"trixie", "bookworm", "bullseye"}

// on is the group as it is on a suite: its own tests on the first, and on the
// others those of all that may go otherwise there.
func (g Group) on(suite string, own, all []string) []string {
	if suite == Suites[0] {
		return own
	}
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !slices.Contains(g.Elsewhere, name) })
}

func groupOf(test string) Group {
	for _, g := range Groups {
		for _, prefix := range g.Prefixes {
			if strings.HasPrefix(test, "Test"+prefix) {
				return g
			}
		}
	}
	return Groups[len(Groups)-1]
}

// Select returns the group's tests among all, narrowed by a pattern as
// `go test -run` takes it: its part before the first slash names tests.
func (g Group) Select(all []string, pattern string) ([]string, error) {
	top, _, _ := strings.Cut(pattern, "/")
	re, err := regexp.Compile(top)
	if err != nil {
		return nil, fmt.Errorf("pattern of guest tests: %w", err)
	}
	var names []string
	for _, name := range all {
		if groupOf(name).Name == g.Name && re.MatchString(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Arguments are those of the guest's test binary for the selected tests. Its
// own timeout comes before the host's, so that a hanging test shows its
// goroutines. Long has the counts and the cases of a run by hand.
func (g Group) Arguments(names []string, pattern string, timeout time.Duration, long bool) []string {
	run := "^(" + strings.Join(names, "|") + ")$"
	if _, rest, ok := strings.Cut(pattern, "/"); ok {
		run += "/" + rest
	}
	arguments := []string{
		"-test.v=test2json",
		"-test.run=" + run,
		"-test.timeout=" + timeout.Round(time.Second).String(),
	}
	if !long {
		arguments = append(arguments, "-test.short")
	}
	return arguments
}
