package journal

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func TestCommand(t *testing.T) {
	long := strings.Repeat("x", 600)
	tests := []struct {
		name string
		argv []string
		want string
	}{
		{"nothing", nil, ""},
		{"plain", []string{"npm", "test"}, "npm test"},
		{"empty word", []string{"echo", ""}, "echo ''"},
		{"word with spaces", []string{"bash", "-c", "cd web && npm test"}, "bash -c 'cd web && npm test'"},
		{"single quote", []string{"echo", "it's"}, `echo 'it'\''s'`},
		{"letters beyond ASCII", []string{"make", "über"}, "make über"},
		{"newline and tab", []string{"sh", "a\nb\tc"}, `sh 'a\nb\tc'`},
		{"escape sequence", []string{"npm", "\x1b[2Jtest"}, `npm '\x1b[2Jtest'`},
		{"C1 control", []string{"npm", "\u009b1m"}, `npm '\u009b1m'`},
		{"direction override", []string{"npm", "a\u202etxt"}, `npm 'a\u202etxt'`},
		{"zero width", []string{"npm", "a\u200bb"}, `npm 'a\u200bb'`},
		{"invalid UTF-8", []string{"npm", "a\xffb"}, `npm 'a\xffb'`},
		{"tag character", []string{"npm", "\U000e0041"}, `npm '\U000e0041'`},
		{"bounded", []string{long}, strings.Repeat("x", 509) + "…"},
		{"at the bound", []string{long[:512]}, long[:512]},
		{"many words", make([]string, 10_000), strings.TrimSuffix(strings.Repeat("'' ", 170), " ")[:509] + "…"},

		{"flag with value", []string{"db", "--password=hunter2", "x"}, "db --password=*** x"},
		{"flag then value", []string{"db", "--token", "hunter2", "x"}, "db --token *** x"},
		{"single dash", []string{"db", "-password", "hunter2"}, "db -password ***"},
		{"value with spaces", []string{"db", "--password=two words"}, "db '--password=*** ***'"},
		{"variable", []string{"env", "GITHUB_TOKEN=hunter2", "npm", "test"}, "env GITHUB_TOKEN=*** npm test"},
		{"camel case", []string{"x", "--authToken=hunter2"}, "x --authToken=***"},
		{"key variable", []string{"env", "ENCRYPTION_KEY=hunter2", "x"}, "env ENCRYPTION_KEY=*** x"},
		{"npm registry", []string{"npm", "config", "set", "//registry.npmjs.org/:_authToken=hunter2"}, "npm config set //registry.npmjs.org/:_authToken=***"},
		{"header", []string{"curl", "-H", "Authorization: Bearer hunter2"}, "curl -H 'Authorization: *** ***'"},
		{"header of another name", []string{"curl", "-H", "X-Api-Key: hunter2"}, "curl -H 'X-Api-Key: ***'"},
		{"header without space", []string{"curl", "-HAuthorization:hunter2"}, "curl -HAuthorization:***"},
		{"url", []string{"git", "clone", "https://me:hunter2@host/x"}, "git clone https://me:***@host/x"},
		{"url password with slash and at", []string{"x", "postgres://me:hun/ter@2@host/db"}, "x postgres://me:***@host/db"},
		{"url token", []string{"git", "clone", "https://hunter2@host/x"}, "git clone https://***@host/x"},
		{"query", []string{"curl", "http://host/?a=1&access_token=hunter2"}, "curl 'http://host/?a=1&access_token=***'"},
		{"json", []string{"curl", "-d", `{"user":"a","password":"hunter2"}`}, `curl -d '{"user":"a","password":***'`},
		{"json with spaces", []string{"curl", "-d", `{"password": "hunter2", "a": 1}`}, `curl -d '{"password": *** *** ***'`},
		{"curl user", []string{"curl", "-u", "me:hunter2", "http://host"}, "curl -u me:*** http://host"},
		{"curl user attached", []string{"curl", "-ume:hunter2"}, "curl -ume:***"},
		{"sshpass", []string{"sshpass", "-p", "hunter2", "ssh", "h"}, "sshpass -p *** ssh h"},
		{"mysql", []string{"/usr/bin/mysql", "-phunter2"}, "/usr/bin/mysql -p***"},
		{"token by its form", []string{"x", "ghp_0123456789abcdefghij"}, "x ***"},
		{"shell line", []string{"sh", "-c", "TOKEN=hunter2 npm test"}, "sh -c 'TOKEN=*** npm test'"},
		{"shell line, quoted", []string{"sh", "-c", `TOKEN="hunter 2" npm test`}, `sh -c 'TOKEN=*** ***" npm test'`},
		{"shell line, header", []string{"sh", "-lc", `curl -H "Authorization: Bearer hunter2" host`}, `sh -lc 'curl -H "Authorization: *** ***" host'`},
		{"shell line, flag", []string{"sh", "-c", "db --password 'hunter 2' x"}, `sh -c 'db --password *** ***'\'' x'`},
		{"shell line, second command", []string{"sh", "-c", "export TOKEN=hunter2; npm test"}, "sh -c 'export TOKEN=***; npm test'"},

		{"shell line, spaces around", []string{"python3", "-c", `password = "hunter2"; run()`}, `python3 -c 'password = ***; run()'`},
		{"docker login", []string{"docker", "login", "-u", "me", "-p", "hunter2"}, "docker login -u me -p ***"},
		{"docker variable", []string{"docker", "run", "-e", "DB_PASSWORD=hunter2", "img"}, "docker run -e DB_PASSWORD=*** img"},
		{"docker variable attached", []string{"docker", "run", "-eDB_PASSWORD=hunter2", "img"}, "docker run -eDB_PASSWORD=*** img"},
		{"connection string", []string{"psql", "host=h password=hunter2 user=me"}, "psql 'host=h password=*** ***'"},
		{"long flag with a header", []string{"curl", "--header=Authorization: token hunter2"}, "curl '--header=Authorization: *** ***'"},
		{"one-time password", []string{"sh", "-c", "npm publish --otp 123456 --dry-run"}, "sh -c 'npm publish --otp *** --dry-run'"},
		{"backquotes", []string{"sh", "-c", "db --password `cat hunter2` x"}, "sh -c 'db --password *** ***` x'"},
		{"aws", []string{"env", "AWS_SECRET_ACCESS_KEY=hunter2", "make"}, "env AWS_SECRET_ACCESS_KEY=*** make"},
		{"web token", []string{"x", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"}, "x ***"},

		{"not a secret: published port", []string{"docker", "run", "-p", "8080:80", "img"}, "docker run -p 8080:80 img"},
		{"not a secret: author", []string{"git", "log", "--author=me"}, "git log --author=me"},
		{"not a secret: directory", []string{"env", "PWD=/home", "x"}, "env PWD=/home x"},
		{"not a secret: stdin", []string{"docker", "login", "--password-stdin", "host"}, "docker login --password-stdin host"},
		{"not a secret: file", []string{"x", "--password-file=/run/x"}, "x --password-file=/run/x"},
		{"not a secret: port", []string{"npm", "i", "http://host:8080/x@1.2"}, "npm i http://host:8080/x@1.2"},
		{"not a secret: scope", []string{"npm", "i", "@types/node@20"}, "npm i @types/node@20"},
		{"not a secret: ssh user", []string{"git", "clone", "ssh://git@host/x"}, "git clone ssh://git@host/x"},
		{"not a secret: ids", []string{"curl", "-u", "1000:1000"}, "curl -u 1000:1000"},
		{"next flag is shown", []string{"x", "--token", "--verbose"}, "x --token --verbose"},
		{"make variables", []string{"make", "-j4", "CC=gcc-13", "CFLAGS=-O2"}, "make -j4 CC=gcc-13 CFLAGS=-O2"},
		{"pytest", []string{"python3", "-m", "pytest", "tests/test_token.py::test_pass"}, "python3 -m pytest tests/test_token.py::test_pass"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Command(test.argv); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestSecretName(t *testing.T) {
	tests := []struct {
		name        string
		here, alone bool // with its value in the same word, and without
	}{
		{"password", true, true},
		{"--db-password", true, true},
		{"PGPASSWORD", true, true},
		{"DB_PASSWORD", true, true},
		{"npmAuthToken", true, true},
		{"HTTPToken", true, true},
		{"SSH_AUTH_SOCK", false, false},
		{"max-tokens", false, false},
		{"token-file", false, false},
		{"--api-key", true, true},
		{"apiKey", true, true},
		{"ENCRYPTION_KEY", true, true},
		{"sort-key", true, false},
		{"KEY", true, false},
		{"monkey", false, false},
		{"PWD", false, false},
		{"MYSQL_PWD", true, true},
		{"compass", false, false},
		{"", false, false},
		{"---", false, false},
	}
	for _, test := range tests {
		if got := secretName(test.name, false); got != test.here {
			t.Errorf("%q with a value: got %v", test.name, got)
		}
		if got := secretName(test.name, true); got != test.alone {
			t.Errorf("%q alone: got %v", test.name, got)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, text := range []string{"", " ", "a", " a", "a ", "a b", "a  b\tc", "a;b|c && d", "http://h/?a=1&b=2 c", "\xff \xff", "ü é"} {
		if got := strings.Join(split(text), ""); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	if got := split("a=1; b && c"); len(got) != 5 {
		t.Errorf("got %q", got)
	}
}

func TestEscapeBound(t *testing.T) {
	for limit := 3; limit < 40; limit++ {
		for _, text := range []string{"ab\x1bcd\x1b", strings.Repeat("ü", 30), strings.Repeat("\u202e", 30), "\xff\xfe\xfd\xfc"} {
			got := Escape(text, limit)
			if len(got) > limit || !utf8.ValidString(got) {
				t.Errorf("Escape(%q, %d) = %q, %d bytes", text, limit, got, len(got))
			}
			if again := Escape(got, limit); again != got {
				t.Errorf("escaped twice: got %q, want %q", again, got)
			}
		}
	}
}

// The loop calls Command for every heavy exec: no argv may cost it much. The
// bound is generous, since a quadratic step would miss it by far.
func TestCommandTakesLittleTime(t *testing.T) {
	for _, piece := range []string{"a:", "a=", "?&", "://", "a://b:c@", "\x1b", "-p ", "token ", "'", "a.b-"} {
		argv := []string{"mysql", "-c", strings.Repeat(piece, 1<<20), strings.Repeat(piece, 100)}
		start := time.Now()
		Command(argv)
		if took := time.Since(start); took > 100*time.Millisecond {
			t.Errorf("%q took %s", piece, took)
		}
	}
}

func FuzzCommand(f *testing.F) {
	for _, seed := range []string{
		"npm\x00test", "sh\x00-c\x00TOKEN='a b' x", "curl\x00-H\x00Authorization: Bearer x", "\xff\x1b\u202e",
		"x\x00--password\x00", "a\x00https://u:p@h/", "-p\x00:\x00=", "mysql\x00-p\x00\"",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, joined string) {
		got := Command(strings.Split(joined, "\x00"))
		if len(got) > maxCommandBytes {
			t.Errorf("%d bytes", len(got))
		}
		if !utf8.ValidString(got) {
			t.Errorf("not UTF-8: %q", got)
		}
		for _, r := range got {
			if !unicode.IsPrint(r) {
				t.Errorf("%U is shown: %q", r, got)
			}
		}
		const secret = "s3cr3tvalue"
		for _, argv := range [][]string{
			{"x", "--password=" + secret, joined},
			{"x", "--token", secret, joined},
			{"env", "API_TOKEN=" + secret, joined},
		} {
			if got := Command(argv); strings.Contains(got, secret) {
				t.Errorf("the secret is shown: %s", got)
			}
		}
	})
}
