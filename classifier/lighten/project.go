package lighten

import (
	"encoding/json"
	"path"

	"github.com/headroomd/headroomd/classifier"
)

// What is looked up in files ends whatever a line says.
const (
	maxManifest = 256 << 10 // bytes of a package.json, as in the classifier
	maxReads    = 8         // of them that are read for one line
	maxLooks    = 64        // commands of one line that are judged by them
)

// project is what was read of the project that a line runs in.
type project struct {
	scripts map[string]map[string]string // by directory; nil for one without
	looks   int
}

// asked is the question for the classifier about a command's words.
func (p *plan) asked(words []string) classifier.Command {
	c := classifier.Command{Argv: words}
	dir, ok := p.where()
	if o := &p.r.o; ok && o.Files != nil && o.Dir != "" && p.r.project.looks < maxLooks {
		p.r.project.looks++
		c.Files, c.Cwd = o.Files, absolute(o.Dir, dir)
	}
	return c
}

// where is the directory in which the command runs, as seen from where the line
// starts.
func (p *plan) where() (string, bool) {
	switch {
	case p.src == nil:
		return "", true
	case p.src.lost || p.src.depth > 0:
		return "", false
	}
	return p.src.dir, true
}

func absolute(base, dir string) string {
	if path.IsAbs(dir) {
		return path.Clean(dir)
	}
	return path.Join(base, dir)
}

// script is the text of a package's script.
func (r *rewrite) script(dir, manager, name string) (string, bool) {
	if r.o.Script != nil {
		return r.o.Script(dir, manager, name)
	}
	if r.o.Files == nil || !path.IsAbs(r.o.Dir) {
		return "", false
	}
	dir = absolute(r.o.Dir, dir)
	scripts, known := r.project.scripts[dir]
	if !known && len(r.project.scripts) < maxReads {
		scripts = r.read(dir)
		if r.project.scripts == nil {
			r.project.scripts = map[string]map[string]string{}
		}
		r.project.scripts[dir] = scripts
	}
	text, ok := scripts[name]
	return text, ok
}

// read returns the scripts of a directory's package.json. The keys count as they
// are written: to npm "Scripts" means nothing.
func (r *rewrite) read(dir string) map[string]string {
	data, err := r.o.Files.ReadFile(dir, "package.json", maxManifest)
	if err != nil || len(data) > maxManifest {
		return nil
	}
	var top, raw map[string]json.RawMessage
	if json.Unmarshal(data, &top) != nil || json.Unmarshal(top["scripts"], &raw) != nil {
		return nil
	}
	scripts := make(map[string]string, len(raw))
	for name, text := range raw {
		var s string
		if json.Unmarshal(text, &s) == nil {
			scripts[name] = s
		}
	}
	return scripts
}
