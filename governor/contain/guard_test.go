package contain

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// guardScript is a program that writes down how it was called and all that it
// read until the end.
func guardScript(t *testing.T) (exe, report string) {
	t.Helper()
	dir := t.TempDir()
	exe, report = filepath.Join(dir, "guard"), filepath.Join(dir, "report")
	script := "#!/bin/sh\nwords=$(cat)\necho \"$@ <$words>\" > '" + report + ".new'\nmv '" + report + ".new' '" + report + "'\n"
	if err := os.WriteFile(exe, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return exe, report
}

func TestGuard(t *testing.T) {
	t.Run("all is well", func(t *testing.T) {
		exe, report := guardScript(t)
		g, err := StartGuard(exe)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
		if err := g.Close(); err != nil {
			t.Errorf("Close again = %v", err)
		}
		if got, err := os.ReadFile(report); string(got) != "release --guard <q>\n" {
			t.Errorf("the guard saw %q, %v", got, err)
		}
	})
	t.Run("the governor dies", func(t *testing.T) {
		exe, report := guardScript(t)
		c, err := StartGuard(exe)
		if err != nil {
			t.Fatal(err)
		}
		g := c.(*guard)
		g.pipe.Close() // what the kernel does for a process that ends
		var got []byte
		for end := time.Now().Add(30 * time.Second); len(got) == 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			got, _ = os.ReadFile(report)
		}
		if string(got) != "release --guard <>\n" {
			t.Errorf("the guard saw %q", got)
		}
		g.Close()
	})
	t.Run("a session of its own", func(t *testing.T) {
		exe, _ := guardScript(t)
		c, err := StartGuard(exe)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		g := c.(*guard)
		if !g.cmd.SysProcAttr.Setsid {
			t.Error("it shares the governor's terminal")
		}
	})
	t.Run("it cannot be started", func(t *testing.T) {
		if _, err := StartGuard(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("StartGuard = %v", err)
		}
	})
	t.Run("it died before", func(t *testing.T) {
		exe, _ := guardScript(t)
		c, err := StartGuard(exe)
		if err != nil {
			t.Fatal(err)
		}
		c.(*guard).cmd.Process.Kill()
		if err := c.Close(); err == nil {
			t.Error("Close says nothing of it")
		}
	})
}

func TestAwaitDeath(t *testing.T) {
	for _, c := range []struct {
		name string
		pipe io.Reader
		want bool
	}{
		{"the word", strings.NewReader("q"), false},
		{"the end", strings.NewReader(""), true},
		{"noise, then the word", strings.NewReader("xyq"), false},
		{"noise, then the end", strings.NewReader("xy"), true},
		{"an error", iotest.ErrReader(errors.New("broken")), true},
		{"the word with the end", iotest.DataErrReader(strings.NewReader("q")), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := AwaitDeath(c.pipe); got != c.want {
				t.Errorf("died = %v, want %v", got, c.want)
			}
		})
	}
}
