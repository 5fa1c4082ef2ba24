package classifier

import (
	"strings"
	"testing"
)

// command makes a Command of words and a binary; no quoting, split at blanks
// unless they are given one by one.
func command(exe string, words ...string) Command {
	if len(words) == 1 {
		words = strings.Fields(words[0])
	}
	return Command{Argv: words, Exe: exe}
}

func TestArgv(t *testing.T) {
	tests := []struct {
		name    string
		c       Command
		class   Class
		capture bool
		rule    string
	}{
		{"npm behind its shebang", command("/usr/bin/node", "node /usr/bin/npm test"), Heavy, true, "node-npm-test"},
		{"npm at env's step", command("/usr/bin/env", "/usr/bin/env node /usr/bin/npm test"), Heavy, false, "node-npm-test"},
		{"npm under sudo", command("/usr/bin/sudo", "sudo -u pi -E npm ci"), Heavy, false, "node-package-install"},
		{"npm by its cli script", command("/usr/bin/node", "node /usr/lib/node_modules/npm/bin/npm-cli.js ci"), Heavy, true, "node-package-install"},
		{"npm asks", command("/usr/bin/node", "node /usr/bin/npm --version"), Light, false, ""},
		{"npm run without a script", command("/usr/bin/node", "node /usr/bin/npm run"), Light, false, "node-npm-run"},
		{"npm starts the service", command("/usr/bin/node", "node /usr/bin/npm start"), Light, false, ""},
		{"a title over the arguments", command("/usr/bin/node", "npm exec vitest run", ""), Heavy, true, ""},
		{"npx captures itself", command("/usr/bin/node", "node /usr/bin/npx vitest run"), Heavy, true, "js-test"},
		{"npx of what nobody knows", command("/usr/bin/node", "node /usr/bin/npx cowsay hi"), Heavy, true, "pnpm-exec"},
		{"node flags before the script", command("/usr/bin/node20", "node20 --max-old-space-size=512 -r ts-node/register node_modules/.bin/jest"), Heavy, true, "js-test"},
		{"node's own runner", command("/usr/bin/node", "node --import tsx --test test/"), Heavy, true, "node-test-runner"},
		{"a plain node script", command("/usr/bin/node", "node server.js --test"), Light, false, ""},
		{"pnpm shim in sh", command("/usr/bin/dash", "/bin/sh ./node_modules/.bin/mocha"), Heavy, true, "js-test"},
		{"a jest worker", command("/usr/bin/node", "node /p/node_modules/jest-worker/build/workers/processChild.js"), Heavy, true, "js-test"},

		{"pytest as a module", command("/usr/bin/python3.11", "python3 -X dev -W error -m pytest -q"), Heavy, true, "pytest"},
		{"pytest in a cluster", command("/usr/bin/python3.11", "python3 -um pytest"), Heavy, true, "pytest"},
		{"pytest as a console script", command("/usr/bin/python3.11", "/usr/bin/python3 /usr/bin/pytest -q"), Heavy, true, "pytest"},
		{"pytest only collects", command("/usr/bin/python3.11", "/usr/bin/python3 /usr/bin/pytest --collect-only"), Light, false, "pytest"},
		{"pip as a versioned script", command("/usr/bin/python3.11", "/usr/bin/python3 /usr/bin/pip3.11 install x"), Heavy, true, "pip-install"},
		{"pip lists", command("/usr/bin/python3.11", "python3 -m pip list"), Light, false, ""},
		{"a script called make.py", command("/usr/bin/python3.11", "python3 make.py all"), Light, false, ""},
		{"inline code", command("/usr/bin/python3.11", "python3", "-c", "import pytest"), Light, false, ""},

		{"make", command("/usr/bin/make", "make -j4"), Heavy, true, "make"},
		{"make by its path", command("/usr/bin/make", "/usr/bin/make all"), Heavy, true, "make"},
		{"make dry in a cluster", command("/usr/bin/make", "make -Rrnpsf debian/rules x"), Light, false, "make"},
		{"make reads standard input", command("/usr/bin/make", "make -f -"), Light, false, "make"},
		{"make clean", command("/usr/bin/make", "make -C src clean"), Light, false, "make"},
		{"make clean and more", command("/usr/bin/make", "make clean all"), Heavy, true, "make"},
		{"make with a setting", command("/usr/bin/make", "make CC=clang clean"), Light, false, "make"},
		{"configure", command("/usr/bin/dash", "/bin/sh ./configure --prefix=/usr"), Heavy, true, "configure"},
		{"configure asks", command("/usr/bin/dash", "/bin/sh ./configure --help"), Light, false, "configure"},
		{"a plain shell script", command("/usr/bin/bash", "/bin/bash ./deploy.sh make"), Light, false, ""},
		{"sh -c", command("/usr/bin/dash", "sh", "-c", "npm test"), Heavy, false, "node-npm-test"},
		{"bash -lc with options", command("/usr/bin/bash", "bash", "-euo", "pipefail", "-c", "cd x && make"), Heavy, false, "make"},
		{"sh -c of prose", command("/usr/bin/dash", "sh", "-c", "echo make; git commit -m 'npm test'"), Light, false, ""},
		{"an interactive shell", command("/usr/bin/bash", "-bash"), Light, false, ""},

		{"gcc", command("/usr/bin/x86_64-linux-gnu-gcc-12", "gcc -c a.c"), Heavy, true, "c-compiler"},
		{"a versioned gcc", command("/usr/bin/x86_64-linux-gnu-gcc-13", "gcc-13 -c a.c"), Heavy, true, "c-compiler"},
		{"a cross g++", command("/usr/bin/x86_64-linux-gnu-g++-12", "x86_64-linux-gnu-g++-12 a.cc"), Heavy, true, "c-compiler"},
		{"a versioned clang", command("/usr/lib/llvm-17/bin/clang", "clang++-17 a.cc"), Heavy, true, "c-compiler"},
		{"cc is gcc", command("/usr/bin/x86_64-linux-gnu-gcc-12", "cc a.c"), Heavy, true, "c-compiler"},
		{"gcc through ccache", command("/usr/bin/ccache", "gcc -c a.c"), Heavy, true, "c-compiler"},
		{"gcc is asked", command("/usr/bin/x86_64-linux-gnu-gcc-12", "gcc -dumpmachine"), Light, false, "c-compiler"},
		{"gcc shows its commands", command("/usr/bin/x86_64-linux-gnu-gcc-12", "gcc -### a.c"), Light, false, "c-compiler"},
		{"gcc lists its macros", command("/usr/bin/x86_64-linux-gnu-gcc-12", "cc -E -dM -"), Light, false, "c-compiler"},
		{"gcc without a file", command("/usr/bin/x86_64-linux-gnu-gcc-12", "gcc -v"), Light, false, "c-compiler"},
		{"cc1plus", command("/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus", "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus -quiet a.cc -version"), Heavy, true, "compiler-proper"},
		{"ld is ld.bfd", command("/usr/bin/x86_64-linux-gnu-ld.bfd", "/usr/bin/ld -o a a.o"), Heavy, true, "linker"},

		{"cargo is rustup", command("/home/pi/.cargo/bin/rustup", "cargo +nightly build"), Heavy, true, "cargo"},
		{"cargo formats", command("/home/pi/.cargo/bin/rustup", "cargo fmt"), Light, false, ""},
		{"rustc is asked", command("/x/bin/rustc", "/x/bin/rustc -vV"), Light, false, "rustc"},
		{"rustc prints", command("/x/bin/rustc", "rustc - --crate-name ___ --print=file-names"), Light, false, "rustc"},
		{"go's compiler is asked", command("/usr/local/go/pkg/tool/linux_amd64/compile", "/usr/local/go/pkg/tool/linux_amd64/compile -V=full"), Light, false, "go-toolchain"},
		{"another program called compile", command("/usr/bin/compile", "compile x"), Light, false, ""},
		{"go builds", command("/usr/local/go/bin/go", "go -C svc build ./..."), Heavy, true, "go-build"},
		{"go shows its environment", command("/usr/local/go/bin/go", "go env"), Light, false, ""},

		{"maven's JVM", command("/usr/lib/jvm/j/bin/java", "java -classpath x.jar -Dm=1 org.codehaus.plexus.classworlds.launcher.Launcher package"), Heavy, true, "maven"},
		{"maven's JVM asks", command("/usr/lib/jvm/j/bin/java", "java -classpath x.jar org.codehaus.plexus.classworlds.launcher.Launcher --version"), Light, false, "maven"},
		{"maven's script", command("/usr/bin/dash", "/bin/sh /usr/bin/mvn -q package"), Heavy, true, "maven"},
		{"gradle's daemon", command("/usr/lib/jvm/j/bin/java", "java -cp x.jar org.gradle.launcher.daemon.bootstrap.GradleDaemon 8.5"), Heavy, true, "gradle-daemon"},
		{"java is asked", command("/usr/lib/jvm/j/bin/java", "java --add-opens java.base/x=ALL -version"), Light, false, ""},

		{"docker builds", command("/usr/bin/docker", "docker --context default build ."), Heavy, true, "container-build"},
		{"docker builds elsewhere", command("/usr/bin/docker", "docker -H ssh://box build ."), Light, false, "container-build"},
		{"docker asks", command("/usr/bin/docker", "docker ps"), Light, false, ""},
		{"apt installs", command("/usr/bin/apt-get", "apt-get -qqy -o A=b install vim"), Heavy, true, "apt"},
		{"apt simulates", command("/usr/bin/apt-get", "apt-get -s dist-upgrade"), Light, false, "apt"},
		{"ffmpeg transcodes", command("/usr/bin/ffmpeg", "ffmpeg -y -i a.mkv b.mp4"), Heavy, true, "ffmpeg"},
		{"ffmpeg prints", command("/usr/bin/ffmpeg", "ffmpeg -i a.mkv"), Light, false, "ffmpeg"},
		{"tar with xz", command("/usr/bin/tar", "tar cJf a.tar.xz d"), Heavy, true, "tar-xz"},
		{"tar unpacks", command("/usr/bin/tar", "tar xJf a.tar.xz"), Light, false, ""},
		{"xz at level 9", command("/usr/bin/xz", "xz -9 -k big"), Heavy, true, "xz"},

		{"an agent", command("/x/bin/claude.exe", "claude -p hi"), Heavy, false, "agent"},
		{"an agent under timeout", command("/usr/bin/timeout", "timeout 20 claude -p hi"), Heavy, false, "agent"},
		{"an agent as ripgrep", command("/x/bin/claude.exe", "rg --files"), Light, false, ""},
		{"an agent's setting", command("/usr/bin/node", "node /x/bin/codex login"), Light, false, "agent-light"},
		{"a browser by hand", command("/usr/lib/chromium/chromium", "/usr/lib/chromium/chromium"), Heavy, false, "browser"},
		{"a browser driven", command("/usr/lib/chromium/chromium", "/usr/lib/chromium/chromium --headless=new x"), Heavy, true, "browser-headless"},
		{"a browser's child", command("/usr/lib/chromium/chromium", "/proc/self/exe --type=renderer"), Heavy, false, "browser"},
		{"tmux runs a line", command("/usr/bin/tmux", "tmux", "new-session", "-d", "make -j2"), Heavy, false, "make"},
		{"tmux sends keys", command("/usr/bin/tmux", "tmux", "send-keys", "-t", "w", "npm test", "Enter"), Heavy, false, "node-npm-test"},

		{"rg's pattern", command("/usr/bin/rg", "rg", "npm install"), Light, false, ""},
		{"grep's pattern", command("/usr/bin/grep", "grep", "-E", "code|cursor"), Light, false, ""},
		{"a commit message", command("/usr/bin/git", "git", "commit", "-m", "npm install"), Light, false, ""},
		{"an editor", command("/usr/bin/vim.basic", "vim Makefile"), Light, false, ""},
		{"a manual", command("/usr/bin/man", "man make"), Light, false, ""},
		{"m4 is not m", command("/usr/bin/m4", "/usr/bin/m4 --nesting-limit=1024"), Light, false, ""},
		{"nothing", Command{}, Light, false, ""},
		{"an empty word", Command{Argv: []string{""}}, Light, false, ""},
	}
	s := Builtin()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if n := len(tt.c.Argv); n > 1 && tt.c.Argv[n-1] == "" {
				tt.c.Argv = tt.c.Argv[:n-1] // one word with blanks
			}
			got := s.Argv(tt.c)
			if got.Class != tt.class || got.Capture != tt.capture {
				t.Errorf("got %s, capture %v (%s: %s), want %s, capture %v", got.Class, got.Capture, got.Rule, got.Reason, tt.class, tt.capture)
			}
			if tt.rule != "" && got.Rule != tt.rule {
				t.Errorf("got rule %q, want %q", got.Rule, tt.rule)
			}
			if got.Trace != nil {
				t.Errorf("the hot path made a trace: %q", got.Trace)
			}
			long := s.ExplainArgv(tt.c)
			if long.Class != got.Class || long.Capture != got.Capture || long.Rule != got.Rule || len(long.Trace) == 0 {
				t.Errorf("explained: %+v, want the same answer with a trace", long)
			}
		})
	}
}

func TestKinds(t *testing.T) {
	tests := []struct {
		name string
		c    Command
		want Kind
	}{
		{"agent", command("", "claude -p x"), Supervisor},
		{"package manager", command("", "apt-get install vim"), PackageManager},
		{"compiler", command("", "gcc a.c"), Compiler},
		{"carrier", command("", "nice make"), Carrier},
		{"shell", command("", "sh", "-c", "make"), Shell},
		{"daemon", command("", "java org.gradle.launcher.daemon.bootstrap.GradleDaemon"), Daemon},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Builtin().Argv(tt.c).Kind; !got.Has(tt.want) {
				t.Errorf("got kind %b, want bit %b", got, tt.want)
			}
		})
	}
}

func TestExplainNearMiss(t *testing.T) {
	v := Builtin().ExplainArgv(command("/usr/bin/sudo", "sudo npm install --help"))
	text := strings.Join(v.Trace, "\n")
	for _, want := range []string{`"sudo" runs`, "node-package-install", "node.toml:", `"--help" makes it light`, "light: "} {
		if !strings.Contains(text, want) {
			t.Errorf("the trace lacks %q:\n%s", want, text)
		}
	}
}

func TestNestingIsBounded(t *testing.T) {
	words := make([]string, 0, 10_001)
	for range 10_000 {
		words = append(words, "env")
	}
	if got := Builtin().Argv(Command{Argv: append(words, "make")}); got.Class != Light {
		t.Errorf("got %s, want light: nested deeper than is looked through", got.Class)
	}
}
