package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor/contain"
	"github.com/headroomd/headroomd/loader/proc"
)

// hierarchy is a directory with two frozen jobs of the system, a running one
// and a frozen one of uid 1000's manager.
func hierarchy(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, state := range map[string]string{
		"system.slice/headroom-npm-00000001.scope":                                           "1\n",
		"system.slice/headroom-npm-00000002.scope":                                           "0\n",
		"user.slice/user-1000.slice/headroom-npm-00000003.scope":                             "1\n",
		"user.slice/user-1000.slice/user@1000.service/app.slice/headroom-npm-00000004.scope": "1\n",
		"system.slice/other.service":                                                         "1\n",
	} {
		dir := filepath.Join(root, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "cgroup.freeze"), []byte(state), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// frozen are the last digits of the jobs that are.
func frozen(t *testing.T, root string) string {
	t.Helper()
	list, err := contain.FrozenScopes(root)
	if err != nil {
		t.Fatal(err)
	}
	digits := ""
	for _, p := range list {
		digits += strings.TrimSuffix(p, ".scope")[len(p)-len(".scope")-1:]
	}
	return digits
}

// fakeEnding is a unit that comes down.
type fakeEnding struct {
	how                 contain.Ending
	endingErr, laterErr error
	result              string
	after               time.Duration
	argv                []string
}

func (f *fakeEnding) Ending(_ context.Context, result string) (contain.Ending, error) {
	f.result = result
	return f.how, f.endingErr
}

func (f *fakeEnding) Later(_ context.Context, after time.Duration, argv []string) (string, error) {
	f.after, f.argv = after, argv
	return "headroom-release-1.timer", f.laterErr
}

func (f *fakeEnding) Close() error { return nil }

func TestRelease(t *testing.T) {
	some := errors.New("some\nerror")
	crash := contain.Ending{Result: "signal", Restart: "always", Up: time.Hour}
	restart := contain.Ending{Result: "success", Restart: "no", Job: "restart", Up: time.Second}
	stop := contain.Ending{Result: "success", Restart: "always", Job: "stop", Up: time.Hour}
	afterStop := releaseFlags{afterStop: "headroomd.service"}
	for _, c := range []struct {
		name   string
		uid    int
		flags  releaseFlags
		unit   *fakeEnding
		open   error
		answer error
		in     string
		left   string
		says   string
	}{
		{name: "by hand as root", says: "let go: headroom-npm-00000001.scope"},
		{name: "by hand as a user", uid: 1000, left: "13", says: "let go: headroom-npm-00000004.scope"},
		{name: "as a user without a manager", uid: 1001, left: "134"},
		{name: "stopped", flags: afterStop, unit: &fakeEnding{how: stop}, says: `not kept: systemd has a "stop" job for it`},
		{name: "restarted", flags: afterStop, unit: &fakeEnding{how: restart}, left: "134", says: "it is being restarted; headroom-release-1.timer lets go in 15 s if it is not back: 3 held for the next governor"},
		{name: "crashed", flags: afterStop, unit: &fakeEnding{how: crash}, left: "134", says: "3 held"},
		{name: "restarted, a user's own", uid: 1000, flags: afterStop, unit: &fakeEnding{how: restart}, left: "134", says: "1 held"},
		{name: "systemd cannot be asked", flags: afterStop, open: some, says: `not kept: some\nerror`},
		{name: "systemd does not know", flags: afterStop, unit: &fakeEnding{how: restart, endingErr: some}, says: "not kept"},
		{name: "no timer is to be had", flags: afterStop, unit: &fakeEnding{how: restart, laterErr: some}, says: "not kept"},
		{name: "nobody came", flags: releaseFlags{unlessRunning: true}, answer: some, says: "let go"},
		{name: "the next one is there", flags: releaseFlags{unlessRunning: true}, left: "134"},
		{name: "guard of one that died", flags: releaseFlags{guard: true}, says: "let go"},
		{name: "guard that is not needed any more", flags: releaseFlags{guard: true}, in: "q", left: "134"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("SERVICE_RESULT", "of-the-environment")
			root := hierarchy(t)
			var out bytes.Buffer
			r := release{uid: c.uid, root: root, boxes: filepath.Join(root, "boxes.json"), out: &out, in: strings.NewReader(c.in),
				answer: func(context.Context) error { return c.answer },
				open: func(_ context.Context, unit string) (ending, error) {
					if unit != "headroomd.service" {
						t.Errorf("asked for %q", unit)
					}
					return c.unit, c.open
				}}
			if err := r.run(t.Context(), c.flags); err != nil {
				t.Errorf("release = %v", err)
			}
			if got := frozen(t, root); got != c.left {
				t.Errorf("frozen are %q, want %q", got, c.left)
			}
			if got := out.String(); !strings.Contains(got, c.says) || c.says == "" && got != "" {
				t.Errorf("it says %q, want %q", got, c.says)
			}
			if c.unit == nil {
				return
			}
			if c.unit.result != "of-the-environment" {
				t.Errorf("the unit's result is %q", c.unit.result)
			}
			if c.left != "" && (c.unit.after != 15*time.Second || len(c.unit.argv) != 3 || !filepath.IsAbs(c.unit.argv[0]) || c.unit.argv[2] != "--unless-running") {
				t.Errorf("in %v it runs %q", c.unit.after, c.unit.argv)
			}
		})
	}
}

// With nothing held nobody is asked: most stops are like this.
func TestReleaseOfNothing(t *testing.T) {
	r := release{root: t.TempDir(), boxes: filepath.Join(t.TempDir(), "none"), out: io.Discard, open: func(context.Context, string) (ending, error) {
		t.Error("systemd was asked")
		return nil, errors.New("asked")
	}}
	if err := r.run(t.Context(), releaseFlags{afterStop: "headroomd.service"}); err != nil {
		t.Error(err)
	}
}

// A container has its own limits again, whatever becomes of what is held.
func TestReleaseGivesContainersBack(t *testing.T) {
	root := hierarchy(t)
	dir := filepath.Join(root, "docker/abc")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"memory.max": "max", "memory.current": "0", "memory.stat": "anon 0"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "boxes.json")
	c := contain.NewContainers(root, file, slog.New(slog.DiscardHandler))
	box := proc.Container{Engine: "docker", Name: "abc", Cgroup: "/docker/abc"}
	if _, err := c.Lower("make-1", box, contain.Limits{MemoryMax: 100 << 20, MemorySwapMax: contain.Infinity}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r := release{root: root, boxes: file, out: &out,
		open: func(context.Context, string) (ending, error) { return nil, errors.New("no") }}
	if err := r.run(t.Context(), releaseFlags{afterStop: "headroomd.service"}); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "memory.max")); err != nil || strings.TrimSpace(string(text)) != "max" {
		t.Errorf("memory.max is %s, %v", text, err)
	}
	if !strings.Contains(out.String(), "its limits are what they were: /docker/abc") {
		t.Errorf("it says %q", out.String())
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.run(t.Context(), releaseFlags{}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("of a damaged file: %v", err)
	}
}

func TestReleaseIsHidden(t *testing.T) {
	cmd := newReleaseCommand()
	if !cmd.Hidden {
		t.Error("it is shown")
	}
	cmd.SetArgs([]string{"--guard", "--unless-running"})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.Execute(); err == nil {
		t.Error("two ways at once are taken")
	}
}
