package guest

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The projects and programs that the tests' users have at home.
//
//go:embed all:testdata
var fixtures embed.FS

// Install lays out testdata/NAME below the user's home, as that user's own, and
// returns the directory. Files that begin with "#!" are made executable.
func Install(t testing.TB, owner, name string) string {
	t.Helper()
	dir := filepath.Join("/home", owner, name)
	from := "testdata/" + name
	err := fs.WalkDir(fixtures, from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, strings.TrimPrefix(path, from))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := fixtures.ReadFile(path)
		if err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(string(data), "#!") {
			mode = 0o755
		}
		return os.WriteFile(to, data, mode)
	})
	if err != nil {
		t.Fatalf("install fixture: %v", err)
	}
	give(t, owner, dir)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// InstallC puts testdata/c/SOURCE.c, built static, as PATH below the user's
// home. It is the program's base name by which the governor knows it. A test
// calls it before it starts the daemon, to which a compiler is a heavy command.
func InstallC(t testing.TB, owner, source, path string) string {
	t.Helper()
	data, err := os.ReadFile(buildC(t, source))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join("/home", owner, path)
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	os.Remove(program) // one that runs cannot be written to
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	give(t, owner, filepath.Dir(program))
	t.Cleanup(func() { os.Remove(program) })
	return program
}

// buildC compiles a source once for all tests of the machine: it takes seconds
// under emulation.
func buildC(t testing.TB, source string) string {
	t.Helper()
	program := filepath.Join("/var/tmp", "vmtests-"+source)
	if _, err := os.Stat(program); err == nil {
		return program
	}
	code, err := fixtures.ReadFile("testdata/c/" + source + ".c")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("gcc", "-O2", "-Wall", "-Werror", "-static", "-x", "c", "-o", program, "-")
	cmd.Stdin = strings.NewReader(string(code))
	if out, err := cmd.CombinedOutput(); err != nil {
		os.Remove(program)
		t.Fatalf("build %s: %v\n%s", source, err, out)
	}
	return program
}

// CProject writes a project of so many C files and a makefile that links them.
// CompilerCgroups tells afterwards where its compilers ran.
func CProject(t testing.TB, owner string, files int) string {
	t.Helper()
	dir := filepath.Join("/home", owner, "cproject")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i := range files {
		write(fmt.Sprintf("f%d.c", i), fmt.Sprintf("int f%d(int n)\n{\n\treturn n * %d + 1;\n}\n", i, i))
	}
	write("main.c", "int f0(int);\nint main(void)\n{\n\treturn f0(1) != 1;\n}\n")
	// Each compiler notes where it runs: looking at the process table now and
	// then would miss most of them.
	write("cc", "#!/bin/sh\nread -r line </proc/self/cgroup\necho \"$line\" >>cgroups\nexec gcc \"$@\"\n")
	if err := os.Chmod(filepath.Join(dir, "cc"), 0o755); err != nil {
		t.Fatal(err)
	}
	write("Makefile", `CC = ./cc
CFLAGS = -O0
objects = $(patsubst %.c,%.o,$(wildcard *.c))
program: $(objects)
	$(CC) -o $@ $(objects)
`)
	give(t, owner, dir)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// CompilerCgroups are the cgroups in which the compilers of a CProject started,
// in that order.
func CompilerCgroups(t testing.TB, dir string) []Cgroup {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "cgroups"))
	if err != nil {
		t.Fatal(err)
	}
	var all []Cgroup
	for line := range strings.Lines(string(data)) {
		all = append(all, Cgroup(strings.TrimPrefix(strings.TrimSpace(line), "0::")))
	}
	return all
}

func give(t testing.TB, owner, dir string) {
	t.Helper()
	u, err := user.Lookup(owner)
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, gid)
	})
	if err != nil {
		t.Fatalf("give %s to %s: %v", dir, owner, err)
	}
}
