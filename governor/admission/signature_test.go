package admission

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestSignature(t *testing.T) {
	tests := []struct {
		name string
		argv []string
		want string
	}{
		{"nothing", nil, ""},
		{"empty words", []string{"", ""}, ""},
		{"a script of a project", []string{"npm", "run", "build"}, "npm run build"},
		{"a written title", []string{"npm run build"}, "npm run build"},
		{"workers in one word", []string{"make", "-j8", "all"}, "make -j all"},
		{"workers in two words", []string{"/usr/bin/make", "-j", "4", "all"}, "make -j all"},
		{"a directory of tests", []string{"pytest", "tests"}, "pytest tests"},
		{"some of the tests", []string{"pytest", "tests/unit", "-k", "slow"}, "pytest unit -k slow"},
		{"a versioned interpreter", []string{"/usr/bin/python3.12", "-m", "pytest", "tests"}, "python -m pytest tests"},
		{"a script by its path", []string{"node", "--max-old-space-size=4096", "/srv/app/node_modules/.bin/vite", "build"}, "node --max-old-space-size vite build"},
		{"a cross compiler", []string{"x86_64-linux-gnu-gcc-13", "-O2", "-Wall", "-I/usr/include/x", "-c", "src/foo.c", "-o", "build/foo.o"}, "x86_64-linux-gnu-gcc -O -Wall -I -c foo.c -o"},
		{"options of words", []string{"cargo", "build", "--release", "--features=foo,bar", "--target-dir=/tmp/x"}, "cargo build --release --features=foo,bar --target-dir"},
		{"a build type", []string{"cmake", "-DCMAKE_BUILD_TYPE=Release", "..", "-B", "/tmp/x"}, "cmake -DCMAKE_BUILD_TYPE=Release .. -B"},
		{"all packages", []string{"go", "test", "./..."}, "go test ..."},
		{"files of a linter", []string{"eslint", "--fix", "src/a.js", "src/b.js", "src/c.js"}, "eslint --fix a.js"},
		{"a version", []string{"npm", "install", "lodash@4.17.21"}, "npm install lodash"},
		{"a requirements file", []string{"pip3", "install", "-r", "requirements.txt"}, "pip install -r"},
		{"a jar", []string{"java", "-Xmx2g", "-jar", "target/app-1.2.3.jar"}, "java -Xmxg -jar app-.jar"},
		{"program text", []string{"python3", "-c", "import x; x.train()"}, "python -c ~47d23a32"},
		{"a hash", []string{"git", "repack", "3f2a91bc", "-a"}, "git repack -a"},
		{"a bundle", []string{"node", "main.3f2a91bc.js"}, "node"},
		{"a random name", []string{"ld", "aB3dE6gH9jK2mN5pQ8", "--gc-sections"}, "ld --gc-sections"},
		{"temporary files", []string{"cc1", "-quiet", "tmpfoo", "/tmp/ccXXXXXX.s"}, "cc -quiet"},
		{"a secret in the next word", []string{"tool", "--password", "hunter", "sync"}, "tool --password sync"},
		{"a secret in the word", []string{"tool", "--auth-token=hunter", "sync", "API_KEY=abc"}, "tool --auth-token sync API_KEY"},
		{"a URL", []string{"pip", "install", "git+https://u:p@example.org/x.git"}, "pip install"},
		{"sizes", []string{"stress", "--vm-bytes", "512M", "--timeout", "30s", "1/2"}, "stress --vm-bytes --timeout"},
		{"control characters", []string{"make", "a\x1b[31m", "b\xff"}, "make"},
		{"many words", strings.Fields("a b c d e f g h i j"), "a b c d e f g h"},
		{"long words", []string{"tool", strings.Repeat("v", 39), strings.Repeat("y", 39), strings.Repeat("w", 39)}, "tool " + strings.Repeat("v", 39) + " " + strings.Repeat("y", 39)},
		{"a word that is none", []string{"tool", strings.Repeat("ab ", 900)}, "tool ~b20f32c9"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Signature(test.argv); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func FuzzSignature(f *testing.F) {
	f.Add("make\x00-j8\x00all")
	f.Add("\x1b\x00=\x00--key\x00secret word\x00/tmp/x")
	f.Fuzz(func(t *testing.T, argv string) {
		words := strings.Split(argv, "\x00")
		got := Signature(words)
		if len(got) > maxSignatureBytes || len(strings.Split(got, " ")) > maxSignatureWords || !utf8.ValidString(got) {
			t.Fatalf("not bounded: %q", got)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("not printable: %q", got)
		}
		if again := Signature(words); again != got {
			t.Fatalf("%q, then %q", got, again)
		}
	})
}
