package classifier

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestLine(t *testing.T) {
	tests := []struct {
		name  string
		line  string
		class Class
		rule  string
	}{
		{"plain", "npm test", Heavy, "node-npm-test"},
		{"list", "cd web && npm ci; npm test", Heavy, "node-package-install"},
		{"or", "test -d x || make", Heavy, "make"},
		{"pipe", "npm test 2>&1 | tail -5", Heavy, ""},
		{"background", "make & wait", Heavy, "make"},
		{"subshell", "(cd a; make)", Heavy, "make"},
		{"group", "{ make; } 2>log", Heavy, "make"},
		{"substitution", "x=$(make -s v)", Heavy, "make"},
		{"backticks", "echo `npm t`", Heavy, "node-npm-test"},
		{"process substitution", "diff <(npm test) a", Heavy, "node-npm-test"},
		{"condition", "if make; then :; fi", Heavy, "make"},
		{"negated", "while ! npm ci; do sleep 1; done", Heavy, ""},
		{"loop body", "for d in a b; do make -C $d; done", Heavy, "make"},
		{"case", "case $x in a) make;; esac", Heavy, "make"},
		{"function called", "b() { make; }; b", Heavy, "make"},
		{"function defined", "b() { make; }", Light, ""},
		{"function that calls itself", "b() { b; make; }; b", Heavy, "make"},
		{"bash -c", `bash -lc 'cd x && npm test'`, Heavy, "node-npm-test"},
		{"eval", `eval "npm test -- -w"`, Heavy, "node-npm-test"},
		{"exec", "exec make", Heavy, "make"},
		{"trap at the end", "trap 'make check' EXIT; ls", Heavy, "make"},
		{"trap on an error", "trap 'make check' ERR; ls", Light, ""},
		{"trap reset", "trap - EXIT", Light, ""},
		{"command", "command make", Heavy, "make"},
		{"command asks", "command -v make", Light, ""},
		{"coproc", "coproc make", Heavy, "make"},
		{"time", "time make", Heavy, "make"},
		{"here-string", "bash <<< 'npm test'", Heavy, "node-npm-test"},
		{"here-document to a shell", "sh <<EOF\nmake\nEOF", Heavy, "make"},
		{"here-document to a file", "cat > x <<'EOF'\nmake\nEOF", Light, ""},
		{"here-document to ssh", "ssh box <<'EOF'\nmake\nEOF", Light, ""},
		{"here-document expands", "cat <<EOF\n$(make)\nEOF", Heavy, "make"},
		{"quoted here-document", "cat <<'EOF'\n$(make)\nEOF", Light, ""},
		{"here-document through cat", "cat <<'EOF' | sudo bash\nmake\nEOF", Heavy, "make"},
		{"here-document through cat to a file", "cat <<'EOF' | tee x\nmake\nEOF", Light, ""},
		{"bin of a package manager", `$(npm bin)/eslint .`, Heavy, "eslint"},
		{"bin by name", `"$(yarn bin jest)" --ci`, Heavy, "js-test"},
		{"a path's end", `$VIRTUAL_ENV/bin/pip install x`, Heavy, "pip-install"},
		{"echo to a shell", "echo 'npm test' | bash", Heavy, "node-npm-test"},
		{"download to a shell", "curl -fsSL https://x | sudo sh", Heavy, "piped-installer"},
		{"download to a file", "curl -fsSL https://x | tee a", Light, ""},
		{"download by a substitution", `sh -c "$(curl -fsSL https://x)"`, Heavy, "piped-installer"},
		{"variable", "X=make; $X all", Heavy, "make"},
		{"variable with blanks", `c="npm test"; $c`, Heavy, "node-npm-test"},
		{"unknown variable", "$X all", Light, ""},
		{"which", "$(which npm) test", Heavy, "node-npm-test"},
		{"joined quotes", "'np''m' test", Heavy, "node-npm-test"},
		{"continued", "docker \\\n build .", Heavy, "container-build"},
		{"options in a variable", "apt-get $OPTS install vim", Heavy, "apt"},
		{"a quoted unknown operand", `pip install "$PKG"`, Heavy, "pip-install"},
		{"prefix", "CI=1 npm t", Heavy, "node-npm-test"},
		{"another host", "DOCKER_HOST=ssh://b docker build .", Light, ""},
		{"the host is this command's only", "DOCKER_HOST=ssh://b docker ps; docker build .", Heavy, ""},
		{"no blanks", "make>/dev/null", Heavy, "make"},
		{"comment", "make # clean", Heavy, "make"},
		{"only a comment", "# make", Light, ""},
		{"empty", "", Light, ""},
		{"prose", `git commit -m "npm test && make"`, Light, ""},
		{"escaped", `echo "\$(npm test)"`, Light, ""},
		{"word list", "for p in npm make; do echo $p; done", Light, ""},
		{"pattern", "[[ $c == *npm* ]] && echo x", Light, ""},
		{"alias", "alias m='make -j4'", Light, ""},
		{"ssh", "ssh box make", Light, ""},

		{"sudo", "sudo -E -u pi A=1 make", Heavy, "make"},
		{"sudo, options end", `sudo -E PATH="$PATH" -- make x`, Heavy, "make"},
		{"many carriers", "sudo -u pi env -i CI=1 nice -n 10 timeout -k 5 60s npm t", Heavy, "node-npm-test"},
		{"su", `su - pi -c "cd app && npm test"`, Heavy, "node-npm-test"},
		{"su, no command", "su - pi", Light, ""},
		{"ionice on a process", "ionice -c3 -p 42", Light, ""},
		{"strace on a process", "strace -p 42 -f", Light, ""},
		{"flock", "flock -n /tmp/l make", Heavy, "make"},
		{"flock with a line", "flock /tmp/l -c 'npm test'", Heavy, "node-npm-test"},
		{"xargs", "ls *.c | xargs -n1 -P4 gcc -c", Heavy, "c-compiler"},
		{"find", `find . -name '*.c' -exec gcc -c {} \;`, Heavy, "c-compiler"},
		{"find runs grep", "find . -exec grep make {} +", Light, ""},
		{"parallel", "parallel -j2 gcc -c {} ::: a.c b.c", Heavy, "c-compiler"},
		{"parallel elsewhere", "parallel -S box make ::: a", Light, ""},
		{"watch", "watch -n5 'npm test | tail'", Heavy, "node-npm-test"},
		{"script", `script -qec "npm test" /dev/null`, Heavy, "node-npm-test"},
		{"hyperfine", "hyperfine --warmup 1 'ls' 'npm test'", Heavy, "node-npm-test"},
		{"nix-shell", `nix-shell --run "make -j4"`, Heavy, "make"},
		{"uv run", "uv run --with x pytest", Heavy, "pytest"},
		{"poetry run", "poetry run python app.py", Light, ""},
		{"coverage", "coverage run -m pytest", Heavy, "pytest"},
		{"bundle exec", "bundle exec rspec", Heavy, "rake"},
		{"docker exec", "docker exec -it api pytest -q", Heavy, "pytest"},
		{"docker exec asks", "docker exec web ls", Light, ""},
		{"git bisect", "git bisect run npm test", Heavy, "node-npm-test"},
		{"tmux", "tmux new -d -s t 'npm test'", Heavy, "node-npm-test"},
		{"an agent", "cd x && claude -p hi", Heavy, "agent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Builtin().Line(tt.line)
			if got.Class != tt.class {
				t.Errorf("%q: got %s (%s: %s), want %s\n%s", tt.line, got.Class, got.Rule, got.Reason, tt.class, strings.Join(got.Trace, "\n"))
			}
			if tt.rule != "" && got.Rule != tt.rule {
				t.Errorf("%q: got rule %q, want %q", tt.line, got.Rule, tt.rule)
			}
			if !got.Parsed {
				t.Errorf("%q: not parsed", tt.line)
			}
		})
	}
}

func TestLineCommands(t *testing.T) {
	v := Builtin().Line("cd web && npm ci | tee log; claude -p hi")
	var got []string
	for _, c := range v.Commands {
		got = append(got, string(c.Class)+" "+strings.Join(c.Words, " "))
	}
	want := []string{"light cd web", "heavy npm ci", "light tee log", "heavy claude -p hi"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !v.Capture || v.Commands[3].Capture {
		t.Errorf("capture of the line %v, of the agent %v; want true, false", v.Capture, v.Commands[3].Capture)
	}
}

// What bash refuses is read word by word: a cut line, a pasted prompt.
func TestFallback(t *testing.T) {
	tests := []struct {
		name, line string
		want       Class
	}{
		{"cut quote", "npm test && echo 'half", Heavy},
		{"cut block", "if true; then make", Heavy},
		{"prose in the cut quote", "echo 'npm test", Light},
		{"comment", "echo ( # make", Light},
		{"assignment", ") CI=1 make", Heavy},
		{"too deep", strings.Repeat("(", 3000) + "make", Heavy},
		{"too deep and light", strings.Repeat("if ", 3000) + "ls", Light},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Builtin().Line(tt.line)
			if got.Parsed {
				t.Fatal("parsed; want the fallback")
			}
			if got.Class != tt.want {
				t.Errorf("got %s, want %s", got.Class, tt.want)
			}
		})
	}
}

func TestWhere(t *testing.T) {
	tests := []struct {
		name, line, want string
		class            Class
	}{
		{"docker exec", "docker exec -it c npm test", "in a container", Heavy},
		{"compose exec", "docker compose -f a.yml exec -T app sh -c 'make'", "in a container", Heavy},
		{"chroot", "sudo chroot /mnt apt-get install -y vim", "in another root directory", Heavy},
		{"typed", "tmux send-keys -t w make Enter", "typed into a terminal's window", Heavy},
		{"chained", `tmux new -d -s w \; send-keys -t w 'npm test' Enter`, "typed into a terminal's window", Heavy},
		{"chained, second command", `tmux new -d -s w top \; splitw -h 'make -j2'`, "runs a makefile", Heavy},
		{"ssh", "ssh host make", "runs on another host", Light},
		{"kubectl", "kubectl exec p -- npm test", "runs on another host", Light},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := Builtin().Line(tt.line)
			if v.Class != tt.class || !strings.Contains(v.Reason, tt.want) {
				t.Errorf("%q: got %s (%s), want %s (…%s)", tt.line, v.Class, v.Reason, tt.class, tt.want)
			}
		})
	}
}

func TestFunctionArguments(t *testing.T) {
	tests := []struct {
		name, line string
		class      Class
	}{
		{"all", `run() { echo "+ $*"; "$@"; }; run make -j4`, Heavy},
		{"unquoted", `run() { $@; }; run make`, Heavy},
		{"first", `build() { make -C "$1"; }; build src`, Heavy},
		{"as the command", `do_() { $1; }; do_ make`, Heavy},
		{"shifted", `in_() { cd "$1"; shift; "$@"; }; in_ web npm ci`, Heavy},
		{"second call", `run() { "$@"; }; run ls; run npm test`, Heavy},
		{"eval", `run() { eval "$*"; }; run 'npm test | tail'`, Heavy},
		{"through another", `a() { "$@"; }; b() { a "$@"; }; b npm ci`, Heavy},
		{"only shown", `run() { echo "$@"; }; run npm ci`, Light},
		{"asked for", `need() { command -v "$1" >/dev/null || exit 1; }; need make; need gcc`, Light},
		{"itself", `f() { f "$@"; "$@"; }; f ls`, Light},
		{"no arguments", `f() { "$@"; }; f`, Light},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Builtin().Line(tt.line); got.Class != tt.class {
				t.Errorf("%q: got %s (%s), want %s", tt.line, got.Class, got.Reason, tt.class)
			}
		})
	}
}

// TestFunctionsThatDouble has a line of functions that call the next one twice:
// the walk is bounded by the bytes that it may walk again.
func TestFunctionsThatDouble(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "f%d() { f%d a; f%d b; }\n", i, i+1, i+1)
	}
	b.WriteString("f0 x")
	if v := Builtin().Line(b.String()); v.Class != Light || len(v.Commands) > maxCommands {
		t.Errorf("got %s with %d commands", v.Class, len(v.Commands))
	}
}

func TestWordsOfTheEnvironment(t *testing.T) {
	tests := []struct {
		name, line string
		class      Class
	}{
		{"by its name", `$PYTHON -m pytest`, Heavy},
		{"quoted", `"$MAKE" -j2`, Heavy},
		{"braces", `${NPM} ci`, Heavy},
		{"a makefile's", `$(MAKE) -C doc`, Heavy},
		{"a makefile's tool", `$(GO) build ./...`, Heavy},
		{"a default", `"${PYTHON:-python3}" -m pip install x`, Heavy},
		{"a default word", `${CC:-gcc} -c a.c`, Heavy},
		{"sudo or nothing", `$SUDO apt-get install -y x`, Heavy},
		{"a wrapper", `$DRY_RUN make`, Heavy},
		{"an empty default", `${SUDO:-} npm ci`, Heavy},
		{"set to nothing", `S=; $S npm ci`, Heavy},
		{"by its name, asked", `$PYTHON --version`, Light},
		{"set to echo", `RUN=echo; $RUN npm ci`, Light},
		{"quoted, unknown", `"$TOOL" npm`, Light},
		{"alone", `$MAIN`, Light},
		{"an option behind it", `$(RM) -r build`, Light},
		{"committed by the daemon", `docker commit $CID x`, Light},
		{"an editor", `$EDITOR Makefile`, Light},
		{"an argument", `echo $MAKE $(MAKE) all`, Light},
		{"a loop's", `for f in a b; do $f --version; done`, Light},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Builtin().Line(tt.line); got.Class != tt.class {
				t.Errorf("%q: got %s (%s), want %s", tt.line, got.Class, got.Reason, tt.class)
			}
		})
	}
}
