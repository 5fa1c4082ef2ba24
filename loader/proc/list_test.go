package proc

import (
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// entry makes a struct linux_dirent64.
func entry(name string) []byte {
	size := (19 + len(name) + 1 + 7) &^ 7
	b := make([]byte, size)
	binary.NativeEndian.PutUint16(b[16:], uint16(size))
	b[18] = unix.DT_DIR
	copy(b[19:], name)
	return b
}

func TestAppendPIDs(t *testing.T) {
	wrong := entry("7")
	binary.NativeEndian.PutUint16(wrong[16:], 4096)
	none := entry("8")
	binary.NativeEndian.PutUint16(none[16:], 0)
	for _, tc := range []struct {
		name    string
		records []byte
		want    []int
	}{
		{"pids among others", slices.Concat(entry("."), entry("1"), entry("sys"), entry("4194303"), entry("self"), entry("22")), []int{1, 4194303, 22}},
		{"nothing", nil, nil},
		{"a record that goes beyond the end", slices.Concat(entry("1"), wrong), []int{1}},
		{"a record of no length", slices.Concat(entry("1"), none, entry("2")), []int{1}},
		{"half a record", entry("1")[:18], nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := appendPIDs(nil, tc.records); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
	if got := appendPIDs([]int{5}, entry("6")); !slices.Equal(got, []int{5, 6}) {
		t.Errorf("got %v: what was there stays", got)
	}
}

// Whatever the size of a file, it is read whole up to the limit.
func TestReadFileSizes(t *testing.T) {
	path := t.TempDir() + "/file"
	for _, size := range []int{0, 1, 4095, 4096, 16<<10 - 1, 16 << 10, 16<<10 + 1, 100_000, maxCmdline, maxCmdline + 1} {
		text := strings.Repeat("x", size)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, limit := range []int{smallFile, maxCmdline} {
			for _, room := range []int{0, 1, 16 << 10} {
				got, err := readFile(make([]byte, 0, room), unix.AT_FDCWD, path, limit)
				if err != nil || len(got) != min(size, limit) {
					t.Errorf("%d bytes with limit %d and room for %d: %d, %v", size, limit, room, len(got), err)
				}
			}
		}
	}
	if _, err := readFile(nil, unix.AT_FDCWD, t.TempDir(), smallFile); err == nil {
		t.Error("a directory was read")
	}
}
