package classifier

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type traceMeta struct {
	Label  string   `json:"label"`
	Family string   `json:"family"`
	Root   []string `json:"root_heavy_argv"`
	Index  *int     `json:"root_heavy_index"`
}

// TestChains plays recorded exec chains: the first exec to be captured is the
// tool's own, never the shell, env or sudo before it, and nothing in a light
// chain is. HEADROOM_TRACES names another directory of the same make.
func TestChains(t *testing.T) {
	dir := "../testdata/traces"
	if d := os.Getenv("HEADROOM_TRACES"); d != "" {
		dir = d
	}
	metas, err := filepath.Glob(filepath.Join(dir, "*.meta.json"))
	if err != nil || len(metas) == 0 {
		t.Fatalf("no traces in %s: %v", dir, err)
	}
	for _, meta := range metas {
		name := strings.TrimSuffix(filepath.Base(meta), ".meta.json")
		t.Run(name, func(t *testing.T) {
			var m traceMeta
			data, err := os.ReadFile(meta)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(data, &m); err != nil {
				t.Fatal(err)
			}
			execs := readChain(t, strings.TrimSuffix(meta, ".meta.json")+".jsonl")
			got := firstCapture(execs)
			switch {
			case m.Family == "agent":
				// Supervisors are never captured; what they run is, if heavy.
				if got >= 0 && slices.Equal(execs[got].Argv, m.Root) {
					t.Errorf("captured the agent itself: %q", execs[got].Argv)
				}
			case m.Label == "light" && got >= 0:
				t.Errorf("captured %d %q in a light chain", got, execs[got].Argv)
			case m.Label == "heavy" && got < 0:
				t.Errorf("nothing captured, want %q", m.Root)
			case m.Label == "heavy" && !sameStart(execs[got].Argv, m.Root):
				t.Errorf("captured %d %q first, want %d %q", got, execs[got].Argv, *m.Index, m.Root)
			}
		})
	}
}

// sameStart compares with a recorded root, which keeps the first words only. A
// root recorded at env's step is met at the interpreter's exec on the same pid.
func sameStart(argv, root []string) bool {
	if len(root) > 1 && root[0] == "/usr/bin/env" {
		root = root[1:]
	}
	return len(argv) >= len(root) && slices.Equal(argv[:len(root)], root)
}

func firstCapture(execs []Command) int {
	s := Builtin()
	names, _ := s.Names()
	for i, c := range execs {
		if s.Argv(c).Capture {
			if !named(names, c.Comm) {
				continue // the kernel would not report it
			}
			return i
		}
	}
	return -1
}

// named looks a comm up as the loader does: whole, without its version, and
// cut to the kernel's 15 bytes.
func named(names map[string]uint32, comm string) bool {
	for n := range names {
		short := n[:min(15, len(n))]
		if comm == short || cutVersion(comm) == n || cutVersion(comm) == cutVersion(n) {
			return true
		}
	}
	return false
}

func readChain(t *testing.T, path string) []Command {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var execs []Command
	in := bufio.NewScanner(f)
	in.Buffer(nil, 4<<20)
	for in.Scan() {
		var c Command
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		execs = append(execs, c)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return execs
}
