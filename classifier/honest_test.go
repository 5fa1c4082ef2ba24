package classifier

import "testing"

// argv[0] is the caller's choice; the binary is not.
func TestHonesty(t *testing.T) {
	tests := []struct {
		name string
		exe  string
		argv []string
		want Class
	}{
		{"make is passwd", "/usr/bin/passwd", []string{"make"}, Light},
		{"gcc is sudo", "/usr/bin/sudo", []string{"gcc", "a.c"}, Light},
		{"cargo is bash", "/usr/bin/busy", []string{"cargo", "build"}, Light},
		{"title of a compiled server", "/usr/sbin/nginx", []string{"npm test"}, Light},
		{"unknown binary", "", []string{"make"}, Heavy},
		{"version", "/usr/bin/gcc-12", []string{"gcc", "a.c"}, Heavy},
		{"target", "/usr/bin/arm-linux-gnueabihf-gcc-12", []string{"arm-linux-gnueabihf-gcc", "a.c"}, Heavy},
		{"pair c++", "/usr/bin/x86_64-linux-gnu-g++-12", []string{"c++", "a.cc"}, Heavy},
		{"pair clang", "/usr/lib/llvm-14/bin/clang", []string{"c++", "a.cc"}, Heavy},
		{"pair rustup", "/root/.cargo/bin/rustup", []string{"cargo-clippy", "clippy"}, Heavy},
		{"pair busybox", "/bin/busybox", []string{"xz", "-9", "a"}, Heavy},
		{"part of a name", "/opt/google/chrome/chrome", []string{"google-chrome"}, Heavy},
		{"nodejs", "/usr/bin/node", []string{"nodejs", "/usr/bin/npm", "ci"}, Heavy},
		{"an extension", "/x/bun.exe", []string{"bun", "install"}, Heavy},
		{"deleted binary", "/usr/bin/make (deleted)", []string{"make"}, Heavy},
		{"title of a script", "/usr/bin/node", []string{"npm test"}, Heavy},
		{"a version by its place", "/home/pi/.local/share/claude/versions/2.0.1", []string{"claude", "-p", "x"}, Heavy},
		{"a version of another", "/home/pi/.local/share/claude/versions/2.0.1", []string{"make"}, Light},
		{"a number alone", "/7", []string{"make"}, Light},
		{"a shell called make", "/usr/bin/bash", []string{"make"}, Light},
		{"a login shell called npm", "/usr/bin/dash", []string{"-npm", "test"}, Light},
		{"a shell by another's name", "/usr/bin/dash", []string{"bash", "-c", "make"}, Heavy},
		{"gmake", "/usr/bin/make", []string{"gmake"}, Heavy},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Builtin().Argv(Command{Argv: tt.argv, Exe: tt.exe})
			if got.Class != tt.want {
				t.Errorf("%q as %s: got %s (%s), want %s", tt.argv, tt.exe, got.Class, got.Reason, tt.want)
			}
		})
	}
}

func TestHasPart(t *testing.T) {
	tests := []struct {
		name, part string
		want       bool
	}{
		{"x86_64-linux-gnu-ld.bfd", "ld", true},
		{"google-chrome", "chrome", true},
		{"makepasswd", "make", false},
		{"build", "ld", false},
		{"ld-build", "ld", true},
		{"old-ld", "ld", true},
		{"make", "", false},
	}
	for _, tt := range tests {
		if got := hasPart(tt.name, tt.part); got != tt.want {
			t.Errorf("hasPart(%q, %q) = %v, want %v", tt.name, tt.part, got, tt.want)
		}
	}
}

func TestCutVersion(t *testing.T) {
	for in, want := range map[string]string{
		"gcc-13": "gcc", "python3.12": "python", "clang++-17": "clang++", "node20": "node", "g++": "g++",
		"m4": "m4", "7z": "7z", "": "", "13": "13", "go1.21.5": "go", "x86_64-linux-gnu-g++-12": "x86_64-linux-gnu-g++",
	} {
		if got := cutVersion(in); got != want {
			t.Errorf("cutVersion(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestGlob(t *testing.T) {
	tests := []struct {
		pattern, word string
		want          bool
	}{
		{"test", "test", true}, {"test", "tests", false}, {"test*", "test:unit", true}, {"*:test", "api:test", true},
		{"*lint*", "golangci-lint", true}, {"*", "", true}, {"a*a", "a", false}, {"*x*y*", "axbyc", true}, {"*x*y", "yx", false},
	}
	for _, tt := range tests {
		if got := glob(tt.pattern, tt.word); got != tt.want {
			t.Errorf("glob(%q, %q) = %v, want %v", tt.pattern, tt.word, got, tt.want)
		}
	}
}
