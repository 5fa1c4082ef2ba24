package proc

import (
	"os"
	"path/filepath"
	"testing"
)

func TestShare(t *testing.T) {
	tests := []struct {
		name, text string
		want       Share
		kept       int64
		fails      bool
	}{
		{"today's", "5578a000-7ffd000 ---p 00000000 00:00 0 [rollup]\nRss: 9000 kB\nPss: 4096 kB\nPss_Dirty: 9 kB\nPss_Anon: 2048 kB\nPss_File: 1024 kB\nPss_Shmem: 1024 kB\nSwapPss: 8 kB\n",
			Share{Anon: 2 << 20, Shmem: 1 << 20, All: 4 << 20, Swap: 8 << 10}, 3 << 20, false},
		{"before 5.4", "x [rollup]\nRss: 9000 kB\nPss: 4096 kB\n", Share{Anon: -1, Shmem: -1, All: 4 << 20, Swap: -1}, 4 << 20, false},
		{"a kernel thread's", "", Share{}, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			if err := os.MkdirAll(filepath.Join(root, "7"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, "7", "smaps_rollup"), []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			got, err := NewFS(root).Share(7)
			if (err != nil) != tt.fails {
				t.Fatalf("got %v", err)
			}
			if err == nil && (got != tt.want || got.Kept() != tt.kept) {
				t.Errorf("got %+v, kept %d; want %+v, %d", got, got.Kept(), tt.want, tt.kept)
			}
		})
	}
	s, err := NewFS("/proc").Share(os.Getpid())
	if err != nil || s.All <= 0 || s.Kept() <= 0 {
		t.Errorf("of this process: %+v, %v", s, err)
	}
}
