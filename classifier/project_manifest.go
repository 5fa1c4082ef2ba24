package classifier

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// manifest is the part of a package.json that counts here.
type manifest struct {
	dir     string
	scripts map[string]string
	why     string // why there are none; "" if there are
}

// manifest returns the package.json that a command in dir uses: its own, or the
// next one upwards.
func (l *project) manifest(dir string) *manifest {
	if m := l.manifests[dir]; m != nil {
		return m
	}
	m := l.find(dir)
	if len(l.manifests) < maxReads {
		l.manifests[dir] = m
	}
	return m
}

func (l *project) find(dir string) *manifest {
	for at, up := dir, 0; up < maxUp; up++ {
		if l.reads == maxReads {
			return &manifest{why: "too many files were looked at already"}
		}
		l.reads++
		data, err := l.files.ReadFile(at, "package.json", maxManifest)
		if err == nil {
			scripts, err := parseScripts(data)
			if err != nil {
				return &manifest{dir: at, why: fmt.Sprintf("the package.json in %s cannot be used: %v", shown(at), err)}
			}
			return &manifest{dir: at, scripts: scripts}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return &manifest{dir: at, why: fmt.Sprintf("the package.json in %s cannot be read", shown(at))}
		}
		if at == "/" {
			break
		}
		at = path.Dir(at)
	}
	return &manifest{why: fmt.Sprintf("there is no package.json in %s or above it", shown(dir))}
}

// parseScripts returns the scripts of a package.json. The keys are compared as
// they are: to npm "Scripts" means nothing. An error holds nothing of the file.
func parseScripts(data []byte) (map[string]string, error) {
	if len(data) > maxManifest {
		return nil, errors.New("it is too large")
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &top); err != nil {
		return nil, errors.New("it is not a JSON object")
	}
	if top["scripts"] == nil {
		return nil, nil
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(top["scripts"], &raw); err != nil {
		return nil, errors.New("its scripts are not an object")
	}
	if len(raw) > maxScripts {
		return nil, fmt.Errorf("it has more than %d scripts", maxScripts)
	}
	scripts := make(map[string]string, len(raw))
	for name, text := range raw {
		var script string
		if json.Unmarshal(text, &script) == nil {
			scripts[name] = script
		}
	}
	return scripts, nil
}
