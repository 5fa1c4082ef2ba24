package lighten

import (
	"strings"
	"testing"

	"github.com/headroomd/headroomd/classifier"
)

// small is a machine of four CPUs and a job that is given 690 MB: two workers,
// and a heap of 483 MB.
var small = Options{CPUs: 4, CapMB: 690}

const heap = "NODE_OPTIONS=--max-old-space-size=483 "

type lineTest struct {
	name string
	line string
	want string // "" the same
}

func testLines(t *testing.T, o Options, tests []lineTest) {
	t.Helper()
	set := classifier.Builtin()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if want == "" {
				want = tt.line
			}
			got := Line(set, tt.line, o)
			if got.Line != want {
				t.Fatalf("%s\n got %s\nwant %s\n(%s)", tt.line, got.Line, want, set.Line(tt.line).Class)
			}
			if changed := got.Line != tt.line; changed != (len(got.Changes) > 0) || changed != (len(got.Edits) > 0) {
				t.Errorf("%s: changes %q, edits %v", tt.line, got.Changes, got.Edits)
			}
			if again := Line(set, got.Line, o); again.Line != got.Line {
				t.Errorf("not the same a second time: %s", again.Line)
			}
		})
	}
}

func TestLineBuilds(t *testing.T) {
	testLines(t, small, []lineTest{
		{"make", "make -j8", "make -j2"},
		{"make without jobs", "make all", ""},
		{"make bare", "make -j", "make -j2"},
		{"make bare before a target", "make -j test", "make -j2 test"},
		{"make number apart", "make -j 16 all", "make -j 2 all"},
		{"make long", "make --jobs=16", "make --jobs=2"},
		{"make long bare", "make --jobs all", "make --jobs=2 all"},
		{"make light enough", "make -j2", ""},
		{"make one", "make -j1", ""},
		{"make nproc", "make -j$(nproc)", "make -j2"},
		{"make nproc quoted", `make -j"$(nproc)"`, "make -j2"},
		{"make nproc apart", "make -j $(nproc) install", "make -j 2 install"},
		{"make backquotes", "make -j`nproc`", "make -j2"},
		{"make arithmetic", "make -j$(($(nproc)+1))", "make -j2"},
		{"make half of the CPUs", "make -j$(( $(nproc) / 2 ))", ""},
		{"make a quarter", "make -j$(( $(nproc) / 4 ))", ""},
		{"make unknown", "make -j$JOBS", ""},
		{"make variable of the line", "JOBS=$(nproc); make -j$JOBS", "JOBS=$(nproc); make -j2"},
		{"make variable set twice", "J=8; J=1; make -j$J", ""},
		{"make cluster", "make -kj8", "make -kj2"},
		{"make cluster bare", "make -sj all", "make -sj2 all"},
		{"make directory", "make -C jam -j8", "make -C jam -j2"},
		{"make -f", "make -f x.j8 -j8", "make -f x.j8 -j2"},
		{"make dry", "make -n -j8", ""},
		{"make clean", "make -j8 clean", ""},
		{"makeflags", "MAKEFLAGS=-j8 make", "MAKEFLAGS=-j2 make"},
		{"makeflags quoted", `MAKEFLAGS="-j8 V=1" make`, `MAKEFLAGS="-j2 V=1" make`},
		{"makeflags nproc", `export MAKEFLAGS="-j$(nproc)"; make`, `export MAKEFLAGS=-j2; make`},
		{"makeflags exported", "export MAKEFLAGS=-j8 && ./configure && make", "export MAKEFLAGS=-j2 && ./configure && make"},
		{"makeflags of env", "env MAKEFLAGS=-j8 make", "env MAKEFLAGS=-j2 make"},
		{"makeflags low", "MAKEFLAGS=-j1 make", ""},
		{"ninja", "ninja -C out", "ninja -j2 -C out"},
		{"ninja given", "ninja -C out -j 16", "ninja -C out -j 2"},
		{"ninja unbounded", "ninja -j0", "ninja -j2"},
		{"ninja tool", "ninja -t clean", ""},
		{"cmake build", "cmake --build build -j8", "cmake --build build -j2"},
		{"cmake parallel", "cmake --build build --parallel 8", "cmake --build build --parallel 2"},
		{"cmake bare", "cmake --build build --parallel", "cmake --build build --parallel 2"},
		{"cmake bare -j", "cmake --build . -j --target x", "cmake --build . -j2 --target x"},
		{"cmake native", "cmake --build build -- -j8 -k", "cmake --build build -- -j2 -k"},
		{"cmake unknown generator", "cmake --build build", ""},
		{"cmake ninja", "cmake -G Ninja -B b && cmake --build b", "cmake -G Ninja -B b && cmake --build b -j2"},
		{"ctest", "ctest --test-dir b -j8", "ctest --test-dir b -j2"},
		{"ctest plain", "ctest --test-dir b", ""},
		{"meson", "meson compile -C b", "meson compile -j2 -C b"},
		{"scons", "scons -j8", "scons -j2"},
		{"xz", "xz -9 -T0 big.tar", "xz -9 -T1 big.tar"},
		{"xz default", "xz -9 big.tar", "xz -T1 -9 big.tar"},
		{"xz cluster", "xz -9eT0 big.tar", "xz -9eT1 big.tar"},
		{"xz options for tar", "XZ_OPT='-9 -T0' tar cJf a.tar.xz a", "XZ_OPT='-9 -T1' tar cJf a.tar.xz a"},
		{"zstd", "zstd -19 -T0 big.tar", "zstd -19 -T1 big.tar"},
		{"zstd default", "zstd -19 big.tar", ""},
	})
}

func TestLineLanguages(t *testing.T) {
	testLines(t, small, []lineTest{
		{"cargo", "cargo build --release", "cargo build -j 2 --release"},
		{"cargo toolchain", "cargo +nightly test -- --nocapture", "cargo +nightly test -j 2 -- --nocapture"},
		{"cargo given", "cargo b -j8", "cargo b -j2"},
		{"cargo given long", "cargo check --jobs=8", "cargo check --jobs=2"},
		{"cargo low", "cargo build -j1", ""},
		{"cargo variable", "CARGO_BUILD_JOBS=1 cargo build", ""},
		{"cargo variable high", "CARGO_BUILD_JOBS=8 cargo build", "CARGO_BUILD_JOBS=2 cargo build"},
		{"cargo fmt", "cargo fmt", ""},
		{"cargo all but one", "cargo build -j -1", "cargo build -j 2"},
		{"nextest", "cargo nextest run --workspace", "cargo nextest run --build-jobs 2 --workspace"},
		{"go build", "go build ./...", "go build -p 2 ./..."},
		{"go test", "go test -race ./... -run X", "go test -p 2 -race ./... -run X"},
		{"go given", "go test -p 8 ./...", "go test -p 2 ./..."},
		{"go given eq", "go test -p=8 ./...", "go test -p=2 ./..."},
		{"go low", "go vet -p 1 ./...", ""},
		{"go directory", "go build -C sub ./...", "go build -C sub -p 2 ./..."},
		{"go run keeps the program's options", "go run ./cmd -p 8", ""},
		{"go env", "go env", ""},
		{"goflags", "GOFLAGS=-p=8 go build ./...", "GOFLAGS=-p=2 go build ./..."},
		{"gradle", "./gradlew build", "./gradlew --max-workers=2 build"},
		{"gradle given", "gradle --max-workers 8 test", "gradle --max-workers 2 test"},
		{"gradle jar", "java -jar gradle/wrapper/gradle-wrapper.jar build", "java -jar gradle/wrapper/gradle-wrapper.jar --max-workers=2 build"},
		{"maven", "mvn -T 1C package", "mvn -T 2 package"},
		{"maven attached", "mvn -T8 package", "mvn -T2 package"},
		{"maven half a CPU", "mvn -T 0.5C package", ""},
		{"maven plain", "mvn -q package", ""},
		{"dotnet", "dotnet build App.sln", "dotnet build -m:2 App.sln"},
		{"dotnet given", "dotnet publish -m:8", "dotnet publish -m:2"},
		{"dotnet bare", "dotnet msbuild -m x.proj", "dotnet msbuild -m:2 x.proj"},
		{"dotnet run", "dotnet run -- -m:8", ""},
		{"dotnet test of a file", "dotnet test x.dll", ""},
	})
}

func TestLineTests(t *testing.T) {
	testLines(t, small, []lineTest{
		{"jest", "npx jest", heap + "npx jest --runInBand"},
		{"jest with a path", "npx jest --ci src/a.test.js", heap + "npx jest --runInBand --ci src/a.test.js"},
		{"jest version", "npx jest@29 --ci", heap + "npx jest@29 --runInBand --ci"},
		{"jest in band", "npx jest -i", heap + "npx jest -i"},
		{"jest workers", "npx jest --maxWorkers=4", heap + "npx jest --maxWorkers=1"},
		{"jest percent", "npx jest -w 50%", heap + "npx jest -w 1"},
		{"jest -w=4", "npx jest -w=4", heap + "npx jest -w=1"},
		{"jest binary", "./node_modules/.bin/jest", heap + "./node_modules/.bin/jest --runInBand"},
		{"jest in node", "node node_modules/.bin/jest --ci", heap + "node node_modules/.bin/jest --runInBand --ci"},
		{"jest of yarn", "yarn jest --ci", heap + "yarn jest --runInBand --ci"},
		{"jest of pnpm", "pnpm exec jest", heap + "pnpm exec jest --runInBand"},
		{"react-scripts", "CI=1 npx react-scripts test", "CI=1 " + heap + "npx react-scripts test --runInBand"},
		{"vitest", "npx vitest run", heap + "npx vitest run --maxWorkers=1 --no-file-parallelism"},
		{"vitest bare", "npx vitest", heap + "npx vitest --maxWorkers=1 --no-file-parallelism"},
		{"vitest workers", "npx vitest run --maxWorkers=4 x", heap + "npx vitest run --no-file-parallelism --maxWorkers=1 x"},
		{"vitest one", "npx vitest run --maxWorkers=1", heap + "npx vitest run --maxWorkers=1"},
		{"vitest pools", "npx vitest run --poolOptions.threads.singleThread", heap + "npx vitest run --poolOptions.threads.singleThread"},
		{"mocha", "npx mocha --parallel --jobs 4 test", heap + "npx mocha --jobs 4 test"},
		{"mocha plain", "npx mocha test", heap + "npx mocha test"},
		{"pytest", "pytest -q", ""},
		{"pytest -n", "pytest -n 4 -q", "pytest -n 0 -q"},
		{"pytest auto", "python -m pytest -n auto tests", "python -m pytest -n 0 tests"},
		{"pytest attached", "pytest -nauto", "pytest -n0"},
		{"pytest long", "uv run pytest --numprocesses=8", "uv run pytest --numprocesses=0"},
		{"pytest none", "pytest -n 0", ""},
		{"pytest addopts", `PYTEST_ADDOPTS="-n auto -q" pytest`, `PYTEST_ADDOPTS="-n 0 -q" pytest`},
		{"pytest without the plugin", "pytest -p no:xdist", ""},
		{"playwright", "npx playwright test", heap + "npx playwright test --workers=1"},
		{"playwright workers", "npx playwright test --workers 4", heap + "npx playwright test --workers 1"},
		{"coverage", "coverage run -m pytest -n 2", "coverage run -m pytest -n 0"},
	})
}

func TestLineNode(t *testing.T) {
	testLines(t, small, []lineTest{
		{"npm test", "npm test", heap + "npm test"},
		{"npm install", "npm ci", heap + "npm ci"},
		{"npm build in a directory", "cd web && npm run build", "cd web && " + heap + "npm run build"},
		{"after other variables", "CI=1 npm test", "CI=1 " + heap + "npm test"},
		{"tsc", "npx tsc --noEmit", heap + "npx tsc --noEmit"},
		{"handed on", "npm test -- --maxWorkers=4", heap + "npm test -- --maxWorkers=1"},
		{"through timeout", "timeout 60 npm test", heap + "timeout 60 npm test"},
		{"a server's workers", "npm start -- --workers=4", ""},
		{"a script's workers", "npm run serve -- --workers=4", ""},
		{"workers of tests", "npm run test:e2e -- --workers 4", heap + "npm run test:e2e -- --workers 1"},
		{"an agent keeps its heap", "npx -y @anthropic-ai/claude-code -p x", ""},
		{"sudo drops it", "sudo npm ci", ""},
		{"sudo that keeps it", "sudo -E npm ci", heap + "sudo -E npm ci"},
		{"sudo env", "sudo env CI=1 npm ci", "sudo env CI=1 " + heap + "npm ci"},
		{"env -i", "env -i PATH=/usr/bin npm ci", "env -i PATH=/usr/bin " + heap + "npm ci"},
		{"larger", "NODE_OPTIONS=--max-old-space-size=8192 npm run build", heap + "npm run build"},
		{"larger among others", `NODE_OPTIONS="--openssl-legacy-provider --max_old_space_size=8192" npm run build`, `NODE_OPTIONS="--openssl-legacy-provider --max_old_space_size=483" npm run build`},
		{"smaller", "NODE_OPTIONS=--max-old-space-size=256 npm run build", ""},
		{"others", `NODE_OPTIONS="--openssl-legacy-provider" npm run build`, `NODE_OPTIONS="--openssl-legacy-provider --max-old-space-size=483" npm run build`},
		{"others without quotes", "NODE_OPTIONS=--no-warnings npm run build", "NODE_OPTIONS='--no-warnings --max-old-space-size=483' npm run build"},
		{"appended to what is there", `NODE_OPTIONS="$NODE_OPTIONS --no-warnings" npm test`, `NODE_OPTIONS="$NODE_OPTIONS --no-warnings --max-old-space-size=483" npm test`},
		{"emptied", "NODE_OPTIONS= npm test", heap + "npm test"},
		{"exported", "export NODE_OPTIONS=--max-old-space-size=4096; npm run build", "export NODE_OPTIONS=--max-old-space-size=483; npm run build"},
		{"of cross-env", "npx cross-env NODE_OPTIONS=--max-old-space-size=4096 jest -i", "npx cross-env NODE_OPTIONS=--max-old-space-size=483 jest -i"},
		{"which", "$(which npm) test", heap + "$(which npm) test"},
		{"command -v", `"$(command -v npm)" run test`, heap + `"$(command -v npm)" run test`},
		{"node's own before which", "node --max-old-space-size=1000 $(which npm) install", "node --max-old-space-size=483 $(which npm) install"},
		{"others of cross-env", "npx cross-env NODE_OPTIONS=--experimental-vm-modules jest -i", "npx cross-env NODE_OPTIONS='--experimental-vm-modules --max-old-space-size=483' jest -i"},
		{"others of cross-env in quotes", `npx cross-env NODE_OPTIONS="--a  --b" jest -i`, `npx cross-env NODE_OPTIONS="--a  --b --max-old-space-size=483" jest -i`},
		{"the last of two counts", `NODE_OPTIONS="--max-old-space-size=100 --max-old-space-size=900" npm t`, `NODE_OPTIONS="--max-old-space-size=100 --max-old-space-size=483" npm t`},
		{"node's own", "node --max-old-space-size=8192 node_modules/.bin/next build", "node --max-old-space-size=483 node_modules/.bin/next build"},
		{"bun is not node", "bun install", ""},
		{"esbuild is not node", "npx esbuild --bundle a.js", ""},
		{"turbo", "npx turbo run build test", heap + "npx turbo run --concurrency=2 build test"},
		{"turbo given", "npx turbo run build --concurrency=50", heap + "npx turbo run build --concurrency=2"},
		{"turbo dev", "npx turbo run dev", heap + "npx turbo run dev"},
		{"nx", "npx nx run-many -t build", heap + "npx nx run-many --parallel=2 -t build"},
		{"nx given", "npx nx affected -t test --parallel 8", heap + "npx nx affected -t test --parallel 2"},
		{"nx serve", "npx nx run-many -t serve", heap + "npx nx run-many -t serve"},
		{"lerna", "npx lerna run build", heap + "npx lerna run --concurrency=2 build"},
		{"pnpm workspaces", "pnpm -r --workspace-concurrency=8 build", heap + "pnpm -r --workspace-concurrency=2 build"},
	})
}

func TestLineShell(t *testing.T) {
	testLines(t, small, []lineTest{
		{"light", "ls -l | grep make", ""},
		{"prose", `git commit -m "make -j8"`, ""},
		{"not bash", "make -j8 (", ""},
		{"heavy among light", "cd x  &&   make  -j8   # all\techo", "cd x  &&   make  -j2   # all\techo"},
		{"several", "./configure && make -j8 && make -j8 install", "./configure && make -j2 && make -j2 install"},
		{"light use beside a heavy one", "make -n -j8; make -j4", "make -n -j8; make -j2"},
		{"sudo", "sudo -u pi make -j8", "sudo -u pi make -j2"},
		{"many carriers", "sudo -u pi env -i CI=1 nice -n 10 timeout -k 5 60s make -j8", "sudo -u pi env -i CI=1 nice -n 10 timeout -k 5 60s make -j2"},
		{"shell line", "bash -lc 'make -j8'", "bash -lc 'make -j2'"},
		{"shell line in double quotes", `bash -c "cd x && make -j8"`, `bash -c "cd x && make -j2"`},
		{"shell line with an expansion", `bash -c "cd $HOME && make -j8"`, ""},
		{"shell line in shell line", `sudo bash -c 'sh -c "make -j8"'`, `sudo bash -c 'sh -c "make -j2"'`},
		{"quotes inside the other", `bash -c 'NODE_OPTIONS="--no-warnings" npm test'`, `bash -c 'NODE_OPTIONS="--no-warnings --max-old-space-size=483" npm test'`},
		{"no quote left", `bash -c 'NODE_OPTIONS=--no-warnings npm test'`, `bash -c 'NODE_OPTIONS="--no-warnings --max-old-space-size=483" npm test'`},
		{"eval", "eval 'make -j8'", "eval 'make -j2'"},
		{"exec", "exec make -j8", "exec make -j2"},
		{"command", "command make -j8", "command make -j2"},
		{"watch", "watch -n 60 make -j8", "watch -n 60 make -j2"},
		{"substitution", "echo $(make -j8)", "echo $(make -j2)"},
		{"backquotes", "echo `make -j8`", "echo `make -j2`"},
		{"loop", "for d in a b; do make -C $d -j8; done", "for d in a b; do make -C $d -j2; done"},
		{"condition", "if make -j8; then echo ok; fi", "if make -j2; then echo ok; fi"},
		{"function", "b() { make -j8; }; b", "b() { make -j2; }; b"},
		{"function with the tool's name", "make() { :; }; make -j8; ninja -j9", "make() { :; }; make -j8; ninja -j2"},
		{"pipe", "make -j8 2>&1 | tail -5", "make -j2 2>&1 | tail -5"},
		{"time", "time make -j8", "time make -j2"},
		{"here-document", "bash <<'EOF'\nmake -j8\nEOF", "bash <<'EOF'\nmake -j2\nEOF"},
		{"here-string", "bash <<< 'make -j8'", "bash <<< 'make -j2'"},
		{"here-string for a shell behind sudo", `sudo bash -s <<< "make -j8"`, `sudo bash -s <<< "make -j2"`},
		{"here-string for cat", "cat <<< 'make -j8'; make", ""},
		{"here-document without quotes", "bash <<EOF\nmake -j8\nEOF", "bash <<EOF\nmake -j2\nEOF"},
		{"here-document with an expansion", "bash <<EOF\ncd $X; make -j8\nEOF", ""},
		{"here-document for cat", "cat <<'EOF'; make -j8\nmake -j8\nEOF", "cat <<'EOF'; make -j2\nmake -j8\nEOF"},
		{"quoted word", `"make" '-j8'`, `"make" -j2`},
		{"container", "docker exec web make -j8", ""},
		{"xargs", "ls | xargs -n1 make -j8", "ls | xargs -n1 make -j2"},
		{"find", `find . -name x -exec make -j8 -C {} \;`, `find . -name x -exec make -j2 -C {} \;`},
		{"continued", "make \\\n  -j8", "make \\\n  -j2"},
		{"hyperfine", "hyperfine 'make -j8' 'make -j1'", "hyperfine 'make -j2' 'make -j1'"},
	})
}

func TestChanges(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		want       []string
	}{
		{"lowered", "make -j8", []string{"make: -j8 → -j2 (4 CPUs, 690 MB)"}},
		{"apart", "make -j $(nproc)", []string{"make: -j $(nproc) → -j 2 (4 CPUs, 690 MB)"}},
		{"once", "make -j8; make -j8", []string{"make: -j8 → -j2 (4 CPUs, 690 MB)"}},
		{"added", "ninja", []string{"ninja: -j2 added (4 CPUs, 690 MB)"}},
		{"two", "npx jest", []string{"jest: --runInBand added (one worker)", "NODE_OPTIONS: --max-old-space-size=483 added (70 % of 690 MB)"}},
		{"variable", "MAKEFLAGS=-j8 make", []string{"MAKEFLAGS: -j8 → -j2 (4 CPUs, 690 MB)"}},
		{"removed", "npx mocha --parallel", []string{"mocha: --parallel removed (one worker)", "NODE_OPTIONS: --max-old-space-size=483 added (70 % of 690 MB)"}},
		{"none", "ls", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Line(classifier.Builtin(), tt.line, small).Changes
			if strings.Join(got, "|") != strings.Join(tt.want, "|") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
