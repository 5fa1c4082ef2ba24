package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestRotate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	w := newFile(path, 400)
	defer w.close()
	for i := range 40 {
		if err := w.append(Record{Event: fmt.Sprintf("e%02d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != keptFiles+1 {
		t.Errorf("got %d files", len(entries))
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err != nil || info.Size() > 400 {
			t.Errorf("%s has %d bytes, %v", entry.Name(), info.Size(), err)
		}
	}
	got, skipped, err := ReadFile(path, Filter{})
	if err != nil || skipped != 0 {
		t.Fatal(skipped, err)
	}
	first := 40 - len(got)
	if len(got) < 15 || got[0].Event != fmt.Sprintf("e%02d", first) || got[len(got)-1].Event != "e39" {
		t.Errorf("got %s", events(got))
	}
}

// halfway writes half of what it is given, as a disk does that becomes full.
type halfway struct{ f io.WriteCloser }

func (h halfway) Write(p []byte) (int, error) {
	n, _ := h.f.Write(p[:len(p)/2])
	return n, syscall.ENOSPC
}
func (h halfway) Close() error { return h.f.Close() }

func TestTornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	w := newFile(path, 0)
	defer w.close()
	if err := w.append(Record{Event: "a"}); err != nil {
		t.Fatal(err)
	}
	w.f = halfway{w.f}
	if err := w.append(Record{Event: "torn"}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("got %v, want ENOSPC", err)
	}
	if err := w.append(Record{Event: "b"}); err != nil {
		t.Fatal(err)
	}
	got, skipped, err := ReadFile(path, Filter{})
	if events(got) != "a b" || skipped != 1 || err != nil {
		t.Errorf("got %q, %d skipped, %v", events(got), skipped, err)
	}
}

// After a power cut the file ends within a line; the next one starts on its own.
func TestTornByAnEarlierRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(path, []byte(`{"event":"a"}`+"\n"+`{"event":"to`), 0o640); err != nil {
		t.Fatal(err)
	}
	got, skipped, err := ReadFile(path, Filter{})
	if events(got) != "a" || skipped != 1 || err != nil {
		t.Errorf("before: got %q, %d skipped, %v", events(got), skipped, err)
	}
	w := newFile(path, 0)
	defer w.close()
	if err := w.append(Record{Event: "b"}); err != nil {
		t.Fatal(err)
	}
	got, skipped, err = ReadFile(path, Filter{})
	if events(got) != "a b" || skipped != 1 || err != nil {
		t.Errorf("after: got %q, %d skipped, %v", events(got), skipped, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	tests := []struct {
		name string
		make func(path string) error
	}{
		{"a FIFO", func(path string) error { return syscall.Mkfifo(path, 0o600) }},
		{"a link", func(path string) error { return os.Symlink(path+".victim", path) }},
		{"a directory", func(path string) error { return os.Mkdir(path, 0o755) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "events.jsonl")
			if err := test.make(path); err != nil {
				t.Fatal(err)
			}
			if err := newFile(path, 0).append(Record{Event: "x"}); err == nil {
				t.Error("written")
			}
			if _, err := os.Lstat(path + ".victim"); err == nil {
				t.Error("the link was followed")
			}
			if _, _, err := ReadFile(path, Filter{}); err == nil {
				t.Error("read")
			}
		})
	}
}

func TestReadFile(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "events.jsonl")
	w := newFile(path, 0)
	for i := range 6 {
		r := Record{Time: start.Add(time.Duration(i) * time.Second), Event: fmt.Sprint(i), PID: i % 2, Job: fmt.Sprint("j", i/3)}
		if err := w.append(r); err != nil {
			t.Fatal(err)
		}
	}
	w.close()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(f, "\nnonsense\n{}\n[1]\n{\"event\":\"%s\"}\n\n", strings.Repeat("x", 2*maxLineBytes))
	fmt.Fprintf(f, `{"event":"last","new_key":{"a":[1]},"time":"2026-01-02T04:00:00Z"}`+"\n")
	f.Close()
	tests := []struct {
		name   string
		filter Filter
		want   string
	}{
		{"all", Filter{}, "0 1 2 3 4 5 last"},
		{"since", Filter{Since: start.Add(4 * time.Second)}, "4 5 last"},
		{"before", Filter{Before: start.Add(2 * time.Second)}, "0 1"},
		{"job", Filter{Job: "j1"}, "3 4 5"},
		{"pid", Filter{PID: 1}, "1 3 5"},
		{"events", Filter{Events: []string{"2", "last"}}, "2 last"},
		{"limit", Filter{Limit: 2}, "5 last"},
		{"limit of one", Filter{Limit: 1}, "last"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, skipped, err := ReadFile(path, test.filter)
			if events(got) != test.want || skipped != 4 || err != nil {
				t.Errorf("got %q, %d skipped, %v, want %q", events(got), skipped, err, test.want)
			}
		})
	}
	if _, _, err := ReadFile(path+".none", Filter{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: got %v", err)
	}
	// The same file twice is what a rotation in the middle of opening looks like.
	if err := os.Link(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := ReadFile(path, Filter{}); events(got) != "0 1 2 3 4 5 last" {
		t.Errorf("rotated meanwhile: got %q", events(got))
	}
}

func FuzzReadFile(f *testing.F) {
	f.Add([]byte("{\"event\":\"a\"}\n{\"ev"))
	f.Add([]byte("\n\n\x00\n{\"event\":\"a\",\"uid\":-1}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := strings.Count(string(data), "\n") + 1
		got := 0
		skipped, err := scan(strings.NewReader(string(data)), func(r Record) {
			if got++; r.Event == "" {
				t.Error("a record without an event")
			}
		})
		if err != nil || got+skipped > lines {
			t.Errorf("%d records and %d skipped of %d lines, %v", got, skipped, lines, err)
		}
	})
}
