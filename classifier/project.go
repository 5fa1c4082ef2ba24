package classifier

import (
	"path"
	"strings"
)

// Files reads the files of a project, for a look into its package.json. Who
// asks the question brings it: what may be read, and how, depends on whose the
// files are and who asks.
type Files interface {
	// ReadFile returns the content of the regular file name in the directory
	// dir, whose path is absolute. The error wraps fs.ErrNotExist where there is
	// none; a file of more than limit bytes is an error.
	ReadFile(dir, name string, limit int) ([]byte, error)
}

// A look-up ends whatever the files say: nothing real comes near these numbers.
const (
	maxManifest = 256 << 10 // bytes of one package.json: the largest on npm's site have some 60 KB
	maxScripts  = 512       // scripts of one package.json
	maxScript   = 4 << 10   // bytes of one script, arguments included
	maxText     = 64 << 10  // bytes of scripts judged in all: some 15 ms
	maxRuns     = 64        // scripts judged in all
	maxCalls    = 1000      // names looked up in all
	maxNested   = 8         // npm run a → npm run b → …
	maxUp       = 8         // directories looked through upwards for a package.json
	maxReads    = 32        // files asked for in all
	maxPath     = 4 << 10
)

// project is what is known of the project that a command runs in, and what the
// look-up may still spend.
type project struct {
	files     Files
	dir       string // where the command at hand runs; "" not known
	manifests map[string]*manifest
	known     map[scriptKey]scriptAnswer
	running   []scriptKey // scripts being judged, outermost first
	text      int         // bytes of scripts judged
	calls     int         // of scripts, by commands of the question
	reads     int

	noted  int  // commands judged in the script at hand
	unsure bool // one of them is light only as far as anyone knows
}

// newProject returns nil where nothing can be looked up.
func newProject(dir string, files Files) *project {
	if files == nil || !path.IsAbs(dir) {
		return nil
	}
	return &project{files: files, dir: path.Clean(dir), manifests: map[string]*manifest{}, known: map[scriptKey]scriptAnswer{}}
}

// join is dir as seen from base, "" where either is not known.
func join(base, dir string) string {
	switch {
	case base == "" || dir == "" || len(base)+len(dir) > maxPath:
		return ""
	case strings.ContainsAny(dir, "$`*?[{~\x00"):
		return "" // the shell's to know
	case path.IsAbs(dir):
		return path.Clean(dir)
	}
	return path.Join(base, dir)
}

// enter takes note that a program is run by words, and returns what to do when
// it is judged: no program changes the directory of its caller.
func (l *project) enter(name string, p *program, words []string) (leave func()) {
	dir := l.dir
	if len(p.carriers) > 0 && movesAway(name, words) {
		l.dir = ""
	}
	return func() { l.dir = dir }
}

// movesAway reports whether a carrier may run its command in another directory
// or on another root: all do that are not known to stay.
func movesAway(name string, words []string) bool {
	for _, w := range words[1:min(len(words), 1+maxArgs)] {
		if strings.HasPrefix(w, "--chdir") || strings.HasPrefix(w, "--chroot") || w == "-execdir" {
			return true
		}
	}
	away := func(options string) bool {
		for _, w := range words[1:min(len(words), 1+maxArgs)] {
			if len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, options) {
				return true
			}
		}
		return false
	}
	switch name {
	case "sudo":
		return away("DRi") // also -Di and the like
	case "env":
		return away("C")
	case "doas", "nice", "ionice", "chrt", "taskset", "time", "timeout", "nohup", "setsid", "stdbuf", "unbuffer",
		"xvfb-run", "dbus-run-session", "flock", "strace", "ltrace", "perf", "valgrind", "watch", "xargs", "parallel",
		"find", "npx", "bunx", "pnpx", "npm", "pnpm", "yarn", "yarnpkg", "bun", "nyc", "c8", "env-cmd", "dotenv",
		"cross-env", "cross-env-shell", "npm-run-all", "npm-run-all2", "run-s", "run-p", "concurrently", "conc", "hyperfine", "script", "entr", "catchsegv", "caffeinate", "chronic":
		return false
	}
	return true
}

// seen takes note of a command of a line and of its answer.
func (l *project) seen(s *Set, r result) {
	l.noted++
	if !r.heavy && !s.sure(r) {
		l.unsure = true
	}
}

// sure reports whether a light answer is more than not knowing better.
func (s *Set) sure(r result) bool {
	if r.rule != nil {
		return true
	}
	if len(r.words) == 0 || r.reason == tooNested {
		return false
	}
	name := base(r.words[0])
	p := s.lookup(name)
	if p == nil {
		return harmless(name)
	}
	return p.interp == nil && len(p.rules) > 0
}

// tooNested is the reason of an answer at the end of the look-through.
const tooNested = "nested deeper than is looked through"

// harmless knows the programs that no rule names because they are never heavy:
// a script of nothing else is light.
func harmless(name string) bool {
	switch name {
	case ":", "[", "awk", "basename", "cat", "cd", "chmod", "command", "copyfiles", "cp", "cpx", "cpy", "cut", "date",
		"del", "del-cli", "dirname", "echo", "exit", "export", "false", "grep", "head", "hostname", "kill", "kill-port",
		"ln", "ls", "mkdir", "mkdirp", "mv", "ncp", "open-cli", "pkill", "popd", "printf", "pushd", "pwd", "read",
		"readlink", "realpath", "return", "rimraf", "rm", "rmdir", "sed", "set", "shift", "shx", "sleep", "sort",
		"tail", "tee", "test", "touch", "tr", "trap", "true", "type", "umask", "uname", "uniq", "unset", "wait",
		"wait-on", "wc", "which", "whoami":
		return true
	}
	return false
}
