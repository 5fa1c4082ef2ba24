package proc

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParseStatm(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       int64 // pages
		fails      bool
	}{
		{"usual", "12345 678 90 1 0 234 0\n", 678, false},
		{"kernel thread", "0 0 0 0 0 0 0\n", 0, false},
		{"empty", "", 0, true},
		{"cut", "12345", 0, true},
		{"no number", "1 x 2", 0, true},
		{"too many", "1 18446744073709551615 2", 0, true},
	} {
		got, err := parseStatm([]byte(tt.text))
		if (err != nil) != tt.fails || got != tt.want*int64(pageSize) {
			t.Errorf("%s: got %d, %v", tt.name, got, err)
		}
	}
}

func TestResidentHere(t *testing.T) {
	got, err := (FS{}).Resident(os.Getpid())
	if err != nil || got < 1<<20 {
		t.Errorf("got %d, %v", got, err)
	}
	if _, err := newFake(t).Resident(5); !errors.Is(err, ErrGone) {
		t.Errorf("of nobody: %v", err)
	}
}

func TestReap(t *testing.T) {
	c := exec.Command("sleep", "600")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	st, err := (FS{}).Stat(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	h, err := Open(FS{}, st.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	// One that lives keeps its memory, and lives on.
	if err := h.Reap(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("of one that lives: %v", err)
	}
	if over, err := h.Exited(); over || err != nil {
		t.Fatalf("it has ended: %v", err)
	}
	if err := h.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := h.Reap(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, unix.EAGAIN) {
		t.Errorf("of one that was killed: %v", err)
	}
}
