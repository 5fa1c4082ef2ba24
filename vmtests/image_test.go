package vmtests

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParsePackages(t *testing.T) {
	list := "# a comment\n\nlinux-image-ARCH\ngcc # why\nnew-thing trixie sid\nold-thing bookworm\n"
	tests := []struct {
		suite string
		want  []string
	}{
		{"trixie", []string{"linux-image-amd64", "gcc", "new-thing"}},
		{"bookworm", []string{"linux-image-amd64", "gcc", "old-thing"}},
		{"bullseye", []string{"linux-image-amd64", "gcc"}},
	}
	for _, tt := range tests {
		if got := parsePackages(list, tt.suite, "amd64"); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.suite, got, tt.want)
		}
	}
}

func TestImageKey(t *testing.T) {
	base := Image{Suite: "trixie", Arch: "amd64", Mirror: "http://a", Cache: "/c"}
	same, suite, arch := base, base, base
	same.Mirror, same.Cache = "http://b", "/d"
	suite.Suite, arch.Arch = "bookworm", "arm64"
	if base.Key() != same.Key() {
		t.Error("the mirror or the cache changes the key")
	}
	if base.Key() == suite.Key() || base.Key() == arch.Key() {
		t.Error("the suite or the architecture does not change the key")
	}
	if !strings.HasPrefix(base.Key(), "trixie-amd64-") {
		t.Errorf("key %q does not name the suite", base.Key())
	}
}

func TestImageArguments(t *testing.T) {
	im := Image{Suite: "trixie", Arch: "amd64", Mirror: "http://a"}
	if got := im.arguments("/h", true); got[0] != "--mode=root" {
		t.Errorf("root builds with %q", got[0])
	}
	got := im.arguments("/h", false)
	if got[0] != "--mode=unshare" {
		t.Errorf("an ordinary user builds with %q", got[0])
	}
	if want := []string{"trixie", "/dev/null", "http://a"}; !slices.Equal(got[len(got)-3:], want) {
		t.Errorf("ends in %q, want %q", got[len(got)-3:], want)
	}
}

// TestEnsure stands in a script for mmdebstrap: what counts is that only a
// finished image is ever seen.
func TestEnsure(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	script := func(body string) {
		if err := os.WriteFile(filepath.Join(bin, "mmdebstrap"), []byte("#!/bin/sh\n"+body), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	im := Image{Suite: "trixie", Arch: "amd64", Mirror: "http://a", Cache: filepath.Join(t.TempDir(), "cache")}

	script("echo no such mirror >&2; exit 3\n")
	err := im.Ensure(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no such mirror") {
		t.Errorf("got %v, want an error with mmdebstrap's words", err)
	}
	if _, err := os.Stat(im.Dir()); err == nil {
		t.Fatal("an unfinished image is where a finished one belongs")
	}

	script(`echo root >"$OUT/root.ext4"; echo kernel >"$OUT/vmlinuz"; echo initrd >"$OUT/initrd"` + "\n")
	if err := im.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{im.Root(): "root\n", im.Kernel(): "kernel\n", im.Initrd(): "initrd\n"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v; want %q", path, got, err, want)
		}
	}

	script("exit 1\n")
	if err := im.Ensure(t.Context()); err != nil {
		t.Errorf("a finished image was built again: %v", err)
	}
}

func TestLockFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lockFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lockFile(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("second holder: got %v, want a wait that ends with its context", err)
	}
	unlock()
	unlock, err = lockFile(t.Context(), path)
	if err != nil {
		t.Fatalf("after the first holder let go: %v", err)
	}
	unlock()
}

func TestTail(t *testing.T) {
	tests := []struct {
		name, in string
		lines    int
		want     string
	}{
		{"fewer than asked", "a\nb\n", 5, "a\nb"},
		{"the last ones", "a\nb\nc\n", 2, "b\nc"},
		{"colours and returns go", "[\x1b[0;32m  OK  \x1b[0m] Started\r\n", 1, "[  OK  ] Started"},
		{"an unfinished sequence", "x\x1b[0;3", 1, "x"},
		{"nothing", "", 3, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tail([]byte(tt.in), tt.lines); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := tailFile(filepath.Join(t.TempDir(), "none"), 3); !strings.Contains(got, "no such file") {
		t.Errorf("got %q for a file that is not there", got)
	}
}
