package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/loader/proc"
)

// inProject makes a project the working directory.
func inProject(t *testing.T, scripts string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"scripts": {`+scripts+`}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	return dir
}

func TestExplainLooksIntoPackageJSON(t *testing.T) {
	inProject(t, `"test": "echo none", "start": "vite", "check": "tsc"`)
	rules := classifier.Builtin()
	tests := []struct {
		name, command string
		class         classifier.Class
		capture       bool // of the argv: as the name says
		step          string
	}{
		{"light by the file", "npm test", classifier.Light, true, "goes by the name, and takes it"},
		{"heavy by the file", "npm start", classifier.Heavy, false, "takes what the script runs instead"},
		{"heavy by both", "npm run check", classifier.Heavy, true, ""},
		{"no script", "npm run build", classifier.Heavy, true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			words := strings.Fields(tt.command)
			v := byScripts(rules, classifier.Command{Argv: words}, projectHere())
			if v.Class != tt.class || v.Capture != tt.capture {
				t.Errorf("argv: %s, capture %v, want %s, %v", v.Class, v.Capture, tt.class, tt.capture)
			}
			if last := v.Trace[len(v.Trace)-1]; !strings.HasSuffix(last, tt.step) {
				t.Errorf("last step %q, want …%q", last, tt.step)
			}
			l := lineByScripts(rules, tt.command, projectHere())
			if l.Class != tt.class || !l.Capture {
				t.Errorf("line: %s, capture %v, want %s, true", l.Class, l.Capture, tt.class)
			}
		})
	}
	if v := lineByScripts(rules, "cd / && npm test", projectHere()); v.Class != classifier.Heavy {
		t.Errorf("in another directory: %+v", v.Verdict)
	}
}

// For a process, what lies in its directory counts, and nothing above it.
func TestExplainOfAProcessLooksInItsDirectory(t *testing.T) {
	dir := inProject(t, `"test": "echo none"`)
	below := filepath.Join(dir, "web")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	for cwd, want := range map[string]classifier.Class{dir: classifier.Light, below: classifier.Heavy} {
		cmd := exec.Command("cat")
		cmd.Dir = cwd
		stdin, err := cmd.StdinPipe() // cat ends with it
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p := projectOf(proc.NewPeeker(proc.NewFS("/proc")), proc.ID{PID: cmd.Process.Pid}, cwd)
		got := byScripts(classifier.Builtin(), classifier.Command{Argv: []string{"npm", "test"}}, p)
		// A busy machine may take longer than the 10 ms that a look may take.
		for deadline := time.Now().Add(time.Minute); got.Class != want && time.Now().Before(deadline); {
			got = byScripts(classifier.Builtin(), classifier.Command{Argv: []string{"npm", "test"}}, p)
		}
		if got.Class != want || p.reads == 0 {
			t.Errorf("in %s: %+v after %d reads, want %s", cwd, got, p.reads, want)
		}
		io.Closer(stdin).Close()
		cmd.Wait()
	}
}
