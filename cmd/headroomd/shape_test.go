package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/headroomd/headroomd"

// arrows is which package may import which other one of this module. Facts
// come in below (loader), are named without looking at the machine
// (classifier), are decided on in one place (governor) and are shown above
// (cmd): an arrow against that direction is how a pure decider begins to wait
// on a disk.
var arrows = map[string][]string{
	"loader/proc":            {},
	"loader":                 {"loader/proc"},
	"classifier":             {},
	"classifier/lighten":     {"classifier"},
	"governor/admission":     {"loader/proc"},
	"governor/contain":       {"loader/proc", "governor/contain/fault"},
	"governor/contain/fault": {},
	"governor/note":          {"loader/proc"},
	"governor/watchdog":      {},
	"governor/journal":       {},
	"governor/explain":       {"governor/journal"},
	"governor/doctor":        {"loader", "loader/proc", "governor/contain", "governor/watchdog"},
	"governor/control":       {"governor", "governor/journal"},
	"governor":               {"classifier", "loader/proc", "governor/admission", "governor/contain", "governor/contain/fault", "governor/watchdog", "governor/journal", "governor/note"},
	"cmd/headroomd":          {"*"},
	"vmtests":                {"*"},
}

// goPackage is what `go list -json` says of one package.
type goPackage struct {
	ImportPath, Dir, Name     string
	Imports                   []string
	GoFiles, IgnoredGoFiles   []string
	TestGoFiles, XTestGoFiles []string
}

// moduleRoot is the directory of go.mod.
func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatalf("the module's root: %v", err)
	}
	return dir
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Dir,Name,Imports,GoFiles,IgnoredGoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir = moduleRoot(t)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var packages []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		packages = append(packages, p)
	}
}

// short cuts the module's path off; a path outside the module gives "".
func short(path string) string {
	if path == module {
		return "."
	}
	rest, ok := strings.CutPrefix(path, module+"/")
	if !ok {
		return ""
	}
	return rest
}

func TestImportArrows(t *testing.T) {
	for _, p := range listPackages(t) {
		name := short(p.ImportPath)
		// What the tests of a folder share may be a package of its own below it.
		if strings.HasPrefix(name, "vmtests/") {
			name = "vmtests"
		}
		allowed, known := arrows[name]
		if !known {
			t.Errorf("%s: not in the table of packages", name)
			continue
		}
		for _, path := range p.Imports {
			to := short(path)
			if to == "" || slices.Contains(allowed, "*") || slices.Contains(allowed, to) {
				continue
			}
			t.Errorf("%s imports %s; it may import %q", name, to, allowed)
		}
	}
}

func TestOnePackageComment(t *testing.T) {
	for _, p := range listPackages(t) {
		files := slices.Concat(p.GoFiles, p.IgnoredGoFiles)
		if len(files) == 0 {
			files = slices.Concat(p.TestGoFiles, p.XTestGoFiles)
		}
		var with []string
		for _, name := range files {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Error(err)
				continue
			}
			// A generator that `go run` starts (package main) is not of the package.
			if f.Doc != nil && strings.TrimSuffix(f.Name.Name, "_test") == p.Name {
				with = append(with, name)
			}
		}
		if len(with) != 1 {
			t.Errorf("%s: package comment in %q, want it in one file", short(p.ImportPath), with)
		}
	}
}

func TestTopLevel(t *testing.T) {
	allowed := []string{
		"bpf", "loader", "classifier", "governor", "cmd", "testdata", "vmtests",
		"go.mod", "go.sum", "Makefile", "README.md", "LICENSE", "CHANGELOG.md",
	}
	for _, path := range trackedFiles(t) {
		top, _, _ := strings.Cut(path, "/")
		if !slices.Contains(allowed, top) && !strings.HasPrefix(top, ".") {
			t.Errorf("%s: nothing else belongs at the root", top)
		}
	}
}

// trackedFiles are the files under version control, as paths from the root.
func trackedFiles(t *testing.T) []string {
	t.Helper()
	root := moduleRoot(t)
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("not a git checkout: which files belong to the project is not known")
	}
	// A checkout owned by somebody else (a bind mount in CI) is still one.
	cmd := exec.CommandContext(t.Context(), "git", "-c", "safe.directory=*", "ls-files", "-z")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func TestFiles(t *testing.T) {
	const maxLines = 400
	// Words that mean something on one developer's machine only. They are
	// written in two halves so that this file does not hold them.
	foreign := []string{"/wo" + "rk/", "DESIGN" + ".md", "DESIGN" + " §", "STYLE" + ".md", "/ro" + "ot/go/"}
	root := moduleRoot(t)
	for _, path := range trackedFiles(t) {
		data, err := os.ReadFile(filepath.Join(root, path))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, not yet committed
		}
		if err != nil {
			t.Error(err)
			continue
		}
		for _, word := range foreign {
			if i := bytes.Index(data, []byte(word)); i >= 0 {
				t.Errorf("%s:%d: %q", path, 1+bytes.Count(data[:i], []byte("\n")), word)
			}
		}
		if n := bytes.Count(data, []byte("\n")); strings.HasSuffix(path, ".go") && n > maxLines && !generated.Match(data) {
			t.Errorf("%s: %d lines, want at most %d", path, n, maxLines)
		}
	}
}
