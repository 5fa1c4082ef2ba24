package classifier

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	names, all := Builtin().Names()
	if all {
		t.Error("the embedded rules ask for every exec")
	}
	for _, n := range []string{"npm", "node", "python", "make", "gcc", "cc1plus", "cargo", "go", "java", "sh", "configure", "chromium", "npx", "x86_64-linux-gn", "arm-none-eabi-g", "fakeroot", "bundle"} {
		if names[n] == 0 {
			t.Errorf("%q is not reported", n)
		}
	}
	for _, n := range []string{"ls", "grep", "sudo", "env", "timeout", "claude", "tmux", "ssh", "xargs", "find", "sleep", "cat", "code"} {
		if tag, ok := names[n]; ok {
			t.Errorf("%q is reported (tag %#x); no exec of it is ever captured", n, tag)
		}
	}
}

func TestTags(t *testing.T) {
	s := Builtin()
	names, _ := s.Names()
	bit := func(family string) uint32 { return 1 << s.familyIndex(family) }
	tests := []struct {
		name string
		want uint32
		not  uint32
	}{
		{"node", ArgvDecides | bit("node-test"), bit("go")},
		{"npm", ArgvDecides | bit("node-install") | bit("node-build"), bit("c-make")},
		{"pytest", bit("python-test"), ArgvDecides},
		{"make", bit("c-make"), ArgvDecides},
		{"aarch64-linux-g", ArgvDecides | bit("c-make"), bit("docker")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := names[tt.name]; got&tt.want != tt.want || got&tt.not != 0 {
				t.Errorf("got tag %#x, want %#x and none of %#x", got, tt.want, tt.not)
			}
		})
	}
	if n := len(s.Families()); n > 31 {
		t.Errorf("%d families; bit 31 is taken", n)
	}
}

func TestPatternNames(t *testing.T) {
	tests := []struct {
		name, pattern, program string
	}{
		{"anchored word and blank", "^train --gpu", "train"},
		{"anchored word and end", "^train$", "train"},
		{"anchored word and boundary", `^train\b`, "train"},
		{"a path", "^/opt/x/train ", "train"},
		{"no anchor", "train", ""},
		{"a beginning of a word", "^train", ""},
		{"alternatives", "^(a|b) ", ""},
		{"case ignored", "(?i)^train ", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := New(Options{ExtraHeavy: []string{tt.pattern}})
			if err != nil {
				t.Fatal(err)
			}
			names, all := s.Names()
			if all != (tt.program == "") {
				t.Errorf("all = %v", all)
			}
			if tt.program != "" && names[tt.program] != ArgvDecides {
				t.Errorf("got tag %#x for %q", names[tt.program], tt.program)
			}
		})
	}
}

func TestPatterns(t *testing.T) {
	s, err := New(Options{ExtraHeavy: []string{"train\\.py", "^ls -R"}, Exclude: []string{"^npm run docs", "^make menuconfig"}})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		c       Command
		class   Class
		capture bool
	}{
		{"extra", command("/usr/bin/python3", "python3 train.py --gpu"), Heavy, true},
		{"extra behind a carrier", command("/usr/bin/sudo", "sudo python3 train.py"), Heavy, false},
		{"extra, no rule knows it", command("/usr/bin/ls", "ls -R /"), Heavy, true},
		{"excluded", command("/usr/bin/make", "make menuconfig"), Light, false},
		{"excluded behind node", command("/usr/bin/node", "node /usr/bin/npm run docs"), Light, false},
		{"neither", command("/usr/bin/make", "make all"), Heavy, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := s.Argv(tt.c)
			if got.Class != tt.class || got.Capture != tt.capture {
				t.Errorf("got %s, capture %v (%s), want %s, %v", got.Class, got.Capture, got.Reason, tt.class, tt.capture)
			}
		})
	}
	if got := s.Line("cd x; ls -R /"); got.Class != Heavy {
		t.Errorf("line: got %s, want heavy", got.Class)
	}
	if got := s.Line("make menuconfig"); got.Class != Light {
		t.Errorf("line: got %s, want light", got.Class)
	}
	if got := Builtin().Line("ls -R /"); got.Class != Light {
		t.Error("New changed the embedded rules")
	}
	for _, o := range []Options{{ExtraHeavy: []string{"ok", "a("}}, {Exclude: []string{"a("}}} {
		s, err := New(o)
		if len(err) != 1 || !strings.Contains(err[0].Error(), `"a("`) {
			t.Errorf("got %v, want an error that names the pattern", err)
		}
		if s.Line("make").Class != Heavy {
			t.Error("a wrong pattern put the rules out of force")
		}
	}
}
