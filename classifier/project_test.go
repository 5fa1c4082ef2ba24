package classifier

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
)

// mapFiles are files by path. It counts what was asked for.
type mapFiles struct {
	files map[string]string
	reads *int
}

func (m mapFiles) ReadFile(dir, name string, limit int) ([]byte, error) {
	if m.reads != nil {
		*m.reads++
	}
	text, ok := m.files[path.Join(dir, name)]
	if !ok {
		return nil, fmt.Errorf("open: %w", fs.ErrNotExist)
	}
	if len(text) > limit {
		return nil, fmt.Errorf("it has more than %d bytes", limit)
	}
	return []byte(text), nil
}

// packages makes a package.json of each directory's scripts.
func packages(scripts map[string]map[string]string) mapFiles {
	files := mapFiles{files: map[string]string{}}
	for dir, byName := range scripts {
		var pairs []string
		for name, text := range byName {
			pairs = append(pairs, fmt.Sprintf("%q: %q", name, text))
		}
		files.files[dir+"/package.json"] = `{"name": "x", "scripts": {` + strings.Join(pairs, ",") + `}}`
	}
	return files
}

var project1 = packages(map[string]map[string]string{
	"/p": {
		"test": "echo no tests", "check": "eslint . && vitest run", "build": "node scripts/build.js", "start": "node server.js",
		"clean": "rimraf dist", "types": "tsc --noEmit", "hello": "echo hello", "posthello": "tsc", "lint": "eslint",
		"all": "npm run hi && npm run types", "hi": "echo hi", "quiet": "npm run hi && npm run -s ho", "ho": "true",
		"loop": "npm run loop", "ping": "npm run pong", "pong": "npm run ping || tsc", "many": "run-s part:*", "part:a": "echo a",
		"part:b": "echo b", "more": "run-p 'deep:**'", "deep:x:y": "jest", "shallow": "run-s deep:*",
		"both": `concurrently "npm:hi" "echo x"`, "dev": `concurrently -n a,b "npm:hi" "vite"`, "sh": "./scripts/test.sh",
		"agent": "claude -p 'fix it'", "twice": "FOO=1 cross-env BAR=2 echo hi", "cut": "echo 'unclosed", "empty": "",
		"mk": "make", "sub": "cd web && npm test", "here": "npm --prefix web run lint", "var": "$TOOL run",
		"install": "echo own", "secret": "NPM_TOKEN=abcdef tsc", "w": "(cd web && npm run lint); npm run hi", "serve": "next start",
	},
	"/p/web": {"test": "jest", "lint": "echo lint", "build": "echo built"},
})

func TestPackageScripts(t *testing.T) {
	tests := []struct {
		name, line, rule string // the rule that decides; "" for light
	}{
		{"echo is light", "npm test", ""},
		{"and by its other names", "npm t", ""},
		{"heavy by what it runs", "npm run check", "eslint"},
		{"only one runs", "npm run types", "typescript"},
		{"an unknown script: the name", "npm run build", "node-npm-run"},
		{"an unknown script: a light name", "npm start", ""},
		{"a script that is not there", "npm run nothing", "node-npm-run"},
		{"an empty script", "npm run empty", "node-npm-run"},
		{"a program that nobody knows", "npm run sh", "node-npm-run"},
		{"not bash", "npm run cut", "node-npm-run"},
		{"a variable as the program", "npm run var", "node-npm-run"},
		{"a post script", "npm run hello", "typescript"},
		{"without post scripts", "npm run --ignore-scripts hello", ""},
		{"node runs none", "node --run hello", ""},
		{"node with =", "node --run=types", "typescript"},
		{"arguments go to the script", "npm run lint -- --version", ""},
		{"arguments of its own", "npm run lint -- src", "eslint"},
		{"yarn passes on what follows", "yarn lint --version", ""},
		{"make clean", "npm run mk -- clean", ""},
		{"make all", "npm run mk -- clean all", "make"},
		{"npm's own help", "npm test --help", ""},
		{"a script that runs scripts", "npm run all", "typescript"},
		{"light down to the end", "npm run quiet", ""},
		{"itself", "npm run loop", "node-npm-run"},
		{"a circle: the name", "npm run ping", "node-npm-run"},
		{"run-s", "npm run many", ""},
		{"run-p with two stars", "npm run more", "js-test"},
		{"run-s with one star finds no two parts", "npm run shallow", "monorepo"},
		{"run-s by npx", "npx run-s hi types", "typescript"},
		{"concurrently", "npm run both", ""},
		{"concurrently with a line", "npm run dev", "bundler"},
		{"an agent", "npm run agent", "agent"},
		{"carriers in a script", "npm run twice", ""},
		{"a known light program", "npm run serve", ""},
		{"yarn's own command wins", "yarn check", ""},
		{"yarn run", "yarn run types", "typescript"},
		{"yarn without run", "yarn hi", ""},
		{"pnpm", "pnpm types", "typescript"},
		{"pnpm run", "pnpm run hi", ""},
		{"pnpm install is its own", "pnpm install", "pnpm-install"},
		{"npm install too", "npm install", "node-package-install"},
		{"bun run", "bun run hi", ""},
		{"bun test is its own", "bun test", "bun-test"},
		{"bun without run", "bun hi", ""},
		{"cd", "cd web && npm test", "js-test"},
		{"cd and back", "cd web && cd .. && npm test", ""},
		{"cd in a subshell", "(cd web && npm run lint); npm test", ""},
		{"cd in a subshell, heavy there", "(cd web; npm t)", "js-test"},
		{"cd that may not happen", "if x; then cd web; fi; npm test", "node-npm-test"},
		{"cd or cd", "cd web || cd lib; npm test", "node-npm-test"},
		{"cd or exit", "cd web || exit 1; npm run lint", ""},
		{"cd to what the shell knows", "cd $DIR && npm test", "node-npm-test"},
		{"cd home", "cd && npm test", "node-npm-test"},
		{"pushd and popd", "pushd web && npm run lint && popd", ""},
		{"in the background", "cd web & npm test", ""},
		{"in a pipe", "cd web | npm test", ""},
		{"in a loop", "for d in a b; do cd $d; npm test; done", "node-npm-test"},
		{"in another shell", "bash -c 'cd web; npm run lint'; npm test", ""},
		{"--prefix", "npm --prefix web test", "js-test"},
		{"-C", "npm -C web run lint", ""},
		{"--cwd=", "yarn --cwd=web test", "js-test"},
		{"a script that changes the directory", "npm run sub", "js-test"},
		{"a script that names it", "npm run here", ""},
		{"a subshell in a script", "npm run w", ""},
		{"a workspace: the name", "npm -w web test", "node-npm-test"},
		{"pnpm -r: the name", "pnpm -r run hi", "node-npm-run"},
		{"sudo stays", "sudo -u pi npm test", ""},
		{"sudo -i does not", "sudo -i npm test", "node-npm-test"},
		{"env stays", "CI=1 env -i A=b npm t", ""},
		{"env -C does not", "env -C web npm t", "node-npm-test"},
		{"find -execdir does not", "find . -execdir npm test \\;", "node-npm-test"},
		{"another root", "chroot /srv npm test", "node-npm-test"},
		{"a variable of the line", "T=types; npm run $T", "typescript"},
		{"a name that the shell fills in: the name", "npm run $T", "node-npm-run"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := Builtin().LineIn(tt.line, "/p", project1)
			got := v.Rule
			if v.Class == Light {
				got = ""
			}
			if !strings.HasPrefix(got, tt.rule) || (got == "") != (tt.rule == "") {
				t.Errorf("%s: got %q (%s), want %q\n%s", tt.line, got, v.Reason, tt.rule, strings.Join(v.Trace, "\n"))
			}
		})
	}
}
