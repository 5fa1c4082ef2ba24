package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/loader/proc"
)

// projectFiles are the files of the project that a command belongs to, for the
// look into its package.json. It counts what was asked for: an answer that
// asked for nothing is the name's.
type projectFiles struct {
	cwd   string // "" not known
	reads int
	read  func(path string, limit int) ([]byte, error)
}

func (p *projectFiles) ReadFile(dir, name string, limit int) ([]byte, error) {
	p.reads++
	return p.read(filepath.Join(dir, name), limit)
}

// projectHere is that of the directory in which the question is asked.
func projectHere() *projectFiles {
	cwd, err := os.Getwd()
	if err != nil {
		cwd = ""
	}
	return &projectFiles{cwd: cwd, read: proc.ReadSmall}
}

// projectOf is that of a process. Whoever asks, root above all, reads there no
// more than the process itself may.
func projectOf(peek *proc.Peeker, id proc.ID, cwd string) *projectFiles {
	return &projectFiles{cwd: cwd, read: func(path string, limit int) ([]byte, error) {
		below, err := filepath.Rel(cwd, path)
		if err != nil || below == ".." || strings.HasPrefix(below, "../") {
			return nil, fmt.Errorf("look above %q: %w", cwd, fs.ErrNotExist)
		}
		return peek.Peek(id, below, limit)
	}}
}

// byScripts judges c by what its scripts run. What the governor takes is told
// by the name alone, as it is at an exec.
func byScripts(rules *classifier.Set, c classifier.Command, p *projectFiles) classifier.Verdict {
	c.Cwd, c.Files = p.cwd, p
	v := rules.ExplainArgv(c)
	if p.reads == 0 {
		return v
	}
	c.Files = nil
	taken := rules.Argv(c).Capture
	switch {
	case taken && !v.Capture:
		v.Trace = append(v.Trace, "at its exec the governor goes by the name, and takes it")
	case v.Capture && !taken:
		v.Trace = append(v.Trace, "at its exec the governor goes by the name, and takes what the script runs instead")
	}
	v.Capture = taken
	return v
}

// lineByScripts is byScripts for a shell line.
func lineByScripts(rules *classifier.Set, line string, p *projectFiles) classifier.LineVerdict {
	v := rules.LineIn(line, p.cwd, p)
	if p.reads > 0 && !v.Capture && rules.Line(line).Capture {
		v.Capture = true
		v.Trace = append(v.Trace, "at its exec the governor goes by the name, and takes it")
	}
	return v
}
