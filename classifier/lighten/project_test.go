package lighten

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/headroomd/headroomd/classifier"
)

// files are a project, by path.
type files struct {
	content map[string]string
	reads   int
}

func (f *files) ReadFile(dir, name string, limit int) ([]byte, error) {
	f.reads++
	s, ok := f.content[path.Join(dir, name)]
	switch {
	case !ok:
		return nil, fmt.Errorf("read %q: %w", name, fs.ErrNotExist)
	case len(s) > limit:
		return nil, fmt.Errorf("read %q: larger than %d bytes", name, limit)
	}
	return []byte(s), nil
}

func TestProject(t *testing.T) {
	o := small
	o.Dir = "/p"
	o.Files = &files{content: map[string]string{
		"/p/package.json":      `{"scripts": {"test": "jest", "none": "echo none", "start": "vitest", "number": 1, "native": "make -j8"}}`,
		"/p/web/package.json":  `{"scripts": {"test": "vitest run"}}`,
		"/p/odd/package.json":  `{"Scripts": {"test": "jest"}}`,
		"/p/list/package.json": `{"scripts": ["jest"]}`,
		"/p/cut/package.json":  `{"scripts": {"test": "jest"`,
		"/srv/package.json":    `{"scripts": {"test": "jest --ci"}}`,
	}}
	testLines(t, o, []lineTest{
		{"of the directory", "npm test", heap + "npm test -- --runInBand"},
		{"behind cd", "cd web && npm test", "cd web && " + heap + "npm test -- --maxWorkers=1 --no-file-parallelism"},
		{"behind an absolute cd", "cd /srv && npm test", "cd /srv && " + heap + "npm test -- --runInBand"},
		{"light by its script", "npm run none", ""},
		{"heavy by its script", "npm start", heap + "npm start"},
		{"what the script runs is its own", "npm run native", heap + "npm run native"},
		{"another key", "cd odd && npm test", "cd odd && " + heap + "npm test"},
		{"no object", "cd list && npm test", "cd list && " + heap + "npm test"},
		{"cut off", "cd cut && npm test", "cd cut && " + heap + "npm test"},
		{"no file", "cd nowhere/else && npm run build", "cd nowhere/else && " + heap + "npm run build"},
	})
	got, _ := Argv(classifier.Builtin(), []string{"npm", "test"}, o)
	if want := []string{"env", strings.TrimSpace(heap), "npm", "test", "--", "--runInBand"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// However long a line is, few files are read for it.
func TestProjectReads(t *testing.T) {
	f := &files{content: map[string]string{"/p/package.json": `{"scripts": {"test": "jest"}}`}}
	o := small
	o.Dir, o.Files = "/p", f
	got := Line(classifier.Builtin(), strings.Repeat("npm test --prefix a; npm test; ", 1000), o)
	if len(got.Edits) == 0 {
		t.Error("not rewritten")
	}
	if f.reads > 3*maxLooks+maxReads+64 {
		t.Errorf("%d reads", f.reads)
	}
}
