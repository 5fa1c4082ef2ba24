package loader

import (
	"maps"
	"strings"
	"testing"
)

func TestKey(t *testing.T) {
	for _, tc := range []struct{ comm, want string }{
		{"npm", "npm"},
		{"python3.12", "python"},
		{"python3", "python"},
		{"gcc-13", "gcc"},
		{"clang++-17", "clang++"},
		{"node20", "node"},
		{"g++", "g++"},
		{"x86_64-linux-gnu-g++", "x86_64-linux-gn"},
		{"x86_64-linux-gn", "x86_64-linux-gn"},
		{"aarch64-linux-gnu-gcc", "aarch64-linux-g"},
		{"make-4.3", "make"},
		{"ld.lld-14", "ld.lld"},
		{"cc1", "cc"},
		{"cc1plus", "cc1plus"},
		{"7z", "7z"},
		{"42", "42"},
		{"...", "..."},
		{"-1", "-1"},
		{"a-", "a-"},
		{"a--1", "a-"},
		{"-", "-"},
		{"", ""},
		{"a\x00b", "a"},
		{"päivä-2", "päivä"},
		{"\xff\xfe9", "\xff\xfe"},
	} {
		if got := Key(tc.comm); got != tc.want {
			t.Errorf("key of %q: %q, want %q", tc.comm, got, tc.want)
		}
	}
}

func TestKeys(t *testing.T) {
	got := keys(map[string]uint32{
		"python3": 1, "python3.12": 2, // one key
		"x86_64-linux-gnu-g++": 4, "x86_64-linux-gnu-gcc": 8, // one key, and not whole
		"npm": 16, "": 32, "0": 64,
	})
	want := map[string]uint32{
		"python": 3, "x86_64-linux-gn": 4 | 8 | ArgvDecides, "npm": 16, "0": 64,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestNamesMatch(t *testing.T) {
	var n names
	if _, ok := n.match("npm"); ok {
		t.Error("no names match npm")
	}
	n.SetNames(map[string]uint32{"npm": 3, "gcc-13": 4}, false)
	for comm, want := range map[string]uint32{"npm": 3, "gcc": 4, "gcc-9": 4} {
		if tag, ok := n.match(comm); !ok || tag != want {
			t.Errorf("%q: %d, %v; want %d", comm, tag, ok, want)
		}
	}
	if _, ok := n.match("ls"); ok {
		t.Error("ls matches")
	}
	n.SetNames(map[string]uint32{"npm": 3}, true)
	if tag, ok := n.match("ls"); !ok || tag != 0 {
		t.Errorf("report all: ls %d, %v", tag, ok)
	}
	if tag, ok := n.match("npm"); !ok || tag != 3 {
		t.Errorf("report all: npm %d, %v", tag, ok)
	}
}

func FuzzKey(f *testing.F) {
	f.Add("python3.12")
	f.Add("-1")
	f.Fuzz(func(t *testing.T, comm string) {
		key := Key(comm)
		if !strings.HasPrefix(comm, key) || len(key) > commBytes {
			t.Errorf("key of %q: %q", comm, key)
		}
		if first, _, _ := strings.Cut(comm, "\x00"); key == "" && first != "" {
			t.Errorf("key of %q is empty", comm)
		}
		// A version more changes nothing, where there is room for it.
		if len(comm) < commBytes-4 && key != comm && !strings.Contains(comm, "\x00") && Key(comm+".1") != key {
			t.Errorf("key of %q and of it with .1: %q, %q", comm, key, Key(comm+".1"))
		}
	})
}
