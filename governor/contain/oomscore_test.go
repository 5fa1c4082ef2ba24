package contain

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/headroomd/headroomd/loader/proc"
)

func TestRaiseOOMScore(t *testing.T) {
	needsRoot(t)
	for _, c := range []struct{ have, want string }{{"-500", "900"}, {"0", "900"}, {"899", "900"}, {"900", "900"}, {"1000", "1000"}} {
		cmd := exec.Command("sleep", "60")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		file := "/proc/" + strconv.Itoa(cmd.Process.Pid) + "/oom_score_adj"
		if err := os.WriteFile(file, []byte(c.have), 0); errors.Is(err, os.ErrPermission) && c.have[0] == '-' {
			t.Logf("%s: root without CAP_SYS_RESOURCE cannot set up this case", c.have)
			cmd.Process.Kill()
			cmd.Wait()
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		err := raiseOOMScore(cmd.Process.Pid)
		got, _ := os.ReadFile(file)
		if err != nil || strings.TrimSpace(string(got)) != c.want {
			t.Errorf("from %s to %q, want %s (%v)", c.have, got, c.want, err)
		}
		cmd.Process.Kill()
		cmd.Wait()
		if err := raiseOOMScore(cmd.Process.Pid); !gone(err) {
			t.Errorf("of a process that has ended: %v", err)
		}
	}
}

// Everybody may raise the value of his own processes: no root is needed.
func TestRaiseTree(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sh -c 'sleep 60 & echo $!; wait' & wait")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	grandchild := 0
	defer func() {
		if p, err := os.FindProcess(grandchild); err == nil && grandchild > 0 {
			p.Kill()
		}
		cmd.Process.Kill()
		cmd.Wait()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		grandchild, err = strconv.Atoi(strings.TrimSpace(line))
	}
	if err != nil {
		t.Fatal(err)
	}
	fs := proc.FS{}
	st, err := fs.Stat(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	// One that was raised further by its owner.
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", grandchild), []byte("950"), 0); err != nil {
		t.Fatal(err)
	}
	if err := RaiseTree(fs, st.ID); err != nil {
		t.Error(err)
	}
	below, err := fs.Descendants(st.ID.PID)
	if err != nil || len(below) < 2 {
		t.Fatalf("descendants %v, %v", below, err)
	}
	for _, id := range append(below, st.ID) {
		want := "900"
		if id.PID == grandchild {
			want = "950"
		}
		if got, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", id.PID)); err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("%d has %q, want %s (%v)", id.PID, got, want, err)
		}
	}
	other := st.ID
	other.Start++
	if err := RaiseTree(fs, other); err != nil {
		t.Errorf("of one that is another by now: %v", err)
	}
}

// A process that is another's by now is not touched, and a file that takes
// nothing does not keep the others from being raised.
func TestRaiseTreeOfWhatItMeant(t *testing.T) {
	root := t.TempDir()
	write := func(pid int, name, text string) {
		t.Helper()
		file := filepath.Join(root, strconv.Itoa(pid), name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for pid, ppid := range map[int]int{10: 1, 11: 10, 12: 11} {
		write(pid, "stat", fmt.Sprintf("%d (make) S %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0\n", pid, ppid, pid*100))
		write(pid, "oom_score_adj", "-100\n")
	}
	if err := os.Remove(filepath.Join(root, "11", "oom_score_adj")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "11", "oom_score_adj"), 0o755); err != nil {
		t.Fatal(err)
	}
	read := func(pid int) string {
		b, _ := os.ReadFile(filepath.Join(root, strconv.Itoa(pid), "oom_score_adj"))
		return strings.TrimSpace(string(b))
	}
	fs := proc.NewFS(root)
	if err := RaiseTree(fs, proc.ID{PID: 10, Start: 7}); err != nil || read(10) != "-100" {
		t.Errorf("another's pid: %v, %s", err, read(10))
	}
	err := RaiseTree(fs, proc.ID{PID: 10, Start: 1000})
	if err == nil || !strings.Contains(err.Error(), "oom_score_adj of 11") || strings.Count(err.Error(), "oom_score_adj of 1") != 1 {
		t.Errorf("RaiseTree: %v", err)
	}
	if !strings.HasPrefix(read(10), "900") || !strings.HasPrefix(read(12), "900") {
		t.Errorf("raised to %s and %s", read(10), read(12))
	}
}

func TestRaiseFrom(t *testing.T) {
	for _, c := range []struct {
		name string
		have int
		most int // that is taken
		err  error
		want int
	}{
		{"as it should be", 0, 1000, nil, 900},
		{"a protection", -900, 1000, nil, 900},
		{"a protection, and no more than its end is granted", -900, 0, nil, 0},
		{"nothing is granted", 100, 0, os.ErrPermission, 100},
		{"nothing at all", -900, -1, os.ErrPermission, -900},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.have
			err := raiseFrom(c.have, func(value int) error {
				if value > c.most {
					return os.ErrPermission
				}
				got = value
				return nil
			})
			if got != c.want || !errors.Is(err, c.err) {
				t.Errorf("%d, %v", got, err)
			}
		})
	}
}

// What is not put anywhere is the kernel's first choice all the same.
func TestNoneRaises(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "10")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	stat := "10 (make) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1000 0 0\n"
	n := NewNone(proc.NewFS(root), "no systemd")
	x := proc.Exec{ID: proc.ID{PID: 10, Start: 1000}}
	for name, do := range map[string]func() error{
		"placed": func() error { _, err := n.Place(t.Context(), Spec{Exec: x}); return err },
		"joined": func() error { _, err := n.Join(t.Context(), Scope{}, x, true); return err },
	} {
		for file, text := range map[string]string{"stat": stat, "oom_score_adj": "-17"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		err := do()
		if got, _ := os.ReadFile(filepath.Join(dir, "oom_score_adj")); err != nil || string(got) != "900" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
